"""The whole chain on a real broker and database: a question goes in, track, guidance and answer come out."""

import asyncio
import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.deployment import ANSWERING, deployed, settings_for, working
from tests.scripted_model import ScriptedModel, default_extraction, default_reply, fails, gives

MODEL = {"api_key": "k", "name": "scripted", "retries": 0}


async def test_a_question_leaves_track_guidance_and_answer(services: Services, names: Names) -> None:
    """Each stage stores one document and publishes one event, and the track document has the published shape."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await here.ask("I am a nurse on a night ward. How do I write a handover note?", questionId="q1")
        await here.ask("ok, thanks", questionId="q2")
        answers = await here.events("answers", 2)
        assert [(answer["questionId"], answer["turn"], answer["status"]) for answer in answers] == [
            ("q1", 1, "ok"),
            ("q2", 2, "ok"),
        ]
        assert {answer["cost"]["model"] for answer in answers} == {"rules"}
        assert [event["decision"] for event in await here.events("guidance", 2)] == ["CREATE", "SKIPPED"]
        first, second = await here.documents("role_tracks")
        assert "nurse" in first["identifiedRole"]["possibleIdentities"][0]
        assert first["identifiedRole"]["confidenceLevel"] == "HIGH"
        assert first["conversationAnalysis"]["interactionCount"] == 1
        assert first["updateTime"] is None
        assert isinstance(first["createTime"], datetime)
        assert (second["turn"], second["decision"]) == (2, "SKIPPED")
        assert second["identifiedRole"] == first["identifiedRole"]
        roles = [(message["role"], message["turn"]) for message in await here.documents("messages")]
        assert sorted(roles) == [("ASSISTANT", 1), ("ASSISTANT", 2), ("USER", 1), ("USER", 2)]
        (conversation,) = await here.documents("conversations")
        assert (conversation["conversationId"], conversation["turnCount"]) == ("c", 2)


async def test_a_question_published_twice_is_one_turn(services: Services, names: Names) -> None:
    """A duplicate and a reordered duplicate re-emit what was stored: no second turn, no second model call."""
    async with ScriptedModel() as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url})
        async with deployed(settings) as here, working(settings):
            for question in ("q1", "q2", "q1", "q2", "q1"):
                await here.ask(f"I am a nurse, {question}", questionId=question)
            answers = await here.events("answers", 5)
            assert [(answer["questionId"], answer["turn"]) for answer in answers][:2] == [("q1", 1), ("q2", 2)]
            assert len({json.dumps(answer) for answer in answers}) == 2
            assert len(await here.documents("role_tracks")) == 2
            kinds = Counter(call.kind for call in model.calls)
            assert (kinds["extraction"], kinds["answer"]) == (2, 2)


async def test_missing_question_ids_derive_from_the_time(services: Services, names: Names) -> None:
    """A second "ok" is a second turn; the same record time, or the same askedAt, is the same question."""
    settings = settings_for(services, names)
    at = datetime(2026, 5, 1, tzinfo=UTC)
    async with deployed(settings) as here, working(settings, "conversation-logging"):
        question = {"conversationId": "c", "userId": "u", "text": "ok"}
        await here.publish("questions", question, time=at)
        await here.publish("questions", question, time=at)
        await here.publish("questions", question, time=datetime(2026, 5, 2, tzinfo=UTC))
        for _ in range(2):
            await here.publish("questions", question | {"askedAt": "2026-05-03T00:00:00Z"})
        turns = [event["turn"] for event in await here.events("turns", 5)]
        assert turns == [1, 1, 2, 3, 3]


BAD = {
    "not JSON": b"hello",
    "wrong types": b'{"conversationId": "c", "userId": 7, "text": []}',
    "missing field": b'{"conversationId": "c", "text": "x"}',
    "900 kB": json.dumps({"conversationId": "c", "userId": "u", "text": "x" * 900_000}).encode(),
    "NUL": b'{"conversationId": "c", "userId": "u", "text": "a\\u0000b"}',
    "raw NUL": b'{"conversationId": "c", "userId": "u", "text": "a\x00b"}',
    "unknown mode": b'{"conversationId": "c", "userId": "u", "text": "x", "mode": "shout"}',
    "empty": b'{"conversationId": "c", "userId": "u", "text": "  "}',
    "too long": json.dumps({"conversationId": "c", "userId": "u", "text": "x" * 32_001}).encode(),
    "another user": b'{"conversationId": "mine", "userId": "thief", "text": "x"}',
    "no value": None,
}


async def test_bad_events_are_dead_lettered_and_stop_nothing(services: Services, names: Names) -> None:
    """Each lands on the topic and in the collection with a reason and its own bytes; the next question is answered."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await here.ask("hello", conversation="mine")
        await here.records("answers", 1)
        for value in BAD.values():
            await here.publish("questions", value, key=b"mine")
        await here.ask("are you there?", conversation="mine")
        assert [answer["turn"] for answer in await here.events("answers", 2)] == [1, 2]
        letters = await here.records("dead-letters", len(BAD))
        assert {letter.value for letter in letters} == set(BAD.values())
        assert all(dict(letter.headers)["__rolestream.errors.message"] for letter in letters)
        stored = await here.documents("dead_letters")
        assert {document["value"] for document in stored} == set(BAD.values())
        assert all(document["message"] for document in stored)


async def test_log_is_learnt_from_and_never_answered(services: Services, names: Names) -> None:
    """Mode `log` leaves a track entry and guidance, and no answer and no model call for one."""
    async with ScriptedModel() as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url})
        async with deployed(settings) as here, working(settings):
            await here.ask("I am a nurse", questionId="logged", mode="log")
            await here.ask("hello", questionId="asked")
            assert [answer["questionId"] for answer in await here.events("answers", 1)] == ["asked"]
            assert [entry["decision"] for entry in await here.documents("role_tracks")] == ["CREATE", "SKIPPED"]
            assert [call.kind for call in model.calls].count("answer") == 1


async def test_a_team_whose_own_model_answers_has_its_answers_logged(services: Services, names: Names) -> None:
    """Without report generation the client's AnswerReady joins the conversation, once, and ours never do twice."""
    settings = settings_for(services, names)
    learning = ("conversation-logging", "role-extraction", "update-arbitration")
    async with deployed(settings) as here, working(settings, *learning):
        await here.ask("I am a nurse", questionId="q1")
        await here.records("guidance", 1)
        answer = {"conversationId": "c", "userId": "u", "questionId": "q1", "text": "Hello, nurse."}
        await here.publish("answers", answer)
        await here.publish("answers", answer | {"text": "Another one."})
        await here.publish("answers", answer | {"text": "Ours."}, headers=[("producer", b"rolestream")])
        await here.publish("answers", answer | {"userId": "thief"})
        await here.records("dead-letters", 1)
        said = [m["text"] for m in await here.documents("messages", role="ASSISTANT")]
        assert said == ["Hello, nurse."]


@pytest.mark.parametrize("scope", ["none", "once", "every"])
async def test_the_guide_scope_decides_what_the_answering_model_is_told(
    services: Services, names: Names, scope: str
) -> None:
    """`none` tells nothing of overview and preferences, `once` the first answer alone, `every` each; context always."""
    async with ScriptedModel() as model:
        settings = settings_for(
            services,
            names,
            model=MODEL | {"base_url": model.base_url},
            short_term_memory={"user_role_memory": {"guide_scope": scope}},
        )
        async with deployed(settings) as here, working(settings):
            for number in (1, 2, 3):
                await here.ask("I am a nurse", questionId=f"q{number}")
                await here.records("answers", number)
            told = ["nurse" in call.system for call in model.calls if call.kind == "answer"]
            assert told == {"none": [False] * 3, "once": [True, False, False], "every": [True] * 3}[scope]
            last = [call for call in model.calls if call.kind == "answer"][-1]
            assert [message["role"] for message in last.messages][1:] == ["user", "assistant"] * 2 + ["user"]
            guided = [answer["guidanceTurn"] for answer in await here.events("answers", 3)]
            assert guided == {"none": [None] * 3, "once": [1, None, None], "every": [1, 2, 3]}[scope]


@pytest.mark.parametrize("scope", ["none", "every"])
async def test_the_request_holds_overview_preferences_and_context(services: Services, names: Names, scope: str) -> None:
    """The recorded request carries the overview, each preference and the context; with `none` the context alone."""
    learnt = default_extraction("I am a nurse") | {
        "overview": "A nurse on a night ward.",
        "preferences": {
            "detailLevel": {"value": "COMPREHENSIVE", "scope": "conversation"},
            "contentDepth": {"value": "PRACTICAL", "scope": "stable"},
            "responseFormat": {"value": "STRUCTURED_WITH_EXAMPLES", "scope": "turn"},
        },
    }
    async with ScriptedModel(
        otherwise=lambda call: gives(learnt) if call.kind == "extraction" else default_reply(call)
    ) as model:
        settings = settings_for(
            services,
            names,
            model=MODEL | {"base_url": model.base_url},
            short_term_memory={"user_role_memory": {"guide_scope": scope}},
        )
        async with deployed(settings) as here, working(settings):
            for number in (1, 2):
                await here.ask("I am a nurse", questionId=f"q{number}")
                await here.records("answers", number)
            request = [call for call in model.calls if call.kind == "answer"][-1]
            wanted = (
                "A nurse on a night ward.",
                "comprehensive answers",
                "step-by-step practical answers",
                "For this answer alone, the user likes a clear structure with examples",
            )
            assert [words in request.system for words in wanted] == [scope == "every"] * 4
            earlier = [message["content"] for message in request.messages[1:-1]]
            assert earlier[0] == "I am a nurse"
            assert earlier[1].startswith("Answer")


async def test_latest_guidance_answers_with_what_was_known_before(services: Services, names: Names) -> None:
    """The first answer knows nothing yet, the second what the first question taught."""
    async with ScriptedModel() as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url}, guidance="latest")
        async with deployed(settings) as here, working(settings):
            await here.ask("I am a nurse", questionId="q1")
            await here.records("answers", 1)
            await here.records("guidance", 1)
            await here.ask("and now?", questionId="q2")
            assert [answer["guidanceTurn"] for answer in await here.events("answers", 2)] == [None, 1]
            told = ["nurse" in call.system for call in model.calls if call.kind == "answer"]
            assert told == [False, True]


async def test_memory_switched_off_extracts_and_tracks_nothing(services: Services, names: Names) -> None:
    """The question is answered without guidance; there is no extraction, no track entry and no guidance event."""
    async with ScriptedModel() as model:
        settings = settings_for(
            services, names, model=MODEL | {"base_url": model.base_url}, short_term_memory={"enabled": False}
        )
        async with deployed(settings) as here, working(settings):
            await here.ask("I am a nurse")
            (answer,) = await here.events("answers", 1)
            assert answer["guidanceTurn"] is None
            assert [call.kind for call in model.calls] == ["answer"]
            assert await here.documents("role_tracks") == await here.documents("extractions") == []


async def test_a_dead_model_stops_neither_memory_nor_others(services: Services, names: Names) -> None:
    """The turn is FAILED and guided by what was known, the answer says why it failed, both are dead letters."""
    async with ScriptedModel(otherwise=lambda call: fails(500)) as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url})
        async with deployed(settings) as here, working(settings, *ANSWERING):
            await here.ask("I am a nurse")
            (answer,) = await here.events("answers", 1)
            assert (answer["status"], answer["text"]) == ("failed", "")
            assert answer["reason"]
            (entry,) = await here.documents("role_tracks")
            assert entry["decision"] == "FAILED"
            letters = await here.records("dead-letters", 2)
            processors = [dict(letter.headers)["__rolestream.errors.processor"] for letter in letters]
            assert processors == [b"role-extraction", b"report-generation"]


async def test_a_report_cites_only_the_sources_of_its_question(services: Services, names: Names) -> None:
    """A report is asked for in plain words, is rendered as Markdown, and drops an invented citation."""

    def invents(call: Any) -> Any:
        reply = default_reply(call)
        if call.kind == "report":
            content = json.loads(reply.content or "")
            return type(reply)(json.dumps(content | {"citations": ["s1", "made-up"]}))
        return reply

    async with ScriptedModel(otherwise=invents) as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url})
        async with deployed(settings) as here, working(settings):
            sources = [{"id": "s1", "title": "A title", "url": "https://example.org", "snippet": "Something."}]
            await here.ask("Research fever in children", sources=sources, metadata={"ticket": 7})
            (report,) = await here.events("reports", 1)
            assert [citation["sourceId"] for citation in report["citations"]] == ["s1"]
            assert report["text"].startswith("# ")
            assert report["metadata"] == {"ticket": 7}
            assert "made-up" not in report["text"]


@pytest.mark.timeout(280)
async def test_200_conversations_at_once_stay_in_order_and_use_the_permits(services: Services, names: Names) -> None:
    """1,000 turns with a model of 100 ms and 16 permits: in order per conversation, at least 13 calls at once.

    However slow the machine, the first answers wait until so many calls are there.
    """
    async with ScriptedModel(latency=0.1, together=13, held=lambda call: call.kind == "answer") as model:
        settings = settings_for(services, names, model=MODEL | {"base_url": model.base_url}, max_running=16)
        async with deployed(settings) as here, working(settings):
            await asyncio.gather(
                *(_ask_five(here, f"c{number}") for number in range(200)),
            )
            answers = await here.events("answers", 1000, within=260)
            turns = defaultdict(list)
            for answer in answers:
                turns[answer["conversationId"]].append((answer["turn"], answer["questionId"]))
            wanted = {f"c{n}": [(turn, f"c{n}-{turn}") for turn in range(1, 6)] for n in range(200)}
            assert turns == wanted
            assert 13 <= model.most_running <= 16
            kinds = Counter(call.kind for call in model.calls)
            assert (kinds["extraction"], kinds["answer"]) == (1000, 1000)


async def _ask_five(here: Any, conversation: str) -> None:
    for turn in range(1, 6):
        await here.ask("I am a nurse", conversation=conversation, questionId=f"{conversation}-{turn}")


async def test_a_header_without_a_value_and_a_time_of_no_calendar_harm_nobody(services: Services, names: Names) -> None:
    """Kafka allows both; the question is answered, the bad record is a dead letter, the worker goes on."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        question = {"conversationId": "c", "userId": "u", "text": "hello"}
        no_value: Any = [("traceparent", None), ("x", None)]
        await here.publish("questions", question, headers=no_value)
        await here.publish("questions", b"not json", key=b"c", headers=no_value)
        await here.publish("questions", question | {"text": "late"}, milliseconds=10**17)
        assert [answer["turn"] for answer in await here.events("answers", 2)] == [1, 2]
        assert len(await here.records("dead-letters", 1)) == 1
