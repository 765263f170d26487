"""Conversation logging: a number for each question once, whoever delivers it, and the answers of a client's model."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from pipeline.domain.context import context_of
from pipeline.domain.ids import answer_id
from pipeline.errors import BadEvent
from pipeline.processing import Policy
from pipeline.processors.conversation_logging import concerns, handle
from schemas.events import AnswerReady, TurnLogged
from schemas.wire import MAX_TEXT
from tests.conftest import Names
from tests.processors.factories import NOW, C, Crash, Here, asked, crash, database_of, meddled, only, record, said

QUESTIONS, ANSWERS = record("questions"), record("answers")
CLIENTS = AnswerReady.model_validate(
    {"conversationId": "c", "userId": "u", "questionId": "q1", "text": "Hello, nurse."}
)


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


async def test_a_question_becomes_a_logged_turn(here: Here) -> None:
    """Number, record time and mode are code's; the rest is passed on, and the message holds the event."""
    extras = {"askedAt": NOW, "sources": [{"id": "s1"}], "metadata": {"ticket": 7}}
    outputs = await handle(asked("Research fever", **extras), record("questions", time=NOW), here.worker())
    fields = {"conversationId": "c", "userId": "u", "questionId": "q1", "text": "Research fever", **extras}
    expected = {**fields, "turn": 1, "recordTime": NOW, "loggedAt": NOW, "mode": "report"}
    assert outputs == [TurnLogged.model_validate(expected)]
    message = await here.store.message(C, "q1")
    event = only(outputs, TurnLogged)
    assert message == said(1, "Research fever", createTime=NOW, event=event.to_json().decode())
    conversation = await here.store.conversation(C)
    assert conversation is not None
    assert (conversation.user_id, conversation.turn_count, conversation.last_active_time) == ("u", 1, NOW)


async def test_personal_data_is_masked_before_it_is_stored(here: Here) -> None:
    """In the turn, the message and a client's answer; a redelivery gives the same turn, and no raw text is kept."""
    question = asked("I am a nurse, call 415-555-2671", questionId="q1")
    outputs = await handle(question, QUESTIONS, here.worker())
    assert only(outputs, TurnLogged).text == "I am a nurse, call [phone]"
    assert await handle(question, QUESTIONS, here.worker()) == outputs
    await handle(CLIENTS.model_copy(update={"text": "Mailed a@b.org."}), ANSWERS, here.worker())
    messages = await here.store.messages(C, 1, 9)
    assert [(message.text, message.raw_text) for message in messages] == [
        ("I am a nurse, call [phone]", None),
        ("Mailed [email].", None),
    ]
    assert "415" not in str(await here.documents("messages"))


async def test_what_is_masked_is_the_operators_choice(here: Here) -> None:
    """Kinds, words of their own, and whether the message keeps the text as it was sent, which is never published."""
    policy = Policy(masked_kinds=("email",), masked_words=("Project X",), raw_log=True)
    text = "project x: a@b.org, 415-555-2671"
    outputs = await handle(asked(text), QUESTIONS, replace(here.worker(), policy=policy))
    assert only(outputs, TurnLogged).text == "[masked]: [email], 415-555-2671"
    message = await here.store.message(C, "q1")
    assert message is not None
    assert (message.text, message.raw_text) == ("[masked]: [email], 415-555-2671", text)
    assert "a@b.org" not in (message.event or "")


async def test_a_text_that_grows_by_masking_still_fits(here: Here) -> None:
    """A placeholder longer than its word takes no question beyond the longest text."""
    policy = Policy(masked_words=("ox",))
    outputs = await handle(asked("ox " * 10_000), QUESTIONS, replace(here.worker(), policy=policy))
    assert len(only(outputs, TurnLogged).text) == MAX_TEXT


async def test_questions_are_numbered_in_order(here: Here) -> None:
    """The second question is turn 2, and another conversation starts at 1."""
    worker = here.worker()
    outputs = [
        await handle(asked(questionId=question, conversationId=conversation), QUESTIONS, worker)
        for question, conversation in (("q1", "c"), ("q2", "c"), ("q1", "other"))
    ]
    assert [only(output, TurnLogged).turn for output in outputs] == [1, 2, 1]


async def test_a_redelivered_question_is_the_same_turn(here: Here) -> None:
    """Even after a later one, at another time and as a replay: the same event, and nothing else is stored."""
    first = await handle(asked(), QUESTIONS, here.worker())
    assert await handle(asked(), QUESTIONS, here.worker()) == first
    await handle(asked(questionId="q2"), QUESTIONS, here.worker())
    before = [await here.documents(name) for name in ("messages", "conversations")]
    later = record("questions", replay=True, time=NOW + timedelta(days=1))
    assert await handle(asked(), later, here.worker()) == first
    assert [await here.documents(name) for name in ("messages", "conversations")] == before
    assert len(before[0]) == 2


async def test_a_question_without_an_id_is_told_by_its_record_time(here: Here) -> None:
    """A redelivered "ok" is the same turn, a second "ok" is the second."""
    times = (NOW, NOW, NOW + timedelta(seconds=1))
    ok = asked("ok", questionId=None)
    outputs = [await handle(ok, record("questions", time=time), here.worker()) for time in times]
    assert outputs[0] == outputs[1]
    assert [only(output, TurnLogged).turn for output in outputs] == [1, 1, 2]


async def test_one_question_at_two_workers_is_one_turn(here: Here) -> None:
    """Both return the event that was stored first."""
    both = await asyncio.gather(*(handle(asked(), QUESTIONS, here.worker()) for _ in range(2)))
    assert both[0] == both[1]
    assert len(await here.documents("messages")) == 1


async def test_two_questions_at_once_are_two_turns(here: Here) -> None:
    """Whoever loses the number takes the next one."""
    questions = [asked(questionId=f"q{number}") for number in range(5)]
    outputs = await asyncio.gather(*(handle(question, QUESTIONS, here.worker()) for question in questions))
    assert sorted(only(output, TurnLogged).turn for output in outputs) == [1, 2, 3, 4, 5]
    assert sorted(message["turn"] for message in await here.documents("messages")) == [1, 2, 3, 4, 5]


async def test_a_turn_that_another_worker_took_between_read_and_write(here: Here) -> None:
    """The same question: theirs is passed on. Another question: ours is the turn after it."""
    theirs = here.worker()
    same = meddled(here.store, add_message=lambda: handle(asked(), QUESTIONS, theirs))
    assert only(await handle(asked(), QUESTIONS, here.worker(same)), TurnLogged).logged_at == NOW
    other = meddled(here.store, add_message=lambda: handle(asked(questionId="q2"), QUESTIONS, theirs))
    outputs = await handle(asked(questionId="q3"), QUESTIONS, here.worker(other))
    assert only(outputs, TurnLogged).turn == 3


async def test_a_crash_before_the_conversation_is_touched(here: Here) -> None:
    """The message is there and the conversation is not: the redelivery makes up for it with the stored event."""
    with pytest.raises(Crash):
        await handle(asked(), QUESTIONS, here.worker(meddled(here.store, touch_conversation=crash)))
    assert await here.store.conversation(C) is None
    outputs = await handle(asked(), QUESTIONS, here.worker())
    assert only(outputs, TurnLogged).logged_at == NOW
    conversation = await here.store.conversation(C)
    assert conversation is not None
    assert (conversation.turn_count, conversation.last_active_time) == (1, NOW)


async def test_what_a_newer_version_stored_still_reads(here: Here) -> None:
    """A field that we do not know is passed over, in the document and in its event."""
    first = await handle(asked(), QUESTIONS, here.worker())
    await here.written_by_newer_version("messages")
    assert await handle(asked(), QUESTIONS, here.worker()) == first


async def test_another_users_question_is_a_bad_event(here: Here) -> None:
    """A conversation belongs to whoever opened it, redelivered questions included; nothing is stored."""
    await handle(asked(), QUESTIONS, here.worker())
    for question in ("q1", "q2"):
        with pytest.raises(BadEvent, match="another user"):
            await handle(asked(userId="thief", questionId=question), QUESTIONS, here.worker())
    assert len(await here.documents("messages")) == 1


@pytest.mark.parametrize("question", ["q1", "q2"])
async def test_a_conversation_that_another_user_opened_between_read_and_write(here: Here, question: str) -> None:
    """The later one's question is a bad event, even where both chose the same question id."""
    theirs = here.worker()
    store = meddled(here.store, add_message=lambda: handle(asked(), QUESTIONS, theirs))
    with pytest.raises(BadEvent, match="another user"):
        await handle(asked(userId="thief", questionId=question), QUESTIONS, here.worker(store))


async def test_mode_log_is_passed_on(here: Here) -> None:
    """What the text asks for changes no mode that the client chose."""
    outputs = await handle(asked("Research fever", mode="log"), QUESTIONS, here.worker())
    assert only(outputs, TurnLogged).mode == "log"


async def test_a_clients_own_answer_joins_the_conversation_once(here: Here) -> None:
    """The first one stays, however often and with whatever words it comes again; nothing is published."""
    await here.logged(1)
    for answer in (CLIENTS, CLIENTS, CLIENTS.model_copy(update={"text": "Another one."})):
        assert await handle(answer, ANSWERS, here.worker()) == []
    kept = {"role": "ASSISTANT", "messageId": answer_id("q1"), "createTime": NOW}
    assert (await here.store.messages(C, 1, 9))[1:] == [said(1, "Hello, nurse.", **kept)]


async def test_an_old_answer_is_of_the_time_of_its_question(here: Here) -> None:
    """An old conversation that is taken in today is over: a question of today has nothing of it as its context."""
    old = datetime(2020, 2, 2, tzinfo=UTC)
    await handle(asked(mode="log", askedAt=old), QUESTIONS, here.worker())
    await handle(CLIENTS, ANSWERS, here.worker())
    messages = await here.store.messages(C, 1, 9)
    assert [message.create_time for message in messages] == [old, old]
    assert context_of(messages, NOW, Policy().idle, 6) == []


@pytest.mark.parametrize("fields", [{"mode": "log"}, {"mode": "answer", "askedAt": datetime(2020, 2, 2, tzinfo=UTC)}])
async def test_an_answer_of_today_is_of_today(here: Here, fields: dict[str, Any]) -> None:
    """To a question without a time of its own, or one that is answered now, whatever its client's clock says."""
    await handle(asked(**fields), QUESTIONS, here.worker())
    await handle(CLIENTS, ANSWERS, here.worker())
    assert (await here.store.messages(C, 1, 9))[1].create_time > NOW


async def test_a_clients_own_answer_takes_the_place_of_a_failed_one(here: Here) -> None:
    """Not of one that succeeded."""
    for number in (1, 2):
        await here.logged(number)
    await here.answered(1, "", status="failed")
    await here.answered(2, "Ours.")
    for number in (1, 2):
        await handle(CLIENTS.model_copy(update={"question_id": f"q{number}"}), ANSWERS, here.worker())
    answers = [message for message in await here.store.messages(C, 2, 9) if message.role == "ASSISTANT"]
    assert [(answer.text, answer.status) for answer in answers] == [("Hello, nurse.", "ok"), ("Ours.", "ok")]
    assert answers[0].event is None


def test_our_own_and_failed_answers_are_not_logged_again() -> None:
    """Report generation has stored ours, and a failed answer says nothing."""
    ours = record("answers", producer=b"rolestream")
    failed = CLIENTS.model_copy(update={"status": "failed", "text": ""})
    assert [concerns(CLIENTS, ours), concerns(failed, ANSWERS), concerns(CLIENTS, ANSWERS)] == [False, False, True]


async def test_an_answer_waits_for_its_question(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question may be on its way on the other topic, and is logged while the answer waits."""

    async def meanwhile(_: float) -> None:
        await here.logged(1)

    monkeypatch.setattr(asyncio, "sleep", meanwhile)
    assert await handle(CLIENTS, ANSWERS, here.worker()) == []
    assert [message.text for message in await here.store.messages(C, 1, 9)] == ["I am a nurse", "Hello, nurse."]


async def test_an_answer_to_no_question_is_a_bad_event(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds at the most, which this test does not wait."""
    waits: list[float] = []

    async def at_once(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    with pytest.raises(BadEvent, match="no such question"):
        await handle(CLIENTS, ANSWERS, here.worker())
    assert 1 < sum(waits) < 5
    assert await here.documents("messages") == []


async def test_an_answer_to_another_users_question_is_a_bad_event(here: Here) -> None:
    """Nobody puts words into somebody else's conversation."""
    await here.logged(1)
    with pytest.raises(BadEvent, match="another user"):
        await handle(CLIENTS.model_copy(update={"user_id": "thief"}), ANSWERS, here.worker())
    assert len(await here.documents("messages")) == 1
