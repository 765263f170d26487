"""Summary: keeps where a conversation stands, every few messages and once it is idle."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from pipeline.domain.gate import teaches_nothing
from pipeline.domain.masking import masked
from pipeline.domain.summary import (
    EVERY,
    cleaned,
    may_be_due,
    read_summary,
    read_up_to,
    since,
    told_elsewhere,
    without_deleted,
    without_fact,
)
from pipeline.errors import ModelFailed
from pipeline.ports import Json, Origin, Said
from pipeline.processing import Failure, Output, Record, Services
from schemas.documents import Conversation, Message
from schemas.events import AnswerReady, Cost, ReportReady, TurnLogged
from schemas.features import Summary, UserFeature
from schemas.wire import ConversationId, UserId, Wire

log = logging.getLogger(__name__)

#: The most conversations that one round of the periodic job looks at.
_AT_ONCE = 100


@dataclass(frozen=True)
class _Step:
    """One summary to be made, on the previous one."""

    conversation: Conversation
    previous: Summary
    turn: int
    """The last turn that it reads."""
    at: datetime

    @property
    def conversation_id(self) -> ConversationId:
        return self.conversation.conversation_id


async def handle(event: AnswerReady | ReportReady | TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Bring the summary up to a turn once enough was said; what a model cannot do now, the next turn tries again."""
    conversation = await services.store.conversation(event.conversation_id)
    if conversation is None or conversation.user_id != event.user_id:
        return []
    previous, turn = conversation.summary or Summary(), await _turn_of(event, conversation, services)
    if not may_be_due(previous.turn, turn):
        return []
    step = _Step(conversation, previous, read_up_to(previous.turn, turn), services.clock())
    messages = await _unread(step, services)
    unlogged = _not_yet_logged(event, messages, services) if step.turn == turn else []
    if len(messages) + len(unlogged) < EVERY:
        return []
    try:
        await _summarise(step, messages, unlogged, services)
    except ModelFailed as exc:
        return [Failure(exc)]
    return []


def concerns(event: AnswerReady | ReportReady | TurnLogged, record: Record) -> bool:
    """A turn is complete with its answer, or at once where it is only logged."""
    return event.mode == "log" if isinstance(event, TurnLogged) else event.status != "failed"


async def summarise_idle(services: Services) -> Sequence[Wire]:
    """Summarise the conversations that are over for now, however short; one whose model fails waits ever longer."""
    conversations = await services.store.idle_conversations(services.clock() - services.policy.idle, _AT_ONCE)
    done = await asyncio.gather(*(_catch_up(one, services) for one in conversations), return_exceptions=True)
    failures = [result for result in done if isinstance(result, Exception)]
    if failures:
        unknown = next((failure for failure in failures if not isinstance(failure, ModelFailed)), None)
        counted = f"{len(failures)} of {len(done)} idle conversations could not be summarised"
        log.warning("%s: %s", counted, type(failures[0]).__name__, exc_info=unknown, extra={"action": "idle_failed"})
    return []


async def _catch_up(conversation: Conversation, services: Services) -> None:
    """Whoever claims a conversation summarises it; where a worker ends with it, it is found again as any idle one.

    Where the model fails it is found again once it has waited twice as long.
    """
    now = services.clock()
    if not await services.store.claim_summary(conversation, now):
        return
    try:
        await _summarise_all(conversation, now, services)
    except ModelFailed:
        waited = now - (conversation.last_record_time or now)
        claimed = conversation.model_copy(update={"awaits_summary": now})
        await services.store.claim_summary(claimed, now + waited)
        raise


async def _summarise_all(conversation: Conversation, now: datetime, services: Services) -> None:
    step = _Step(conversation, conversation.summary or Summary(), 0, now)
    if step.previous.turn >= conversation.turn_count:
        await services.store.put_summary(step.conversation_id, step.previous, after=step.previous.turn)
    while step.previous.turn < conversation.turn_count:
        turn = read_up_to(step.previous.turn, conversation.turn_count)
        step = replace(step, turn=turn, at=services.clock())
        messages = await _unread(step, services)
        summary = await _summarise(step, messages, [], services)
        step = replace(step, previous=summary)


async def _turn_of(
    event: AnswerReady | ReportReady | TurnLogged, conversation: Conversation, services: Services
) -> int:
    """The event's turn, as far as it was counted; the answer of a client's own model may name none."""
    turn = event.turn
    if turn is None:
        question = await services.store.message(event.conversation_id, event.question_id)
        turn = question.turn if question else 0
    return min(turn, conversation.turn_count)


async def _unread(step: _Step, services: Services) -> list[Message]:
    """The messages that the previous summary has not read, oldest first."""
    most = 2 * (step.turn - step.previous.turn + 1)
    return since(await services.store.messages(step.conversation_id, step.turn, most), step.previous)


def _said(messages: Sequence[Message], known: Sequence[UserFeature]) -> list[Said]:
    return [
        Said("user" if message.role == "USER" else "assistant", without_deleted(message, known)) for message in messages
    ]


def _not_yet_logged(
    event: AnswerReady | ReportReady | TurnLogged, messages: Sequence[Message], services: Services
) -> list[Said]:
    """The answer of a client's own model, where conversation logging is not done with it."""
    logged = any(one.role == "ASSISTANT" and one.question_id == event.question_id for one in messages)
    if logged or isinstance(event, TurnLogged):
        return []
    return [Said("assistant", masked(event.text, services.policy.masked_kinds, services.policy.masked_words))]


async def _summarise(step: _Step, messages: Sequence[Message], unlogged: Sequence[Said], services: Services) -> Summary:
    """Make a summary and keep it, unless another was made, or messages were forgotten, meanwhile. Raises ModelFailed.

    Reading long messages is left to a thread.
    """
    user_id = UserId(step.conversation.user_id)
    known = await services.features.features(user_id)
    said = await asyncio.to_thread(lambda: cleaned([*_said(messages, known), *unlogged]))
    summary = await _made(step, said, told_elsewhere(known, step.conversation_id), services)
    times = [message.record_time for message in messages if message.record_time is not None]
    earliest = min(times, default=step.conversation.last_record_time)
    origin = Origin(user_id, step.conversation_id, earliest)
    if not await services.tombstones.covers(origin):
        await services.store.put_summary(step.conversation_id, summary, after=step.previous.turn)
        left = await _left(summary, known, services)
        if await services.tombstones.covers(origin):  # forgotten while it was written
            left = Summary(turn=summary.turn, update_time=summary.update_time)
        if left != summary:
            await services.store.put_summary(step.conversation_id, left, after=summary.turn)
            return left
    return summary


async def _left(summary: Summary, known: Sequence[UserFeature], services: Services) -> Summary:
    """The summary without the facts that were deleted while it was made."""
    deleted = {one.slot for one in known if one.value}
    if deleted:
        still = await services.features.features(known[0].user_id)
        deleted -= {one.slot for one in still if one.value}
    return reduce(without_fact, (one for one in known if one.slot in deleted), summary)


async def _made(step: _Step, said: Sequence[Said], elsewhere: Sequence[UserFeature], services: Services) -> Summary:
    """Chit-chat costs no call; that something is solved is read from it all the same."""
    content: Json = {}
    cost = Cost()
    if any(one.role == "user" and not teaches_nothing(one.text) for one in said):
        proposal = await services.model.summarise(step.previous, said)
        content, cost = proposal.content, proposal.cost
    summary = await asyncio.to_thread(
        read_summary, content, step.previous, said, turn=step.turn, at=step.at, elsewhere=elsewhere
    )
    if summary is None:
        raise ModelFailed("the model's reply holds no summary that could be read", cost.model_dump())
    return summary
