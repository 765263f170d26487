"""Update arbitration: decides what an extraction changes, and leaves one track entry and one guidance a turn."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.domain.arbitration import Outcome, arbitrate, failed
from pipeline.domain.asks import asked_preferences, language_of
from pipeline.domain.contradicting import ends
from pipeline.domain.doubt import doubtful_pair, said_same
from pipeline.domain.guidance import FIELDS, compose_guidance, preferences_in_force, rule_of
from pipeline.domain.observing import with_plain_facts
from pipeline.domain.recall import Recalled, recall
from pipeline.domain.remembering import forgets_who
from pipeline.domain.similarity import Measure
from pipeline.domain.slots import subject_of
from pipeline.domain.track import entry_of, memory_of, standing
from pipeline.domain.trades import facts_left, trades_left
from pipeline.errors import AlreadyStored, BadEvent, RolestreamError
from pipeline.ports import Similarity
from pipeline.processing import Failure, Output, Record, Services
from schemas.events import Cost, GuidanceIssued, RoleExtracted
from schemas.features import MAX_CHANGES, FeatureChange, Summary, UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.role import MAX_QUOTE, CommunicationPreferences, Extraction, Quote, RoleMemory, TrackEntry

log = logging.getLogger(__name__)

_PLANTED = "an instruction planted for the memory was not followed"
_ERASED = "the role memory was erased after this turn"
#: How much of a question is read for facts that end what the user was.
_LONGEST = 4000


@dataclass(frozen=True)
class _Kept:
    """What the database holds for a turn when it is decided."""

    previous: TrackEntry | None
    """None also where the role memory was erased since."""
    features: Sequence[UserFeature] = ()
    summary: Summary | None = None
    epoch: int = 0
    """The last turn that is no evidence any more."""


async def handle(event: RoleExtracted, record: Record, services: Services) -> Sequence[Output]:
    """Add a turn to the track, once; whoever finds it there passes on what was decided.

    A replay decides a failed turn anew: its own entry alone, so that the memory moves only where it is the last.
    """
    stored, kept = await _read(event, services)
    if stored is not None and stored.question_id != event.question_id:
        raise BadEvent(f"turn {event.turn} of the track is another question's: the database has lost what it confirmed")
    tries_again = stored and stored.decision == "FAILED" and event.extraction is not None and record.is_replay
    if stored is None or tries_again or _is_left_over(stored, kept):
        stored = await _written(event, stored, kept, services)
    outputs: list[Output] = [GuidanceIssued.from_stored(stored.event)]
    if stored.observed:
        outputs.append(FeaturesObserved.from_stored(stored.observed))
    if stored.decision == "FAILED" and stored.extraction is not None:
        outputs.append(Failure(RolestreamError(stored.reason)))
    return outputs


def _is_left_over(stored: TrackEntry, kept: _Kept) -> bool:
    """Whether it builds on what is erased, for its worker ended before it saw that."""
    return stored.since <= kept.epoch and _ERASED not in stored.reason


async def _written(event: RoleExtracted, found: TrackEntry | None, kept: _Kept, services: Services) -> TrackEntry:
    """The turn's entry, decided anew where what it builds on was corrected or erased while it was written."""
    while True:
        entry = await _decided(event, kept, services)
        is_ours = await _put(entry, found, services)
        if is_ours and await _stands(event, kept, services):
            return entry
        found, kept = await _read(event, services)
        if found is not None and found.question_id != event.question_id:
            raise AlreadyStored("the turn is another question's")
        if found is not None and not is_ours:
            return found


async def _put(entry: TrackEntry, found: TrackEntry | None, services: Services) -> bool:
    """Whether it could be written in the place of what was found there."""
    if found is not None:
        return await services.store.replace_entry(entry, found)
    try:
        await services.store.add_entry(entry)
    except AlreadyStored:
        return False
    return True


async def _stands(event: RoleExtracted, kept: _Kept, services: Services) -> bool:
    """Whether what a turn was decided on is as it was read."""
    conversation, stands = await asyncio.gather(
        services.store.conversation(event.conversation_id), _is_as_read(kept.previous, services)
    )
    return stands and (conversation is None or conversation.epoch == kept.epoch)


async def _is_as_read(previous: TrackEntry | None, services: Services) -> bool:
    return previous is None or await services.store.stands(previous)


async def _read(event: RoleExtracted, services: Services) -> tuple[TrackEntry | None, _Kept]:
    """The turn's own entry, where there is one, and what it is decided on; entries up to the epoch do not count."""
    newest, conversation, features = await asyncio.gather(
        services.store.last_entries(event.conversation_id, event.turn),
        services.store.conversation(event.conversation_id),
        _features(event, services),
    )
    epoch = conversation.epoch if conversation else 0
    stored = next((entry for entry in newest if entry.turn == event.turn), None)
    previous = standing((entry for entry in newest if entry.turn < event.turn), epoch)
    summary = conversation.summary if conversation and services.policy.user_memory else None
    return stored, _Kept(previous, features, summary, epoch)


async def _features(event: RoleExtracted, services: Services) -> Sequence[UserFeature]:
    return await services.features.features(event.user_id) if services.policy.user_memory else ()


async def _decided(event: RoleExtracted, kept: _Kept, services: Services) -> TrackEntry:
    previous, is_erased = kept.previous, event.turn <= kept.epoch
    if is_erased:
        event = event.model_copy(update={"extraction": Extraction(), "failure": None})
    outcome, cost = await _outcome(event, previous, services)
    notes = [note for note, holds in ((_PLANTED, event.planted), (_ERASED, is_erased)) if holds]
    outcome = replace(outcome, reason="; ".join([outcome.reason, *notes]))
    entry = entry_of(event, outcome, previous, at=services.clock())
    recalled = _recalled(event, entry, kept) if services.policy.user_memory else Recalled()
    guidance = _guidance(event, entry, outcome.turn_preferences, recalled, services).model_copy(update={"cost": cost})
    observed = _observed(event, kept) if services.policy.user_memory else None
    return entry.model_copy(
        update={
            "event": guidance.to_json().decode(),
            "observed": observed.to_json().decode() if observed else "",
            "since": previous.since if previous else event.turn,
            "corrections": previous.corrections if previous else [],
            "correction_count": previous.correction_count if previous else 0,
        }
    )


def _observed(event: RoleExtracted, kept: _Kept) -> FeaturesObserved | None:
    """What the question asks to remember or to forget, how the user always wants to be answered, who they are not."""
    try:
        told = [*_stable(event), *_over(event, kept.features)]
    except Exception:  # a fault in the rules costs what they would have told of the user, and no answer
        log.exception("the rules of features failed", extra={"action": "rules_failed"})
        told = []
    wished = {subject_of(wish.slot) for wish in event.wishes}
    changes = [*event.wishes, *(change for change in told if subject_of(change.slot) not in wished)][:MAX_CHANGES]
    if not changes:
        return None
    return FeaturesObserved(
        user_id=event.user_id,
        observed_by="update-arbitration",
        source="CHAT_EXTRACT",
        record_time=event.record_time,
        said_at=event.said_at,
        conversation_id=event.conversation_id,
        question_id=event.question_id,
        turn=event.turn,
        changes=changes,
    )


def _stable(event: RoleExtracted) -> list[FeatureChange]:
    """The stable preferences as features; the plain words that ask for one are its quote, else the question's first."""
    if event.extraction is None:
        return []
    preferences, scopes = event.extraction.preferences, event.extraction.preference_scopes
    quotes = {wish.field: wish.quote for wish in asked_preferences(event.text)}
    return [
        FeatureChange(
            slot=field,
            value=getattr(preferences, name),
            content=rule_of(field, getattr(preferences, name), language_of(event.text)),
            category="PREFERENCE",
            quote=quotes.get(field, event.text)[:MAX_QUOTE],
        )
        for field, name in FIELDS.items()
        if getattr(scopes, name) == "stable"
    ]


def _over(event: RoleExtracted, features: Sequence[UserFeature]) -> list[FeatureChange]:
    """The facts that are over with what the question says, unless it asks to forget who the user is."""
    if event.extraction is None or any(map(forgets_who, event.wishes)):
        return []
    return facts_left(event.text[:_LONGEST], features, event.extraction)


async def _outcome(event: RoleExtracted, previous: TrackEntry | None, services: Services) -> tuple[Outcome, Cost]:
    """What is decided, and what learning from the turn has cost."""
    memory, cost = memory_of(previous) if previous else RoleMemory(), event.cost
    if event.extraction is None:
        return failed(memory, f"nothing could be learnt: {event.failure}"), cost
    try:
        extraction = _with_denials(event.extraction, event, memory)
        similarity, help_cost = await _similarity(memory, extraction, services)
        cost = _together(cost, help_cost)
        outcome = arbitrate(
            memory,
            extraction,
            question_id=event.question_id,
            turn=event.turn,
            similarity=similarity,
            threshold=services.policy.similarity_threshold,
        )
    except Exception as exc:  # a fault in the rules costs this turn's learning, and no answer
        log.exception("arbitration failed", extra={"action": "rules_failed"})
        outcome = failed(memory, f"nothing could be learnt: arbitration failed with {type(exc).__name__}")
    return outcome, cost


def _with_denials(extraction: Extraction, event: RoleExtracted, memory: RoleMemory) -> Extraction:
    """With what the user is known to be denied where that is asked to be forgotten, or is said to be over."""
    known = [identity.name for identity in memory.identities]
    text = event.text[:_LONGEST] if known else ""
    said, denials = with_plain_facts([], text, []), trades_left(text, known, extraction.states)
    for name in known:
        over = [wish for wish in event.wishes if forgets_who(wish)] or [fact for fact in said if ends(fact, name)]
        if over and over[0].quote:
            denials[name] = over[0].quote
    heard = (*extraction.states, *extraction.denies)
    denials = {name: quote for name, quote in denials.items() if name not in heard}
    if not denials:
        return extraction
    evidence = [Quote(quote=quote, supports=[name]) for name, quote in denials.items()]
    return extraction.model_copy(
        update={"denies": [*extraction.denies, *denials], "evidence": [*extraction.evidence, *evidence]}
    )


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
    event: RoleExtracted, entry: TrackEntry, asked: CommunicationPreferences, recalled: Recalled, services: Services
) -> GuidanceIssued:
    """What the turn issues; `asked` are the preferences for it alone."""
    preferences = preferences_in_force(entry, asked, recalled.preferences)
    for_this_turn = [field for field, name in FIELDS.items() if getattr(asked, name)]
    guidance = compose_guidance(entry, preferences, for_this_turn, event.text, recalled)
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
        features=guidance.features,
        summary=recalled.summary,
        skill=recalled.skill,
        text=guidance.text,
        guide_scope=services.policy.guide_scope,
    )


def _recalled(event: RoleExtracted, entry: TrackEntry, kept: _Kept) -> Recalled:
    return recall(
        kept.features,
        event.text,
        wishes=event.wishes,
        summary=kept.summary,
        turn=event.turn,
        denied=entry.denied_identities,
    )
