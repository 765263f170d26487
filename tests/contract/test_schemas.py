"""The wire contract: names, bounds, ids, and the generated JSON Schema files."""

import json
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from schemas.events import AnswerReady, GuidanceIssued, QuestionAsked, RoleExtracted, TurnLogged, derived_id
from schemas.features import FeatureChange, KnownFeature
from schemas.generate import FOLDER, schema_files
from schemas.memory_events import MemoryCommand
from schemas.role import Extraction
from schemas.topics import TOPICS

NOW = datetime(2026, 5, 1, 12, 30, 15, 123456, UTC)


def asked(**fields: object) -> QuestionAsked:
    return QuestionAsked.model_validate({"conversationId": "c", "userId": "u", "text": "hello"} | fields)


def test_the_schema_files_are_fresh() -> None:
    """`python -m schemas.generate` would change nothing in schemas/json."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")} == schema_files()


def test_every_topic_has_a_schema_and_a_key_that_its_event_has() -> None:
    """The topic table, the events and the schema files name the same things."""
    for topic in TOPICS:
        schema = json.loads(schema_files()[f"{topic.event.__name__}.json"])
        assert topic.key is None or to_camel(topic.key) in schema["required"]


def test_a_question_needs_conversation_user_and_text_alone() -> None:
    """Everything else has a default; the mode is auto."""
    question = asked()
    assert (question.mode, question.question_id, question.asked_at, question.sources) == ("auto", None, None, [])


def test_what_is_wrong_is_told_without_the_words() -> None:
    """An error names field and fault, so that no stack trace in a log quotes a user."""
    with pytest.raises(ValidationError) as failure:
        asked(text=["I am a nurse"], userId="")
    assert "text" in str(failure.value)
    assert "valid string" in str(failure.value)
    assert "nurse" not in str(failure.value)


def test_names_are_camel_case_on_the_wire() -> None:
    """No event and no nested model leaves in snake_case."""
    turn = TurnLogged(
        conversation_id="c", user_id="u", question_id="q", turn=1, record_time=NOW, logged_at=NOW, text="x", mode="log"
    )
    assert set(json.loads(turn.to_json())) == {
        "schemaVersion",
        "conversationId",
        "userId",
        "questionId",
        "turn",
        "recordTime",
        "loggedAt",
        "text",
        "mode",
        "askedAt",
        "epoch",
        "sources",
        "metadata",
    }


def test_times_are_utc_to_the_millisecond() -> None:
    """What goes through MongoDB and back is the same time; one without an offset is UTC."""
    assert asked(askedAt="2026-05-01T14:30:15.123456+02:00").asked_at == NOW.replace(microsecond=123000)
    assert asked(askedAt="2026-05-01T12:30:15").asked_at == datetime(2026, 5, 1, 12, 30, 15, tzinfo=UTC)
    assert asked(askedAt="2026-05-01 12:30:15").asked_at == datetime(2026, 5, 1, 12, 30, 15, tzinfo=UTC)
    assert asked(askedAt="2026-05-01").asked_at == datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": " \n\t"},
        {"text": "a\x00b"},
        {"text": "x" * 32_001},
        {"text": 5},
        {"mode": "shout"},
        {"conversationId": ""},
        {"conversationId": "a\nb"},
        {"conversationId": "x" * 201},
        {"userId": None},
        {"askedAt": "yesterday"},
        {"askedAt": "2026-13-01"},
        {"metadata": {"\ud800": 1}},
        {"metadata": {"a": ["\ud800"]}},
        {"sources": [{"title": "no id"}]},
    ],
)
def test_a_bad_question_is_refused(fields: dict[str, object]) -> None:
    """Wrong types, empty and over-long text, NUL characters, unknown modes and bad ids never get in."""
    with pytest.raises(ValidationError):
        asked(**fields)


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("ADD_FEATURE", {"slot": "a\x00b", "value": "x"}, "slot"),
        ("ADD_FEATURE", {"slot": "x", "value": "a\x00b"}, "value"),
        ("ADD_FEATURE", {"slot": "x", "value": "x", "content": "a\x00b"}, "content"),
        ("CORRECT_ROLE", {"conversationId": "c", "identities": ["a\x00b"]}, "identities"),
        ("CORRECT_ROLE", {"conversationId": "c", "denies": ["a\x00b"]}, "denies"),
    ],
)
def test_a_command_holds_no_nul(kind: str, fields: dict[str, object], name: str) -> None:
    """In none of its texts, which are kept."""
    with pytest.raises(ValidationError, match=rf"{name}[\s\S]*it holds a NUL character: remove it"):
        MemoryCommand.model_validate({"userId": "u", "kind": kind} | fields)


@pytest.mark.parametrize("name", ["slot", "value", "content"])
def test_no_nul_is_learnt_and_what_was_kept_is_still_read(name: str) -> None:
    """A change that holds one is refused; a feature that was stored with one is told as before."""
    fields = {"slot": "x", "value": "x", "content": "x"} | {name: "a\x00b"}
    with pytest.raises(ValidationError, match="NUL"):
        FeatureChange.model_validate(fields)
    assert getattr(KnownFeature.model_validate(fields), name) == "a\x00b"


def test_the_longest_text_is_taken_whole() -> None:
    """32,000 characters are allowed, whatever their bytes."""
    assert len(asked(text="学" * 32_000).text) == 32_000


def test_a_newer_clients_fields_are_passed_over_but_never_written() -> None:
    """An unknown field is ignored in a question, and refused in what we write."""
    assert asked(colour="blue").text == "hello"
    with pytest.raises(ValidationError, match="colour"):
        AnswerReady.model_validate(
            {"conversationId": "c", "userId": "u", "questionId": "q", "text": "x", "colour": "blue"}
        )


def test_a_clients_answer_needs_ids_and_text_alone() -> None:
    """Everything else of AnswerReady has a default; an ok answer says something."""
    ids = {"conversationId": "c", "userId": "u", "questionId": "q"}
    assert AnswerReady.model_validate(ids | {"text": "x"}).status == "ok"
    with pytest.raises(ValidationError, match="text is empty"):
        AnswerReady.model_validate(ids | {"text": " "})


def test_an_extraction_event_holds_an_extraction_or_a_failure() -> None:
    """Both or neither is refused."""
    turn = {
        "conversationId": "c",
        "userId": "u",
        "questionId": "q",
        "turn": 1,
        "recordTime": NOW,
        "loggedAt": NOW,
        "text": "x",
        "mode": "answer",
    }
    assert RoleExtracted.model_validate(turn | {"extraction": Extraction(), "failure": None}).failure is None
    for both in ({"extraction": None, "failure": None}, {"extraction": Extraction(), "failure": "no"}):
        with pytest.raises(ValidationError, match="exactly one"):
            RoleExtracted.model_validate(turn | both)


def test_ids_derive_from_all_parts() -> None:
    """The same parts give the same id, and parts cannot run into one another."""
    assert derived_id("a", "bc") == derived_id("a", "bc") != derived_id("ab", "c")


def test_event_ids_differ_by_kind_and_question() -> None:
    """Each event of a turn has an id of its own that every delivery repeats."""
    fields = {"conversation_id": "c", "user_id": "u", "turn": 1, "record_time": NOW, "logged_at": NOW}
    turns = [TurnLogged(**fields, question_id=q, text="x", mode="log") for q in ("q", "q", "r")]
    guidance = GuidanceIssued(**fields, question_id="q", mode="log", decision="CREATE", reason="")
    assert turns[0].event_id == turns[1].event_id
    assert len({turns[0].event_id, turns[2].event_id, guidance.event_id}) == 3
