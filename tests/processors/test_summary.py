"""Summary: every six messages and when a conversation is idle, on the one before, once whoever delivers it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from pipeline.adapters.embedded import Services
from pipeline.adapters.rules import RulesModel
from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest, Json, Origin, Said, Tombstones
from pipeline.processing import Failure
from pipeline.processors import feature_memory
from pipeline.processors.summary import concerns, handle, summarise_idle
from schemas.events import AnswerReady, ReportReady
from schemas.features import FeatureChange, Summary
from schemas.memory_events import FeaturesObserved
from schemas.wire import UserId
from tests.adapters.test_tombstones import feature, seen
from tests.conftest import Names
from tests.processors.factories import FAILS, NOW, C, Here, crash, database_of, meddled, record, said, turn

ANSWERS, TURNS = record("answers", producer=b"rolestream"), record("turns")
SAID = {1: "I want to build a boat", 2: "The glue doesn't hold", 3: "Which apples are sweet?"}
BOAT: Json = {"target": "build a boat", "blocker": "the glue doesn't hold", "suggestion": "", "nextStep": ""}


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


async def talk(here: Here, turns: int = 3, **changes: Any) -> None:
    """So many turns with their answers."""
    for number in range(1, turns + 1):
        await here.logged(number, SAID.get(number, f"And board number {number}?"), **changes)
        await here.answered(number, f"Advice {number}")


def answer(number: int, **changes: Any) -> AnswerReady:
    fields = {"conversationId": C, "userId": "u", "questionId": f"q{number}", "turn": number, "text": "Advice"}
    return AnswerReady.model_validate(fields | changes)


async def kept(here: Here) -> Summary | None:
    conversation = await here.store.conversation(C)
    return conversation.summary if conversation else None


async def test_six_messages_are_summarised(here: Here) -> None:
    """Both roles are read, oldest first; nothing is published."""
    await talk(here)
    here.model.script = [BOAT]
    assert await handle(answer(3), ANSWERS, here.worker()) == []
    (read,) = here.model.summary_reads
    assert read == (
        Summary(),
        [Said(*one) for number in SAID for one in (("user", SAID[number]), ("assistant", f"Advice {number}"))],
    )
    assert await kept(here) == Summary(target="build a boat", blocker="the glue doesn't hold", turn=3, update_time=NOW)


async def test_fewer_messages_wait(here: Here) -> None:
    """No call is made for five."""
    await talk(here, 2)
    await here.logged(3, "And now?")
    await handle(answer(2), ANSWERS, here.worker())
    await handle(turn(3, mode="log"), TURNS, here.worker())
    assert (here.model.calls, await kept(here)) == (0, None)


async def test_the_next_summary_reads_the_last_one_and_what_came_since(here: Here) -> None:
    """So that an aside erases nothing: parts that nobody speaks of stay."""
    await talk(here, 6)
    here.model.script = [BOAT, {"nextStep": "board number 6"}]
    await handle(answer(3), ANSWERS, here.worker())
    first = await kept(here)
    await handle(answer(6), ANSWERS, here.worker())
    previous, said = here.model.summary_reads[1]
    assert previous == first
    assert [one.text for one in said if one.role == "user"] == [f"And board number {n}?" for n in (4, 5, 6)]
    second = await kept(here)
    assert second is not None
    assert (second.target, second.next_step, second.turn) == ("build a boat", "board number 6", 6)


async def test_a_report_counts_as_an_answer_and_a_failed_answer_as_none(here: Here) -> None:
    """A turn without an answer has one message; what could not be answered completes no turn."""
    await talk(here)
    here.model.script = [BOAT]
    report = ReportReady.model_validate(answer(3).model_dump())
    assert not concerns(answer(3, text="", status="failed"), ANSWERS)
    assert concerns(report, record("reports"))
    await handle(report, record("reports"), here.worker())
    assert here.model.calls == 1


async def test_logged_turns_are_summarised_and_others_wait_for_their_answer(here: Here) -> None:
    """Of the turns topic only mode log is read, which nobody answers."""
    for number in range(1, 7):
        await here.logged(number, SAID.get(number, f"And board {number}?"), mode="log")
    here.model.script = [BOAT]
    assert [concerns(turn(6), TURNS), concerns(turn(6, mode="log"), TURNS)] == [False, True]
    await handle(turn(6, mode="log"), TURNS, here.worker())
    assert len(here.model.summary_reads[0][1]) == 6


async def test_an_answer_of_a_client_is_read_before_it_is_logged(here: Here) -> None:
    """It names no turn, and its personal data is masked as it will be in the log."""
    await talk(here, 2)
    await here.logged(3, SAID[3])
    here.model.script = [BOAT]
    theirs = AnswerReady.model_validate(
        {"conversationId": C, "userId": "u", "questionId": "q3", "text": "Write to ada@example.org"}
    )
    await handle(theirs, record("answers"), here.worker())
    assert here.model.summary_reads[0][1][-1] == Said("assistant", "Write to [email]")


@pytest.mark.parametrize("changes", [{"userId": "another"}, {"conversationId": "unknown"}, {"turn": None}])
async def test_an_answer_that_belongs_to_nothing_is_passed_over(here: Here, changes: dict[str, Any]) -> None:
    """Of another user, of no conversation, or to no question: conversation logging says what is wrong with it."""
    await talk(here)
    assert await handle(answer(3, **{"questionId": "q9"} | changes), ANSWERS, here.worker()) == []
    assert here.model.calls == 0


async def test_a_turn_that_a_client_makes_up_covers_nothing(here: Here) -> None:
    """The summary goes no further than the conversation."""
    await talk(here)
    here.model.script = [BOAT]
    await handle(answer(3, turn=10**6), ANSWERS, here.worker())
    summary = await kept(here)
    assert summary is not None
    assert summary.turn == 3


async def test_a_redelivery_changes_nothing(here: Here) -> None:
    """No second call, and the summary stays as it is; so it does for an older turn's answer."""
    await talk(here)
    here.model.script = [BOAT]
    for number in (3, 3, 2):
        await handle(answer(number), ANSWERS, here.worker())
    summary = await kept(here)
    assert here.model.calls == 1
    assert summary is not None
    assert summary.update_time == NOW


async def test_two_workers_at_once_keep_one_summary(here: Here) -> None:
    """The one that comes second was made on a summary that is no longer the last, and is given up."""
    await talk(here)
    here.model.script = [{"target": "build another boat"}, BOAT]
    theirs = here.worker()
    store = meddled(here.store, messages=lambda: handle(answer(3), ANSWERS, theirs))
    await handle(answer(3), ANSWERS, here.worker(store))
    summary = await kept(here)
    assert summary is not None
    assert summary.target == "build another boat"


@pytest.mark.parametrize("trouble", [FAILS, "I would rather not."])
async def test_a_failed_model_is_a_dead_letter_and_the_next_turn_tries_again(here: Here, trouble: Any) -> None:
    """The summary stays as it was; the next one reads what this one would have read."""
    await talk(here, 4)
    here.model.script = [trouble, BOAT]
    (failure,) = await handle(answer(3), ANSWERS, here.worker())
    assert isinstance(failure, Failure)
    assert isinstance(failure.exception, ModelFailed)
    assert await kept(here) is None
    assert await handle(answer(4), ANSWERS, here.worker()) == []
    assert len(here.model.summary_reads[1][1]) == 8


async def test_chit_chat_costs_no_call(here: Here) -> None:
    """It is covered, and what was known stays."""
    for number in range(1, 4):
        await here.logged(number, "ok, thanks!")
        await here.answered(number, "You are welcome.")
    await handle(answer(3), ANSWERS, here.worker())
    assert here.model.calls == 0
    assert await kept(here) == Summary(turn=3, update_time=NOW)


async def test_thanks_for_a_solution_clear_the_problem_without_a_call(here: Here) -> None:
    """The rules alone read them."""
    await here.logged(1, SAID[1])
    await here.logged(2, "ok, it works now, thanks!")
    known = Summary(target="build a boat", blocker="the glue doesn't hold", turn=1)
    await here.store.put_summary(C, known, after=0)
    here.worker()
    await summarise_idle(here.worker())
    summary = await kept(here)
    assert summary is not None
    assert (summary.target, summary.blocker, here.model.calls) == ("build a boat", "", 0)


async def test_a_long_backlog_is_read_in_bounded_steps(here: Here) -> None:
    """One summary after the other, each of a bounded number of turns, until the conversation is covered."""
    for number in range(1, 31):
        await here.logged(number, f"What of board {number}?")
    here.model.script = [{}, {}, {}]
    here.worker()
    await summarise_idle(here.worker())
    assert [len(said) for _, said in here.model.summary_reads] == [12, 12, 6]


async def test_a_short_conversation_is_summarised_once_it_is_idle(here: Here) -> None:
    """One turn is enough; before it is idle, and again after it, nothing is asked of the model."""
    await here.logged(1, SAID[1])
    here.model.script = [BOAT]
    await summarise_idle(here.worker())
    assert here.model.calls == 0
    for _ in range(3):
        assert await summarise_idle(here.worker()) == []
    assert here.model.calls == 1
    summary = await kept(here)
    assert summary is not None
    assert (summary.target, summary.turn) == ("build a boat", 1)


async def test_a_conversation_that_goes_on_is_summarised_again_when_idle(here: Here) -> None:
    """What was covered waits no more; the next question does."""
    await talk(here)
    here.model.script = [BOAT, {}]
    here.worker()
    await handle(answer(3), ANSWERS, here.worker())
    here.worker()
    await summarise_idle(here.worker())
    assert here.model.calls == 1
    await here.logged(4, "Which oak is best?")
    await summarise_idle(here.worker())
    assert here.model.summary_reads[1][1] == [Said("user", "Which oak is best?")]


async def test_an_imported_conversation_is_idle_by_the_time_of_its_import(here: Here) -> None:
    """However long ago it was: its questions carry the time at which they were asked."""
    await here.logged(1, SAID[1], mode="log", askedAt=NOW - timedelta(days=900))
    here.model.script = [BOAT]
    here.worker()
    await summarise_idle(here.worker())
    assert here.model.calls == 1


async def test_a_redelivered_question_leaves_a_covered_conversation_at_rest(here: Here) -> None:
    """It is looked at once more and found covered, without a call."""
    await talk(here)
    here.model.script = [BOAT]
    await handle(answer(3), ANSWERS, here.worker())
    question = await here.store.question_at(C, 3)
    assert question is not None
    await here.store.touch_conversation(question)
    await summarise_idle(here.worker())
    conversation = await here.store.conversation(C)
    assert conversation is not None
    assert (conversation.awaits_summary, here.model.calls) == (None, 1)


async def test_two_workers_share_the_idle_conversations(here: Here) -> None:
    """Each conversation is claimed by one of them: one call for each."""
    await here.logged(1, SAID[1])
    here.model.script = [BOAT]
    here.worker()
    worker = here.worker()
    await asyncio.gather(summarise_idle(worker), summarise_idle(worker))
    assert here.model.calls == 1


async def test_what_fails_is_tried_again_after_ever_longer_waits(here: Here, caplog: pytest.LogCaptureFixture) -> None:
    """A round that fails is one log line without any text of the conversation, and no other round is held up."""
    await here.logged(1, SAID[1])
    here.model.script = [FAILS, FAILS, BOAT]
    rounds = []
    with caplog.at_level(logging.WARNING):
        for _ in range(12):
            await summarise_idle(here.worker())
            rounds.append(here.model.calls)
    assert here.model.calls == 3
    assert [rounds.index(calls) for calls in (1, 2, 3)] == [1, 3, 7]
    assert [record.getMessage() for record in caplog.records] == 2 * [
        "1 of 1 idle conversations could not be summarised: ModelFailed"
    ]


async def test_a_round_that_is_cut_short_is_found_again_soon(here: Here) -> None:
    """A worker that ends as it summarises leaves the conversation for the next idle time, however old it is."""
    await here.logged(1, SAID[1])
    here.model.script = [BOAT]
    two_days = here.worker(store=meddled(here.store, messages=crash))
    now = NOW + timedelta(days=2)
    await summarise_idle(replace(two_days, clock=lambda: now))
    assert await kept(here) is None
    await summarise_idle(replace(here.worker(), clock=lambda: now + timedelta(minutes=31)))
    assert await kept(here) is not None


async def test_one_conversation_that_cannot_be_read_holds_up_no_other(here: Here) -> None:
    """Its fault is logged; the others of the round are summarised."""
    await here.logged(1, SAID[1])
    question = await here.store.question_at(C, 1)
    assert question is not None
    await here.store.touch_conversation(question.model_copy(update={"conversation_id": "empty"}))
    here.model.script = [BOAT]
    here.worker()
    await summarise_idle(here.worker())
    assert await kept(here) is not None


async def test_the_project_goal_outlives_milk_and_apples(here: Here) -> None:
    """Offline: the first summary holds the goal and the problem, and the next one still does."""
    questions = [
        "我是Go新手，目标做一个Gin+GORM的项目",
        "GORM报no such table错误",
        "我买牛奶只买低糖的，苹果不要酸的",
        "苹果有甜的有酸的，我买哪种？",
    ]
    for number, text in enumerate(questions, 1):
        await here.logged(number, text)
        request = AnswerRequest(text)
        await here.answered(number, (await RulesModel().answer(request)).text)
        await handle(answer(number), ANSWERS, replace(here.worker(), model=RulesModel()))
    first = await kept(here)
    await summarise_idle(replace(here.worker(), model=RulesModel()))
    second = await kept(here)
    for summary, covered in ((first, 3), (second, 4)):
        assert summary is not None
        assert (summary.target, summary.blocker) == ("做一个Gin+GORM的项目", "GORM报no such table错误")
        assert (summary.suggestion, summary.next_step, summary.turn) == ("", "", covered)


async def test_a_forgotten_conversation_gets_no_summary(here: Here) -> None:
    """Forgotten while the model was at work: a new conversation of the same name does not inherit its summary."""
    await talk(here)
    here.model.script = [BOAT]
    origin = Origin(user_id="u", conversation_id=C, time=NOW)
    store = meddled(here.store, messages=lambda: here.tombstones.add(origin))
    await handle(answer(3), ANSWERS, here.worker(store))
    assert here.model.calls == 1
    assert await kept(here) is None


@pytest.mark.parametrize("forgotten", [{"user_id": "u"}, {"user_id": "u", "conversation_id": C}])
@pytest.mark.parametrize("before", ["covers", "put_summary"])
async def test_what_was_forgotten_is_in_no_summary_though_the_conversation_goes_on(
    here: Here, forgotten: dict[str, str], before: str
) -> None:
    """Forgotten before or as it is written, with questions since: no word of it stays, and the rest is summarised."""
    await talk(here)
    later = said(4, "I want to build a shed", recordTime=NOW + timedelta(minutes=1))
    await here.store.add_message(later)
    await here.store.touch_conversation(later)
    here.model.script = [BOAT, {"target": "build a shed"}]

    async def forget() -> None:
        origin = Origin(time=NOW, **forgotten)
        await here.tombstones.add(origin)
        await here.tombstones.erase(origin)

    meddling = {before: forget}
    tombstones = cast(Tombstones, meddled(cast(Any, here.tombstones), **meddling))
    await handle(answer(3), ANSWERS, replace(here.worker(meddled(here.store, **meddling)), tombstones=tombstones))
    assert (await kept(here) or Summary()).target == ""
    here.worker()
    await summarise_idle(here.worker())
    summary = await kept(here)
    assert summary is not None
    assert (summary.target, summary.turn) == ("build a shed", 4)


MILK: Json = {"target": "build a boat", "suggestion": "buy the low sugar milk", "nextStep": ""}


async def talk_of_milk(here: Here, *, own: bool = True) -> None:
    """Three turns whose answers say what the user buys; whether the user says it here as well."""
    texts = ["I want to build a boat", "I only buy low sugar milk" if own else "Which milk?", "Which glue?"]
    for number, text in enumerate(texts, 1):
        await here.logged(number, text)
        await here.answered(number, "You should buy the low sugar milk.")


async def forget_milk(here: Here) -> None:
    observed = FeaturesObserved(
        user_id=UserId("u"),
        observed_by="memory-commands",
        source="MANUAL",
        record_time=NOW + timedelta(seconds=1),
        changes=[FeatureChange(operation="FORGET", slot="milk")],
    )
    await feature_memory.handle(observed, record("features"), here.worker())


async def test_a_summary_quotes_nothing_that_only_memory_knew(here: Here) -> None:
    """So that nothing of it stays once it is deleted, though no summary is looked through."""
    await here.features.add_feature(feature("milk", seen("another", "a1")))
    await talk_of_milk(here, own=False)
    here.model.script = [MILK]
    await handle(answer(3), ANSWERS, here.worker())
    assert await kept(here) == Summary(target="build a boat", turn=3, update_time=NOW)


async def test_a_deleted_fact_leaves_the_summary_of_the_conversation_that_said_it(here: Here) -> None:
    """What it said itself may stand in it, until it is deleted: then that part is emptied, and no other."""
    await here.features.add_feature(feature("milk", seen("c", "q2")))
    await talk_of_milk(here)
    here.model.script = [MILK]
    await handle(answer(3), ANSWERS, here.worker())
    before = await kept(here)
    assert before is not None
    assert before.suggestion == "buy the low sugar milk"
    await forget_milk(here)
    assert await kept(here) == before.model_copy(update={"suggestion": ""})


@pytest.mark.parametrize("before", ["covers", "put_summary"])
async def test_a_fact_that_is_deleted_while_a_summary_is_made_is_not_in_it(here: Here, before: str) -> None:
    """Whether the deletion comes before or as the summary is written."""
    await here.features.add_feature(feature("milk", seen("c", "q2")))
    await talk_of_milk(here)
    here.model.script = [MILK]
    meddling = {before: lambda: forget_milk(here)}
    tombstones = cast(Tombstones, meddled(cast(Any, here.tombstones), **meddling))
    await handle(answer(3), ANSWERS, replace(here.worker(meddled(here.store, **meddling)), tombstones=tombstones))
    summary = await kept(here)
    assert summary is not None
    assert (summary.target, summary.suggestion, summary.turn) == ("build a boat", "", 3)


async def test_a_later_summary_reads_nothing_of_what_was_deleted(here: Here) -> None:
    """The messages are in the log still; their sentences about it are not read."""
    await here.features.add_feature(feature("milk", seen("c", "q2")))
    await talk_of_milk(here)
    await forget_milk(here)
    here.model.script = [MILK]
    await handle(answer(3), ANSWERS, here.worker())
    ((_, read),) = here.model.summary_reads
    assert "milk" not in str(read)
    summary = await kept(here)
    assert summary is not None
    assert (summary.target, summary.suggestion) == ("build a boat", "")
