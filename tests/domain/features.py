"""Short ways to say what is kept of a user."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from pipeline.domain.features import Merged
from schemas.features import UserFeature
from tests.processors.factories import NOW


def kept(slot: str, value: str, content: str = "", *, days: float = 0, **changes: Any) -> UserFeature:
    """An active fact, seen so many days after the first."""
    seen = NOW + timedelta(days=days)
    fields = {
        "featureId": slot,
        "userId": "u",
        "slot": slot,
        "value": value,
        "content": content,
        "category": "OTHER",
        "source": "CHAT_EXTRACT",
        "createTime": NOW,
        "updateTime": seen,
        "lastSeenTime": seen,
        "recordTime": seen,
    }
    return UserFeature.model_validate(fields | changes)


def written(features: Iterable[UserFeature], merged: Merged) -> list[UserFeature]:
    """All features once what was merged is stored."""
    gone = {feature.slot for feature in merged.leaving}
    stored = {feature.slot: feature for feature in (*features, *merged.changed)}
    return [feature for slot, feature in stored.items() if slot not in gone]
