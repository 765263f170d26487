"""Short ways to say what is kept of a user, and what is observed of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from pipeline.domain.features import Merged, merge
from schemas.features import FeatureChange, UserFeature
from schemas.memory_events import FeaturesObserved
from tests.processors.factories import NOW

STALE = timedelta(days=90)
LONG_AGO = NOW - timedelta(days=2000)


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


def says(slot: str, value: str, content: str = "", **changes: Any) -> FeatureChange:
    return FeatureChange.model_validate({"slot": slot, "value": value, "content": content, **changes})


def forgets(words: str, **changes: Any) -> FeatureChange:
    return FeatureChange.model_validate({"operation": "FORGET", "slot": words, **changes})


def turn(number: int, *changes: FeatureChange, by: str = "feature-extraction", **fields: Any) -> FeaturesObserved:
    """What the turn of that number, asked so many minutes after the first, was observed to say."""
    return FeaturesObserved.model_validate(
        {
            "userId": "u",
            "observedBy": by,
            "source": "CHAT_EXTRACT",
            "recordTime": NOW + timedelta(minutes=number),
            "conversationId": "c",
            "questionId": f"q{number}",
            "turn": max(number, 1),
            "changes": list(changes),
            **fields,
        }
    )


def wish(number: int, *changes: FeatureChange) -> FeaturesObserved:
    """What the user asked for outright."""
    return turn(number, *changes, by="update-arbitration")


def command(number: int, *changes: FeatureChange, source: str = "MANUAL", **fields: Any) -> FeaturesObserved:
    is_edit = any(change.feature_id or change.version for change in changes)
    kind = "DELETE_FEATURE" if changes[0].operation == "FORGET" else "EDIT_FEATURE" if is_edit else "ADD_FEATURE"
    origin = {"conversationId": None, "questionId": None, "turn": None, "commandId": f"m{number}", "source": source}
    return turn(number, *changes, by="memory-commands", **{**origin, "commandKind": kind, **fields})


def check(at: datetime, *changes: FeatureChange) -> FeaturesObserved:
    origin = {"conversationId": None, "questionId": None, "turn": None, "source": "SYSTEM", "recordTime": at}
    return turn(1, *changes, by="weekly-check", **origin)


def imported(number: int, *changes: FeatureChange, days: int = 0, by: str = "feature-extraction") -> FeaturesObserved:
    """A turn of an old conversation, taken in so many minutes after the first turn, and said so many days later."""
    return turn(number, *changes, by=by, saidAt=LONG_AGO + timedelta(days=days), conversationId="old")


def merged(features: Sequence[UserFeature], event: FeaturesObserved) -> Merged:
    return merge(features, event, now=NOW, stale=STALE, key="key")


def after(*events: FeaturesObserved, known: Sequence[UserFeature] = ()) -> dict[str, UserFeature]:
    """The features after the events, by slot."""
    features = list(known)
    for event in events:
        features = written(features, merged(features, event))
    return {feature.slot: feature for feature in features}


def values(features: dict[str, UserFeature]) -> dict[str, str]:
    return {slot: feature.value for slot, feature in features.items() if feature.status != "DELETED"}


LOW, NO = says("milk", "low sugar"), says("milk", "no sugar")
