"""Update arbitration: decides what an extraction changes, and leaves one track entry and one guidance a turn."""

import logging
from collections.abc import Sequence

from pipeline.domain.arbitration import Outcome, arbitrate, failed
from pipeline.domain.asks import language_of
from pipeline.domain.doubt import doubtful_pair, said_same
from pipeline.domain.guidance import FIELDS, compose_guidance, preferences_in_force
from pipeline.domain.similarity import Measure
from pipeline.domain.track import entry_of, memory_of
from pipeline.errors import AlreadyStored, BadEvent, RolestreamError
from pipeline.ports import Failure, Output, Record, Services, Similarity
from schemas.events import Cost, GuidanceIssued, RoleExtracted
from schemas.role import Extraction, RoleMemory, TrackEntry

log = logging.getLogger(__name__)


async def handle(event: RoleExtracted, record: Record, services: Services) -> Sequence[Output]:
    """Add a turn to the track, once; whoever finds it there passes on what was decided.

    A replay decides a failed turn anew: its own entry alone, so that the memory moves only where it is the last.
    """
    newest = await services.store.last_entries(event.conversation_id, event.turn)
    stored = next((entry for entry in newest if entry.turn == event.turn), None)
    previous = next((entry for entry in newest if entry.turn < event.turn), None)
    if stored is not None and stored.question_id != event.question_id:
        raise BadEvent(f"turn {event.turn} of the track is another question's: the database has lost what it confirmed")
    if stored is None:
        stored = await _decided(event, previous, services)
        try:
            await services.store.add_entry(stored)
        except AlreadyStored:
            stored = (await services.store.track(event.conversation_id, event.turn, 1))[0]
    elif stored.decision == "FAILED" and event.extraction is not None and record.is_replay:
        stored = await _decided(event, previous, services)
        await services.store.replace_failed_entry(stored)
        stored = (await services.store.track(event.conversation_id, event.turn, 1))[0]
    guidance = GuidanceIssued.from_stored(stored.event)
    if stored.decision == "FAILED" and stored.extraction is not None:
        return [guidance, Failure(RolestreamError(stored.reason))]
    return [guidance]


async def _decided(event: RoleExtracted, previous: TrackEntry | None, services: Services) -> TrackEntry:
    outcome, cost = await _outcome(event, previous, services)
    entry = entry_of(event, outcome, previous, at=services.clock())
    guidance = _guidance(event, entry, outcome, cost, services)
    return entry.model_copy(update={"event": guidance.to_json().decode()})


async def _outcome(event: RoleExtracted, previous: TrackEntry | None, services: Services) -> tuple[Outcome, Cost]:
    """What is decided, and what learning from the turn has cost."""
    memory, cost = memory_of(previous) if previous else RoleMemory(), event.cost
    if event.extraction is None:
        return failed(memory, f"nothing could be learnt: {event.failure}"), cost
    try:
        similarity, help_cost = await _similarity(memory, event.extraction, services)
        cost = _together(cost, help_cost)
        outcome = arbitrate(
            memory,
            event.extraction,
            question_id=event.question_id,
            turn=event.turn,
            similarity=similarity,
            threshold=services.policy.similarity_threshold,
        )
    except Exception as exc:  # a fault in the rules costs this turn's learning, and no answer
        log.exception("arbitration failed", extra={"action": "rules_failed"})
        outcome = failed(memory, f"nothing could be learnt: arbitration failed with {type(exc).__name__}")
    return outcome, cost


async def _similarity(memory: RoleMemory, extraction: Extraction, services: Services) -> tuple[Similarity, Cost]:
    """The measure, with a judge's word on the one pair that it cannot tell, and what that word cost."""
    similarity, judge = services.similarity, services.judge
    measure = Measure(similarity, services.policy.similarity_threshold)
    pair = doubtful_pair(memory, extraction, measure) if judge else None
    if judge is None or pair is None:
        return similarity, Cost()
    judgement = await judge.same_role(*pair)
    return said_same(similarity, *pair) if judgement.same else similarity, judgement.cost


def _together(one: Cost, other: Cost) -> Cost:
    """Both costs, under the name of the first model that was called."""
    counted = ("calls", "prompt_tokens", "completion_tokens", "milliseconds")
    sums = {name: getattr(one, name) + getattr(other, name) for name in counted}
    return Cost(model=one.model if one.calls else other.model, **sums)


def _guidance(
    event: RoleExtracted, entry: TrackEntry, outcome: Outcome, cost: Cost, services: Services
) -> GuidanceIssued:
    asked = outcome.turn_preferences
    preferences = preferences_in_force(entry.communication_preferences, asked)
    for_this_turn = [field for field, name in FIELDS.items() if getattr(asked, name)]
    guidance = compose_guidance(entry, preferences, for_this_turn, language_of(event.text))
    return GuidanceIssued(
        **event.turn_fields(),
        mode=event.mode,
        decision=entry.decision,
        reason=entry.reason,
        similarity=entry.similarity,
        identities=entry.identified_role.possible_identities,
        characteristics=entry.identified_role.primary_characteristics,
        confidence_score=entry.conversation_analysis.confidence_score,
        confidence_level=entry.identified_role.confidence_level,
        user_overview=entry.user_overview,
        preferences=preferences,
        turn_preferences=for_this_turn,
        rules=guidance.rules,
        text=guidance.text,
        guide_scope=services.policy.guide_scope,
        cost=cost,
    )
