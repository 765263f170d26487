"""The weekly look at what nobody has said for long: the same for every worker within one week."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pipeline.domain.slots import subject_of
from pipeline.ports import Json
from schemas.features import MAX_CHANGES, FeatureChange, FeatureOperation, UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.wire import UserId


def week_of(now: datetime) -> datetime:
    """When the week began: Monday, midnight."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=now.weekday())


def by_user(features: Iterable[UserFeature]) -> dict[UserId, list[UserFeature]]:
    """What is to be looked at of each user, as many as one event holds, in the order of their slots."""
    users: dict[UserId, list[UserFeature]] = {}
    for feature in sorted(features, key=lambda feature: (feature.user_id, feature.slot)):
        users.setdefault(feature.user_id, []).append(feature)
    return {user_id: theirs[:MAX_CHANGES] for user_id, theirs in users.items()}


def looked_at(
    user_id: UserId, features: Sequence[UserFeature], proposal: Json, week: datetime
) -> FeaturesObserved | None:
    """What holds by the model's word, and what is stale: all else; None where it said nothing that can be read."""
    said = proposal.get("holds") if isinstance(proposal, dict) else None
    if not isinstance(said, list):
        return None
    holds = {subject_of(slot) for slot in said if isinstance(slot, str)}

    def change(feature: UserFeature) -> FeatureChange:
        operation: FeatureOperation = "HOLDS" if subject_of(feature.slot) in holds else "STALE"
        return FeatureChange(operation=operation, slot=feature.slot)

    return FeaturesObserved(
        user_id=user_id,
        observed_by="weekly-check",
        source="SYSTEM",
        record_time=week,
        changes=[change(feature) for feature in features],
    )
