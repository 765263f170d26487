"""Role extraction: asks the model what a question suggests about the user, once a turn."""

import asyncio
from collections.abc import Sequence

from pipeline.domain.extraction import read_extraction
from pipeline.errors import AlreadyStored, ModelFailed
from pipeline.ports import Failure, Output, Record, Services
from schemas.documents import StoredExtraction
from schemas.events import Cost, RoleExtracted, TurnLogged


async def handle(event: TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Extract a turn's role; a turn whose model could not be used goes on as failed, and to the dead letters."""
    store = services.store
    stored, history = await asyncio.gather(
        store.extraction(event.conversation_id, event.question_id),
        store.questions(event.conversation_id, event.turn, services.policy.history),
    )
    if stored is None:
        stored = _document(await _extract(event, history, services), services)
        try:
            await store.add_extraction(stored)
        except AlreadyStored:
            stored = await store.extraction(event.conversation_id, event.question_id) or stored
    elif stored.failure is not None and record.is_replay:
        stored = _document(await _extract(event, history, services), services)
        if stored.failure is None:
            await store.replace_failed_extraction(stored)
    extracted = RoleExtracted.model_validate_json(stored.event)
    if extracted.failure is None:
        return [extracted]
    return [extracted, Failure(ModelFailed(extracted.failure))]


async def _extract(event: TurnLogged, history: Sequence[str], services: Services) -> RoleExtracted:
    """Ask the model; memory trouble is a value, for it never stops an answer."""
    extraction, cost, failure = None, Cost(), None
    try:
        proposal = await services.model.extract(event.text, history)
    except ModelFailed as exc:
        failure, cost = str(exc), Cost(**exc.spent)
    else:
        extraction, cost = read_extraction(proposal.content, event.text), proposal.cost
        if extraction is None:
            failure = "the model's reply holds no object that could be read"
    return RoleExtracted(
        **event.turn_fields(), text=event.text, mode=event.mode, extraction=extraction, failure=failure, cost=cost
    )


def _document(extracted: RoleExtracted, services: Services) -> StoredExtraction:
    return StoredExtraction(
        conversation_id=extracted.conversation_id,
        question_id=extracted.question_id,
        user_id=extracted.user_id,
        turn=extracted.turn,
        extraction=extracted.extraction,
        failure=extracted.failure,
        create_time=services.clock(),
        event=extracted.to_json().decode(),
    )
