"""A user's profile: what their features come to."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pipeline.domain.slots import ANSWERING, SKILL, TARGET
from schemas.features import MAX_HISTORY, Left, UserFeature, UserProfile, is_by_hand
from schemas.wire import UserId

#: The most preferences of a profile: those set by hand first, then the surest, then the newest.
MAX_PREFERENCES = 100


def render_profile(
    user_id: UserId, features: Iterable[UserFeature], previous: UserProfile | None, now: datetime
) -> UserProfile | None:
    """What is active, the newest of each; the previous profile itself where it says the same, None for nothing at all.

    `previous` lends the list of what left for want of room.
    """
    known = sorted(features, key=lambda feature: (feature.record_time, feature.slot))
    if not known and previous is None:
        return None
    active = [feature for feature in known if feature.status == "ACTIVE"]
    values = {feature.slot: feature.value for feature in active}
    fields = {
        "skill": values.get(SKILL, ""),
        "target": values.get(TARGET, ""),
        "preferences": {feature.slot: feature.value for feature in _preferences(active)},
        "record_time": max([feature.record_time for feature in known], default=previous and previous.record_time),
    }
    if previous and fields == {name: getattr(previous, name) for name in fields}:
        return previous
    left = previous.left if previous else []
    return UserProfile.model_validate({"user_id": user_id, **fields, "left": left, "update_time": now})


def with_left(profile: UserProfile, leaving: Iterable[UserFeature]) -> UserProfile:
    """The profile with a note of what leaves, once however often it is told."""
    notes = [
        Left(slot=feature.slot, confidence=feature.confidence, last_seen_time=feature.last_seen_time)
        for feature in leaving
        if feature.status != "DELETED"
    ]
    new = [note for note in notes if note not in profile.left]
    return profile.model_copy(update={"left": [*profile.left, *new][-MAX_HISTORY:]}) if new else profile


def _preferences(active: Iterable[UserFeature]) -> Sequence[UserFeature]:
    preferred = [
        feature
        for feature in active
        if feature.slot in ANSWERING or (feature.category == "PREFERENCE" and feature.slot not in (SKILL, TARGET))
    ]
    if len(preferred) <= MAX_PREFERENCES:
        return preferred

    def rank(feature: UserFeature) -> tuple[bool, int, datetime, str]:
        return is_by_hand(feature.source), feature.confidence, feature.record_time, feature.slot

    return sorted(preferred, key=rank)[-MAX_PREFERENCES:]
