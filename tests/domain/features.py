"""Short ways to say what is kept of a user."""

from datetime import timedelta
from typing import Any

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
