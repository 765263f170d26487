"""Expectations are counted one by one, and each failure says what was wanted."""

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.cli.evaluating import evaluated
from pipeline.errors import ModelFailed, SettingsInvalid
from pipeline.evaluation import asked, evaluate, given
from pipeline.evaluation.figures import Reading
from pipeline.ports import Json, Proposal
from pipeline.processors.role_extraction import Extracted
from pipeline.settings import load_settings
from schemas.events import Cost
from schemas.role import Extraction, Quote
from tests.scripted_model import ScriptedModel

CASE: dict[str, Any] = {
    "id": "t-1",
    "lang": "en",
    "kind": "steady_role",
    "turns": [
        {
            "q": "I'm a baker, keep it short",
            "x": {
                "identities": ["baker"],
                "states": ["baker"],
                "evidence": ["I'm a baker"],
                "detailLevel": "CONCISE",
                "preferenceScope": "conversation",
                "score": 0.9,
            },
        },
        {"q": "hm", "x": "no json"},
    ],
    "expect": [
        {
            "turn": 1,
            "decision": ["CREATE"],
            "identities_any": [["bread baker", "baker"], ["falconer"]],
            "identities_none": ["falconer", "bread baker"],
            "preferences": {"detailLevel": "CONCISE", "contentDepth": "PRACTICAL"},
            "first": ["bak"],
            "levels": ["HIGH"],
            "evidence_any": ["i'm a baker"],
            "overview_any": [["baker"]],
        },
        {"turn": 2, "decision": ["FAILED"], "confidence": "same", "first": ["falconer"]},
    ],
}


async def test_every_value_counts_by_itself() -> None:
    """A field that lists several is as many expectations."""
    figures = await evaluate([CASE], given)
    assert (figures.expectations, figures.met) == (14, 11)
    assert figures.by_kind == {"steady_role": {"expectations": 14, "met": 11}}
    assert figures.by_lang == {"en": {"expectations": 14, "met": 11}}


async def test_a_failure_says_what_was_wanted_and_why() -> None:
    """It holds the question, what there was, what was wanted, and the decision's reason."""
    failures = (await evaluate([CASE], given)).to_json()["failures"]
    assert [failure["wanted"] for failure in failures] == [
        "identities_any ['falconer']",
        "preferences contentDepth=PRACTICAL",
        "first ['falconer']",
    ]
    assert failures[0]["question"] == "I'm a baker, keep it short"
    assert failures[0]["got"] == "['baker']"
    assert "said outright" in failures[0]["reason"]


SPOKEN: dict[str, Any] = CASE | {
    "kind": "third_person",
    "turns": [
        {"q": "I'm a baker, keep it short"},
        {"q": "ok thanks"},
        {"q": "my rye is dense, and my sister the nurse laughs"},
        {"q": "why is that?"},
    ],
    "expect": [{"turn": 3, "identities_any": [["baker"]], "identities_none": ["nurse", "baker"]}],
}


class Scripted(RulesModel):
    """The rules, but for the extractions."""

    def __init__(self, *script: Json | ModelFailed) -> None:
        self._script = list(script)
        self.read: list[tuple[str, list[str]]] = []

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        self.read.append((question, list(history)))
        said = self._script.pop(0)
        if isinstance(said, ModelFailed):
            raise said
        return Proposal(said, Cost(model="small", calls=1, prompt_tokens=900 + 100 * len(self.read)))


def model() -> Scripted:
    """States the baker, then takes a role that is nobody's, then fails."""
    baker: list[Json] = [{"quote": "I'm a baker", "supports": ["baker"]}, {"quote": "not said", "supports": ["baker"]}]
    rye: list[Json] = [{"quote": "my rye is dense", "supports": ["miller", "面包师"]}]
    return Scripted(
        {"identities": ["baker"], "states": ["baker"], "evidence": baker, "overview": "A baker."},
        {"identities": ["miller", "面包师"], "evidence": rye, "score": 0.4},
        ModelFailed("the server is away", {"calls": 2}),
    )


async def test_a_model_reads_the_questions_as_a_worker_has_it_read_them() -> None:
    """With so many questions before as are set, with plain wishes, and without those that teach nothing."""
    small = model()
    figures = await evaluate([SPOKEN], asked(small, 2))
    assert small.read == [
        ("I'm a baker, keep it short", []),
        ("my rye is dense, and my sister the nurse laughs", ["I'm a baker, keep it short", "ok thanks"]),
        ("why is that?", ["ok thanks", "my rye is dense, and my sister the nurse laughs"]),
    ]
    wish = {"turn": 1, "preferences": {"detailLevel": "CONCISE"}}
    assert (await evaluate([SPOKEN | {"expect": [wish]}], asked(model(), 0))).met == 1
    assert (figures.conversations, figures.met, figures.expectations) == (1, 2, 3)


async def test_the_figures_say_what_reading_took_and_gave() -> None:
    """Calls made, saved and failed, prompt tokens, what code dropped, what is in the wrong language or another's."""
    figures = await evaluate([SPOKEN], asked(model(), 10))
    assert figures.to_json()["reading"] == {
        "turns": 4,
        "calls": 4,
        "callsSaved": 1,
        "failedTurns": 1,
        "promptTokens": {"max": 1100, "mean": 1050},
        "droppedQuotes": {"part": 1, "whole": 3},
        "droppedIdentities": {"part": 1, "whole": 3},
        "inLanguage": {"part": 3, "whole": 3},
    }
    assert figures.to_json()["othersIdentities"] == 1
    assert figures.to_json()["othersIdentitiesNamed"] == ["t-1: baker"]
    failing = SPOKEN | {"expect": [{"turn": 4, "first": ["x"]}]}
    (failure,) = (await evaluate([failing], asked(model(), 10))).failures
    assert failure.reason == "the server is away"


async def test_a_string_in_another_language_is_told() -> None:
    """Should code let one pass, the figures do not."""
    reading = Reading()
    learnt = Extraction(identities=["面包师", "baker"], denies=["médico"], overview="A baker.")
    reading.note("my rye is dense", Extracted(learnt))
    assert (reading.in_language.part, reading.in_language.whole) == (3, 4)


async def test_what_the_model_itself_said_is_what_is_dropped() -> None:
    """Neither what code has added since nor a quote mended in signs alone counts."""
    reading = Reading()
    said: Json = {"identities": ["miller", "nurse"], "evidence": [{"quote": "I'm a miller..."}, {"quote": "our ward"}]}
    stated = Quote(quote="im a miller", supports=["miller"])
    learnt = Extraction(identities=["miller", "baker"], evidence=[stated])
    reading.note("im a miller and i bake", Extracted(learnt, proposed=said))
    assert (reading.dropped_quotes.part, reading.dropped_quotes.whole) == (1, 2)
    assert (reading.dropped_identities.part, reading.dropped_identities.whole) == (1, 2)


async def test_an_identity_of_somebody_else_counts_once() -> None:
    """However long it stays."""
    case = SPOKEN | {"expect": [{"turn": turn, "identities_none": ["baker"]} for turn in (1, 2)]}
    figures = await evaluate([case], asked(model(), 10))
    assert (figures.expectations - figures.met, len(figures.taken)) == (2, 1)


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("other_person", True),
        ("quotation_marks", True),
        ("scene_or_game", True),
        ("planted_note", True),
        ("roleplay", True),
        ("steady_role", False),
        ("personal_account", False),
    ],
)
async def test_an_identity_that_is_not_to_be_learnt_is_counted_whatever_its_kind_is_called(
    kind: str, others: bool
) -> None:
    """As somebody else's where the kind's name speaks of others, as unwanted elsewhere, and never twice."""
    case = SPOKEN | {"kind": kind, "expect": [{"turn": 1, "identities_none": ["baker"]}]}
    figures = (await evaluate([case], asked(model(), 10))).to_json()
    assert (figures["othersIdentities"], figures["unwantedIdentities"]) == ((1, 0) if others else (0, 1))


async def test_progress_is_told_after_each_conversation() -> None:
    """With the figures so far."""
    heard: list[tuple[int, int]] = []
    await evaluate([CASE, CASE], given, progress=lambda figures: heard.append((figures.conversations, figures.met)))
    assert heard == [(1, 11), (2, 22)]


async def test_the_command_tells_progress_and_all_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of so many conversations as are wanted; progress goes to stderr, the figures stand in both forms."""
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(CASE) + "\n" for _ in range(3)))
    async with ScriptedModel() as server:
        settings = load_settings(model={"base_url": server.base_url})
        wanted = {"file": path, "model": "openai", "conversations": 2, "failures": False}
        assert await evaluated(Namespace(**wanted, json=True), settings) == 0
        told = capsys.readouterr()
        assert await evaluated(Namespace(**wanted, json=False), settings) == 0
    figures = json.loads(told.out)
    assert figures["conversations"] == 2
    assert figures["reading"]["callsSaved"] == 2
    assert figures["reading"]["promptTokens"]["max"] > 0
    assert [line.split(",")[0] for line in told.err.splitlines()] == ["1 of 2 conversations", "2 of 2 conversations"]
    assert "calls saved by the gate   2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("steady_role", "identities unwanted       1; t-1: baker"),
        ("third_person", "identities of others      1; t-1: baker"),
    ],
)
async def test_the_command_names_an_identity_that_is_not_to_be_there(
    kind: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of others apart from the rest, each with its case."""
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE | {"kind": kind, "expect": [{"turn": 1, "identities_none": ["baker"]}]}))
    wanted = {"file": path, "model": "given", "conversations": None, "failures": False, "json": False}
    assert await evaluated(Namespace(**wanted), load_settings()) == 0
    assert line in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"turns": []}, "turns"),
        ({"turns": "no list"}, "turns"),
        ({"turns": [1]}, "turns.0"),
        ({"turns": [{"q": 1, "x": {}}]}, "turns.0.q"),
        ({"turns": [{"x": {}}]}, "turns.0.q"),
        ({"turns": [{"q": "hello"}], "expect": []}, "turn 1 has no extraction x"),
        ({"expect": {}}, "expect"),
        ({"expect": [{"decision": ["SKIPPED"]}]}, "expect.0.turn"),
        ({"expect": [{"turn": 0}]}, "expect.0.turn"),
        ({"expect": [{"turn": "1"}]}, "expect.0.turn"),
        ({"expect": [{"turn": 99}]}, "an expectation is of turn 99, and there are 2"),
        ({"expect": [{"turn": 1, "identites_any": [["baker"]]}]}, "expect.0.identites_any"),
        ({"expect": [{"turn": 1, "identities_any": ["baker"]}]}, "expect.0.identities_any.0"),
        ({"expect": [{"turn": 1, "identities_any": [[]]}]}, "expect.0.identities_any.0"),
        ({"expect": [{"turn": 1, "first": "baker"}]}, "expect.0.first"),
        ({"expect": [{"turn": 1, "decision": ["CREATED"]}]}, "expect.0.decision.0"),
        ({"expect": [{"turn": 1, "confidence": "sideways"}]}, "expect.0.confidence"),
        ({"expect": [{"turn": 1, "preferences": {"tone": "kind"}}]}, "expect.0.preferences.tone"),
    ],
)
async def test_a_case_that_would_be_counted_wrongly_is_an_error(
    tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    """A misspelt key or a turn that is none is told with its line and field, and nothing is counted."""
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE) + "\n" + json.dumps(CASE | wrong) + "\n")
    with pytest.raises(SettingsInvalid) as failure:
        await evaluated(
            Namespace(file=file, model="given", conversations=None, json=True, failures=False), load_settings()
        )
    assert "line 2: no case: " in str(failure.value)
    assert said in str(failure.value)


async def test_a_line_that_is_nested_too_deeply_is_an_error(tmp_path: Path) -> None:
    """The parser's own limit is no traceback."""
    file = tmp_path / "cases.jsonl"
    file.write_text("[" * 100_000)
    with pytest.raises(SettingsInvalid, match=r"line 1: no case: (it is nested too deeply|Expecting|maximum)"):
        await evaluated(
            Namespace(file=file, model="given", conversations=None, json=True, failures=False), load_settings()
        )
