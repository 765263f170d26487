"""Conversation logging: masks and numbers each question, stores it, and passes it on as a turn."""

import asyncio
from collections.abc import Sequence

from pipeline.domain.asks import decided_mode
from pipeline.domain.ids import answer_id, question_id_of
from pipeline.domain.masking import masked
from pipeline.errors import AlreadyStored, BadEvent
from pipeline.processing import Output, Record, Services
from schemas.documents import Conversation, Message
from schemas.events import AnswerReady, QuestionAsked, TurnLogged
from schemas.wire import MAX_TEXT, ConversationId, QuestionId

#: The largest event of ours, in bytes: what a broker takes by default, and room for what later stages add.
MAX_EVENT = 900_000
#: Pauses, in seconds, before an answer is held to belong to no question: the question may be on its way.
_WAITS_FOR_QUESTION = (0.1, 0.2, 0.5, 1.0, 2.0)
_ANOTHERS = "conversationId: it belongs to another user; open a conversation of its own"


async def handle(event: QuestionAsked | AnswerReady, record: Record, services: Services) -> Sequence[Output]:
    """A question becomes a logged turn; the answer of a client's own model joins the conversation."""
    if isinstance(event, QuestionAsked):
        return [await _log_question(event, record, services)]
    await _log_answer(event, services)
    return []


def concerns(event: QuestionAsked | AnswerReady, record: Record) -> bool:
    """Our own answers are in the log before they are published."""
    is_own = record.headers.get("producer") == b"rolestream"
    return isinstance(event, QuestionAsked) or (event.status == "ok" and not is_own)


async def _log_question(event: QuestionAsked, record: Record, services: Services) -> TurnLogged:
    """Take the turn after the last that was counted; the database takes each turn, and each question, once."""
    store, question_id = services.store, question_id_of(event, record.time)
    while True:
        conversation = await store.conversation(event.conversation_id)
        if conversation is not None and conversation.user_id != event.user_id:
            raise BadEvent(_ANOTHERS)
        turn = _turn(event, question_id, conversation, record, services)
        message = _message(turn, _raw(event.text, services))
        try:
            await store.add_message(message)
        except AlreadyStored:
            stored = await store.message(event.conversation_id, question_id)
            if stored is None:
                await _count(turn.turn, event.conversation_id, services)
                continue
            if stored.user_id != event.user_id:
                raise BadEvent(_ANOTHERS) from None
            message, turn = stored, TurnLogged.from_stored(stored.event or "")
        await store.touch_conversation(message)
        return turn


async def _count(turn: int, conversation_id: ConversationId, services: Services) -> None:
    """Count a turn that was taken for another question by a worker that ended there, or is about to count it."""
    taken = await services.store.question_at(conversation_id, turn)
    if taken is not None:
        await services.store.touch_conversation(taken)


def _masked(text: str, services: Services) -> str:
    return masked(text, services.policy.masked_kinds, services.policy.masked_words)


def _raw(text: str, services: Services) -> str | None:
    return text if services.policy.raw_log else None


def _turn(
    event: QuestionAsked, question_id: QuestionId, known: Conversation | None, record: Record, services: Services
) -> TurnLogged:
    text = _masked(event.text, services)[:MAX_TEXT]
    return TurnLogged(
        conversation_id=event.conversation_id,
        user_id=event.user_id,
        question_id=question_id,
        turn=known.turn_count + 1 if known else 1,
        epoch=known.epoch if known else 0,
        record_time=record.time,
        logged_at=services.clock(),
        text=text,
        mode=decided_mode(text, event.mode),
        asked_at=event.asked_at,
        sources=event.sources,
        metadata=event.metadata,
    )


def _message(turn: TurnLogged, raw_text: str | None) -> Message:
    event = turn.to_json()
    if len(event) > MAX_EVENT:
        raise BadEvent(f"sources and metadata: the turn has {len(event)} bytes, more than {MAX_EVENT}; send less")
    return Message(
        conversation_id=turn.conversation_id,
        message_id=turn.question_id,
        user_id=turn.user_id,
        role="USER",
        text=turn.text,
        question_id=turn.question_id,
        turn=turn.turn,
        create_time=turn.said_at or turn.logged_at,
        record_time=turn.record_time,
        event=event.decode(),
        raw_text=raw_text,
    )


async def _log_answer(event: AnswerReady, services: Services) -> None:
    question = await _question_of(event, services)
    message = Message(
        conversation_id=event.conversation_id,
        message_id=answer_id(event.question_id),
        user_id=event.user_id,
        role="ASSISTANT",
        text=_masked(event.text, services),
        question_id=event.question_id,
        turn=question.turn,
        create_time=question.create_time if _is_old(question) else services.clock(),
        record_time=question.record_time,
        raw_text=_raw(event.text, services),
    )
    try:
        await services.store.add_message(message)
    except AlreadyStored:
        await services.store.replace_failed_message(message)


def _is_old(question: Message) -> bool:
    """Whether it was only logged, and said when it was asked: its answer is of that time, too."""
    return question.event is not None and TurnLogged.from_stored(question.event).said_at is not None


async def _question_of(event: AnswerReady, services: Services) -> Message:
    for wait in (*_WAITS_FOR_QUESTION, None):
        question = await services.store.message(event.conversation_id, event.question_id)
        if question is not None:
            if question.user_id != event.user_id:
                raise BadEvent("userId: the question is another user's")
            return question
        if wait is not None:
            await asyncio.sleep(wait)
    raise BadEvent("questionId: no such question in this conversation; publish the question first")
