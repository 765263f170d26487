"""What one statement makes of one feature: begun, confirmed, replaced, told late, deleted; all bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.domain.restating import hashes_of
from pipeline.domain.slots import fuller_of, meaning_of
from schemas.features import MAX_HISTORY, MAX_SEEN, Earlier, FeatureChange, Heard, Seen, UserFeature, is_by_hand
from schemas.memory_events import FeaturesObserved
from schemas.role import MAX_QUOTE

_OVERTAKEN = "something else was said later"
_OVERRULED = "something else was set by hand"


@dataclass(frozen=True)
class Statement:
    """One change of an event, and the version of the feature that it makes."""

    event: FeaturesObserved
    change: FeatureChange
    version: int
    now: datetime

    @property
    def is_by_hand(self) -> bool:
        return is_by_hand(self.event.source)

    @property
    def seen(self) -> list[Seen]:
        """The turn as evidence; none where it is a command."""
        event, change = self.event, self.change
        if event.conversation_id is None or event.question_id is None:
            return []
        quote = (change.quote or change.content or change.value)[:MAX_QUOTE]
        return [
            Seen(
                conversation_id=event.conversation_id,
                question_id=event.question_id,
                quote=quote,
                record_time=event.record_time,
                said_at=event.said_at,
            )
        ]


def source_of(event: FeaturesObserved) -> str:
    """By which a turn or a command is known: whoever observes one turn, it is heard once."""
    return event.command_id or event.question_id or event.event_id


def said(one: FeaturesObserved | UserFeature | Seen) -> datetime:
    """When it was said: at its record, or before it where an old conversation was taken in."""
    return min(one.said_at or one.record_time, one.record_time)


def is_forgotten(mark: UserFeature, event: FeaturesObserved) -> bool:
    """Whether the feature was deleted after it was said; what a model deleted holds for no hand."""
    is_overruled = is_by_hand(event.source) and not is_by_hand(mark.source)
    return mark.forgotten_until is not None and said(event) <= mark.forgotten_until and not is_overruled


def last_said(feature: UserFeature) -> datetime:
    """When the present value was last said."""
    return max([said(feature), *(said(seen) for seen in feature.evidence[-1:])])


def begun(feature_id: str, slot: str, statement: Statement, mark: UserFeature | None = None) -> UserFeature:
    """A new feature, also in the place of a deleted one, whose mark still holds for what is older."""
    event, change = statement.event, statement.change
    return UserFeature(
        feature_id=feature_id,
        user_id=event.user_id,
        slot=slot,
        value=change.value,
        content=change.content,
        category=change.category,
        source=event.source,
        source_conversation_id=event.conversation_id,
        evidence=statement.seen,
        heard=_with_heard(mark.heard if mark else [], statement),
        version=statement.version,
        create_time=statement.now,
        update_time=statement.now,
        last_seen_time=said(event),
        record_time=event.record_time,
        said_at=event.said_at,
        forgotten_until=mark.forgotten_until if mark else None,
        deleted_hash=mark.deleted_hash if mark else "",
    )


def confirmed(known: UserFeature, statement: Statement) -> UserFeature:
    """The same again: the value stays in the words in which it was first said, unless they are fuller now."""
    event, change = statement.event, statement.change
    changes: dict[str, Any] = {
        "confidence": known.confidence + (event.command_id is None),
        "evidence": sorted([*known.evidence, *statement.seen], key=said)[-MAX_SEEN:],
        "last_seen_time": max(known.last_seen_time, said(event)),
    }
    if said(event) >= known.last_seen_time:
        changes["status"] = "ACTIVE"
    if said(event) >= last_said(known) and (statement.is_by_hand or not is_by_hand(known.source)):
        value = fuller_of(known.value, change.value)
        is_first = bool(known.content) and value == known.value and not statement.is_by_hand
        content = known.content if is_first else change.content or known.content
        changes |= {"value": value, "content": content, "category": _category(known, change)}
    if statement.is_by_hand:
        at = max(known.record_time, event.record_time)
        changes |= {"source": event.source, "record_time": at, "said_at": event.said_at}
    return _changed(known, statement, **changes)


def replaced(known: UserFeature, statement: Statement) -> UserFeature:
    """Another value in its place; what was there stays in the history."""
    event, change = statement.event, statement.change
    earlier = Earlier(
        value=known.value,
        content=known.content,
        source=known.source,
        conversation_id=known.source_conversation_id,
        until=said(event),
        reason=_OVERRULED if statement.is_by_hand else _OVERTAKEN,
    )
    return _changed(
        known,
        statement,
        value=change.value,
        content=change.content,
        category=_category(known, change),
        source=event.source,
        status="ACTIVE",
        confidence=1,
        source_conversation_id=event.conversation_id,
        evidence=statement.seen,
        history=_bounded([*known.history, earlier]),
        last_seen_time=max(known.last_seen_time, said(event)),
        record_time=max(known.record_time, event.record_time) if statement.is_by_hand else event.record_time,
        said_at=event.said_at,
    )


def told_late(known: UserFeature, statement: Statement) -> UserFeature:
    """With what was said before the present value, and is heard of after it, in the history."""
    event, change = statement.event, statement.change
    began = said(known.evidence[0] if known.evidence else known)
    until = min([one.until for one in known.history if one.until > said(event)], default=began)
    late = Earlier(
        value=change.value,
        content=change.content,
        source=event.source,
        conversation_id=event.conversation_id,
        until=until,
        reason=_OVERTAKEN,
    )
    told = {(meaning_of(one.value), one.until) for one in known.history}
    history = known.history if (meaning_of(late.value), until) in told else _bounded([*known.history, late])
    return _changed(known, statement, history=history)


def noted(known: UserFeature, statement: Statement) -> UserFeature:
    """As it is, but that this was heard."""
    return _changed(known, statement)


def deleted(known: UserFeature, statement: Statement, key: str) -> UserFeature:
    """What is left keeps old messages from teaching it again, and commands from having their effect twice.

    Its source says who deleted it: the user's own words are as good as a hand.
    """
    proposed = statement.event.observed_by == "feature-extraction"
    emptied = _changed(
        known,
        statement,
        value="",
        content="",
        category="OTHER",
        source=statement.event.source if proposed or statement.is_by_hand else "MANUAL",
        status="DELETED",
        confidence=1,
        source_conversation_id=None,
        evidence=[],
        history=[],
        record_time=statement.event.record_time,
        said_at=statement.event.said_at,
        forgotten_until=said(statement.event),
        deleted_hash=" ".join(_hashes(known, key)),
    )
    return emptied.model_copy(update={"heard": [heard for heard in emptied.heard if heard.is_command]})


def _hashes(known: UserFeature, key: str) -> list[str]:
    """Of the value and of those before it, and of what they are about, each once."""
    earlier = (known.model_copy(update={"value": one.value, "content": one.content}) for one in known.history)
    hashes = (hashes_of(fact, known.user_id, key) for fact in (known, *earlier))
    return list(dict.fromkeys(hash_ for found in hashes for hash_ in (found[0], found[-1])))


def looked_at(known: UserFeature, statement: Statement) -> UserFeature:
    """Stale, or by the weekly check as good as said again."""
    if statement.change.operation == "HOLDS":
        changes: dict[str, Any] = {"status": "ACTIVE", "last_seen_time": statement.event.record_time}
    else:
        changes = {"status": "STALE"}
    return known.model_copy(update={**changes, "version": statement.version, "update_time": statement.now})


def _changed(known: UserFeature, statement: Statement, **changes: Any) -> UserFeature:
    changes |= {"version": statement.version, "update_time": statement.now}
    return known.model_copy(update={"heard": _with_heard(known.heard, statement), **changes})


def _with_heard(known: Sequence[Heard], statement: Statement) -> list[Heard]:
    event = statement.event
    heard = Heard(
        source=source_of(event),
        is_command=event.command_id is not None,
        record_time=event.record_time,
        version=statement.version,
    )
    others = [one for one in known if one.source != heard.source]
    return sorted([*others, heard], key=lambda one: one.record_time)[-MAX_SEEN:]


def _category(known: UserFeature, change: FeatureChange) -> str:
    return known.category if change.category == "OTHER" else change.category


def _bounded(history: Sequence[Earlier]) -> list[Earlier]:
    return sorted(history, key=lambda earlier: earlier.until)[-MAX_HISTORY:]
