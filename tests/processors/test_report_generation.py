"""Report generation: one answer or report a turn, stored before it is published, whoever delivers it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from pipeline.adapters.rules import RulesModel
from pipeline.domain.ids import answer_id
from pipeline.errors import BadEvent
from pipeline.ports import Json
from pipeline.processors.report_generation import concerns, handle
from schemas.documents import Message
from schemas.events import AnswerReady, Citation, Cost, ReportReady, ReportSection
from tests.conftest import Names
from tests.processors.factories import (
    COST,
    FAILS,
    NOW,
    SPENT,
    C,
    Crash,
    Here,
    crash,
    database_of,
    guidance,
    meddled,
    only,
    record,
    said,
    turn,
    with_failure,
)

GUIDANCE, REPLAYED = record("guidance"), record("guidance", replay=True)
SOURCES = [{"id": "s1", "title": "A title", "url": "https://example.org/a"}, {"id": "s2"}]
REPORT: Json = {
    "title": "Fever",
    "keyPoints": ["Drink"],
    "overview": "It passes.",
    "sections": [{"heading": "Causes", "text": "Many."}],
    "surveyNote": "Little is known.",
    "citations": ["s1", "made-up"],
}


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


async def answer_of(here: Here, number: int = 1) -> Message | None:
    return await here.store.message(C, answer_id(f"q{number}"))


async def test_a_turn_is_answered_and_the_answer_is_stored(here: Here) -> None:
    """The event takes over the turn's fields and metadata, names the guidance it used, and is what is stored."""
    event = await here.logged(1, metadata={"ticket": 7})
    here.model.script = [" Hello, nurse.\x00\n"]
    (answer,) = await handle(guidance(1, "A nurse.", rules=["likes tea"]), GUIDANCE, here.worker())
    assert answer == AnswerReady(
        **event.turn_fields(), text="Hello, nurse.", guidance_turn=1, metadata={"ticket": 7}, cost=COST
    )
    published = answer.to_json().decode()
    kept = {"role": "ASSISTANT", "messageId": answer_id("q1"), "createTime": NOW, "event": published}
    assert await answer_of(here) == said(1, "Hello, nurse.", **kept)
    (request,) = here.model.requests
    assert (request.question, request.guidance, request.rules) == ("I am a nurse", "A nurse.", ["likes tea"])


async def test_a_redelivered_turn_is_not_answered_again(here: Here) -> None:
    """The same event, no model call, no second message; a replay of what did not fail changes nothing either."""
    await here.logged(1)
    here.model.script = ["Hello."]
    first = await handle(guidance(1, "A nurse."), GUIDANCE, here.worker())
    stored = await here.documents("messages")
    for again in (GUIDANCE, REPLAYED):
        assert await handle(guidance(1, "Somebody else."), again, here.worker()) == first
    assert here.model.calls == 1
    assert await here.documents("messages") == stored


async def test_two_workers_at_once_publish_one_answer(here: Here) -> None:
    """Each may have asked the model, and both pass on what was stored first."""
    await here.logged(1)
    here.model.script = ["One.", "Other."]
    one, other = await asyncio.gather(*(handle(guidance(1), GUIDANCE, here.worker()) for _ in range(2)))
    assert one == other
    stored = await answer_of(here)
    assert stored is not None
    assert stored.event == only(one, AnswerReady).to_json().decode()


@pytest.mark.parametrize(
    ("theirs", "ours", "stays"),
    [("Theirs.", "Ours.", "Theirs."), (FAILS, "Ours.", "Ours."), ("Theirs.", FAILS, "Theirs.")],
)
async def test_an_answer_that_another_worker_stored_between_read_and_write(
    here: Here, theirs: Any, ours: Any, stays: str
) -> None:
    """Theirs is passed on, also for ours that failed; only one of theirs that failed gives way."""
    await here.logged(1)
    here.model.script = [ours, theirs]
    other = here.worker()
    store = meddled(here.store, add_message=lambda: handle(guidance(1), GUIDANCE, other))
    outputs = await handle(guidance(1), GUIDANCE, here.worker(store))
    assert only(outputs, AnswerReady).text == stays
    assert await handle(guidance(1), GUIDANCE, here.worker()) == outputs


async def test_a_client_that_answers_between_read_and_write_has_the_word(here: Here) -> None:
    """Its answer stays, also over ours that failed, and nothing of ours is published, then or later."""
    await here.logged(1)
    clients = said(1, "The client's.", role="ASSISTANT", messageId=answer_id("q1"))
    for script in ("Ours.", FAILS):
        here.model.script = [script]
        await here.database["messages"].delete_many({"role": "ASSISTANT"})
        store = meddled(here.store, add_message=lambda: here.store.add_message(clients))
        assert await handle(guidance(1), GUIDANCE, here.worker(store)) == []
        for again in (GUIDANCE, REPLAYED):
            assert await handle(guidance(1), again, here.worker()) == []
        assert await answer_of(here) == clients


async def test_a_crash_before_the_write_leaves_the_turn_to_the_redelivery(here: Here) -> None:
    """No answer is published that is not stored."""
    await here.logged(1)
    here.model.script = ["Lost.", "Kept."]
    with pytest.raises(Crash):
        await handle(guidance(1), GUIDANCE, here.worker(meddled(here.store, add_message=crash)))
    assert only(await handle(guidance(1), GUIDANCE, here.worker()), AnswerReady).text == "Kept."


@pytest.mark.parametrize("mode", ["answer", "report"])
async def test_what_a_newer_version_stored_still_reads(here: Here, mode: str) -> None:
    """A field that we do not know is passed over: in the question, and in the answer or report."""
    await here.logged(1, mode=mode)
    await here.written_by_newer_version("messages")
    here.model.script = ["Hello." if mode == "answer" else REPORT]
    first = await handle(guidance(1, mode=mode), GUIDANCE, here.worker())
    await here.written_by_newer_version("messages")
    assert await handle(guidance(1, mode=mode), GUIDANCE, here.worker()) == first


@pytest.mark.parametrize(
    ("mode", "reply", "reason", "cost"),
    [
        ("answer", FAILS, "out of order", Cost.model_validate(SPENT)),
        ("answer", " \n", "empty", COST),
        ("report", FAILS, "out of order", Cost.model_validate(SPENT)),
        ("report", {"title": "Nothing else"}, "no report", COST),
    ],
)
async def test_a_failed_answer_says_why_and_what_it_cost(
    here: Here, mode: str, reply: Any, reason: str, cost: Cost
) -> None:
    """It used no guidance, is a dead letter as well, and is repeated by a redelivery and not tried again."""
    event = await here.logged(1, mode=mode, metadata={"ticket": 7})
    here.model.script = [reply]
    failed, told = with_failure(await handle(guidance(1, "A nurse.", mode=mode), GUIDANCE, here.worker()))
    kind = ReportReady if mode == "report" else AnswerReady
    fields = {**event.turn_fields(), "metadata": {"ticket": 7}, "cost": cost}
    assert failed == kind(**fields, text="", status="failed", reason=told)
    assert reason in told
    stored = await here.documents("messages")
    assert [message["status"] for message in stored] == ["ok", "failed"]
    again = await handle(guidance(1, "A nurse.", mode=mode), GUIDANCE, here.worker())
    assert with_failure(again) == (failed, told)
    assert type(again[0]) is kind
    assert here.model.calls == 1
    assert await here.documents("messages") == stored


async def test_a_replay_tries_a_failed_answer_anew(here: Here) -> None:
    """The new one takes its place, with the context of its own time, and later deliveries repeat it."""
    await here.logged(1)
    here.model.script = [FAILS, "Late."]
    await handle(guidance(1, "A nurse."), GUIDANCE, here.worker())
    await here.logged(2)
    await here.answered(2, "Meanwhile.")
    replayed = await handle(guidance(1, "A nurse."), REPLAYED, here.worker())
    answer = only(replayed, AnswerReady)
    assert (answer.status, answer.text, answer.guidance_turn) == ("ok", "Late.", 1)
    assert here.model.requests[1].context == []
    texts = [message.text for message in await here.store.messages(C, 2, 9)]
    assert texts == ["I am a nurse", "Late.", "I am a nurse", "Meanwhile."]
    for again in (GUIDANCE, REPLAYED):
        assert await handle(guidance(1, "A nurse."), again, here.worker()) == replayed


async def test_a_replay_that_fails_again_leaves_a_failed_answer(here: Here) -> None:
    """It is a dead letter again."""
    await here.logged(1)
    here.model.script = [FAILS, FAILS]
    first = with_failure(await handle(guidance(1), GUIDANCE, here.worker()))
    assert with_failure(await handle(guidance(1), REPLAYED, here.worker())) == first
    stored = await answer_of(here)
    assert stored is not None
    assert stored.status == "failed"


async def test_a_report_cites_the_sources_of_its_question(here: Here) -> None:
    """And no others; it is stored and repeated as the report it is."""
    event = await here.logged(1, "Research fever", mode="report", sources=SOURCES)
    here.model.script = [REPORT]
    outputs = await handle(guidance(1, "A nurse.", mode="report"), GUIDANCE, here.worker())
    report = only(outputs, ReportReady)
    assert report == ReportReady(
        **event.turn_fields(),
        title="Fever",
        key_points=["Drink"],
        overview="It passes.",
        sections=[ReportSection(heading="Causes", text="Many.")],
        survey_note="Little is known.",
        citations=[Citation(source_id="s1", title="A title", url="https://example.org/a")],
        text=report.text,
        guidance_turn=1,
        cost=COST,
    )
    assert report.text.startswith("# Fever\n")
    assert "made-up" not in report.text
    assert [source.id for source in here.model.requests[0].sources] == ["s1", "s2"]
    assert await handle(guidance(1, mode="report"), GUIDANCE, here.worker()) == outputs


def test_mode_log_is_not_answered() -> None:
    """Neither at once nor with fresh guidance, nor by a replay."""
    assert not concerns(turn(1, mode="log"), record("turns"))
    assert not concerns(guidance(1, mode="log"), REPLAYED)
    assert concerns(turn(1), record("turns"))
    assert concerns(guidance(1), REPLAYED)


async def test_a_turn_that_was_never_logged_is_a_bad_event(here: Here) -> None:
    """There is nothing to answer, and the model is not asked."""
    with pytest.raises(BadEvent, match="not in the conversation's log"):
        await handle(turn(), record("turns"), here.worker())
    assert here.model.calls == 0


@pytest.mark.parametrize(
    ("question", "label"),
    [("我的目标是什么？", "已知与此有关的：目标：做一个项目"), ("What is my target?", "this: Goal: 做一个项目")],
)
async def test_offline_a_goal_is_named_in_the_language_of_the_question(here: Here, question: str, label: str) -> None:
    """Whatever the sentence says that it is kept in, no name of a slot of ours is in the answer."""
    await here.logged(1, question)
    goal = {"slot": "target", "value": "做一个项目", "content": "用户的target：做一个项目。"}
    known = guidance(1, "<user-memory>\n- 用户的target\n</user-memory>", features=[goal])
    (answer,) = await handle(known, GUIDANCE, replace(here.worker(), model=RulesModel()))
    assert isinstance(answer, AnswerReady)
    assert label in answer.text
    assert "用户的target" not in answer.text
