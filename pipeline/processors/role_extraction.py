"""Role extraction: asks the model what a question suggests about the user, once a turn."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.domain.asks import with_plain_wishes
from pipeline.domain.extraction import read_extraction
from pipeline.domain.gate import teaches_nothing
from pipeline.domain.guards import instructs
from pipeline.domain.injected import without_injected
from pipeline.domain.remembering import is_planted, wishes
from pipeline.errors import AlreadyStored, ModelFailed
from pipeline.ports import Json, Model
from pipeline.processing import Failure, Output, Record, Services
from schemas.documents import StoredExtraction
from schemas.events import Cost, RoleExtracted, TurnLogged
from schemas.role import Extraction

log = logging.getLogger(__name__)

#: From this many characters on, reading what was said of a question is left to a thread.
_LONG = 4000
_NO_COST = Cost()


@dataclass(frozen=True)
class Extracted:
    """What was made of one question."""

    extraction: Extraction | None
    failure: str | None = None
    """Why there is no extraction."""
    cost: Cost = _NO_COST
    """Without a call where the question could teach nothing."""
    proposed: Json = None
    """What the model itself said, unchecked and not mended."""


async def handle(event: TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Extract a turn's role; a turn whose model could not be used goes on as failed, and to the dead letters."""
    store = services.store
    stored, history = await asyncio.gather(
        _stored(event, services),
        store.questions(event.conversation_id, event.turn, services.policy.history, after_turn=event.epoch),
    )
    if stored is None:
        stored = await _document(event, history, services)
        try:
            await store.add_extraction(stored)
        except AlreadyStored:
            stored = await _stored(event, services)
            if stored is None:
                raise  # the question is another turn's
    elif stored.failure is not None and record.is_replay:
        stored = await _document(event, history, services)
        if stored.failure is None:
            await store.replace_failed_extraction(stored)
        stored = await _stored(event, services) or stored
    conversation = await store.conversation(event.conversation_id)
    if conversation is not None and conversation.epoch > event.epoch and conversation.epoch >= stored.since:
        # questions that it was read with, or its own, have been erased meanwhile
        await store.erase_role(event.conversation_id, conversation.epoch)
        return await handle(event.model_copy(update={"epoch": conversation.epoch}), record, services)
    extracted = RoleExtracted.from_stored(stored.event)
    return [extracted] if extracted.failure is None else [extracted, Failure(ModelFailed(extracted.failure))]


async def _stored(event: TurnLogged, services: Services) -> StoredExtraction | None:
    stored = await services.store.extraction(event.conversation_id, event.turn)
    if stored is not None and stored.question_id != event.question_id:
        raise AlreadyStored("the turn is another question's")
    return stored


async def _extracted(event: TurnLogged, history: Sequence[str], services: Services) -> RoleExtracted:
    own, found = without_injected(event.text), Extracted(Extraction())
    if event.turn > event.epoch:
        found = await extract(own, [without_injected(text) for text in history], services.model)
    return RoleExtracted(
        **event.turn_fields(),
        text=event.text,
        mode=event.mode,
        extraction=found.extraction,
        failure=found.failure,
        wishes=[
            wish for wish in wishes(own) if wish.operation == "FORGET" or not instructs(f"{wish.slot}: {wish.value}")
        ],
        said_at=event.said_at,
        planted=is_planted(event.text),
        cost=found.cost,
    )


async def extract(question: str, history: Sequence[str], model: Model) -> Extracted:
    """Ask the model, unless there is nothing to learn; memory trouble is a value, for it never stops an answer."""
    if teaches_nothing(question):
        return Extracted(Extraction())
    cost = _NO_COST
    try:
        proposal = await model.extract(question, history)
        cost = proposal.cost
        extraction = await _read(proposal.content, question)
    except ModelFailed as exc:
        return Extracted(None, str(exc), Cost(**exc.spent))
    except Exception as exc:  # a fault in the rules costs this turn's learning, and no answer
        log.exception("reading an extraction failed", extra={"action": "rules_failed"})
        return Extracted(None, f"reading the extraction failed: {type(exc).__name__}", cost)
    failure = None if extraction else "the model's reply holds no object that could be read"
    return Extracted(extraction, failure, cost, proposal.content if proposal.said is None else proposal.said)


async def _read(content: Json, question: str) -> Extraction | None:
    """Off the loop where the question is long: reading a book's chapter takes a tenth of a second."""
    if len(question) < _LONG:
        return _completed(content, question)
    return await asyncio.to_thread(_completed, content, question)


def _completed(content: Json, question: str) -> Extraction | None:
    extraction = read_extraction(content, question)
    return with_plain_wishes(extraction, question) if extraction else None


async def _document(event: TurnLogged, history: Sequence[str], services: Services) -> StoredExtraction:
    extracted = await _extracted(event, history, services)
    return StoredExtraction(
        conversation_id=extracted.conversation_id,
        question_id=extracted.question_id,
        user_id=extracted.user_id,
        turn=extracted.turn,
        extraction=extracted.extraction,
        failure=extracted.failure,
        since=min(event.turn, max(event.turn - services.policy.history, event.epoch + 1)),
        create_time=services.clock(),
        record_time=extracted.record_time,
        event=extracted.to_json().decode(),
    )
