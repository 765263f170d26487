"""Feature memory: the one writer of what is known about a user, and of the profile that comes of it."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from pipeline.domain.features import HEARD, Merged, merge
from pipeline.domain.profile import render_profile, with_left
from pipeline.domain.staleness import as_known, by_user, looked_at, week_of
from pipeline.errors import AlreadyStored, ModelFailed, RolestreamError
from pipeline.ports import Output, Record, Services
from schemas.features import UserFeature, UserProfile
from schemas.memory_events import CommandDone, CommandKind, FeaturesObserved
from schemas.wire import UserId

log = logging.getLogger(__name__)

#: How often a merge is tried while somebody else writes the same features.
_TRIES = 20
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


async def handle(event: FeaturesObserved, record: Record, services: Services) -> Sequence[Output]:
    """Merge an event into its user's features, once however often it comes, and render the profile.

    Raises RolestreamError where others keep on writing the same features.
    """
    for _ in range(_TRIES):
        stored = await services.features.features(event.user_id)
        policy = services.policy
        merged = merge(stored, event, now=services.clock(), stale=policy.stale, key=policy.key)
        if await _written(merged, {feature.slot: feature.version for feature in stored}, services):
            break
    else:
        raise RolestreamError(f"the features were written by others {_TRIES} times in a row: replay this record")
    await _render(event.user_id, services)
    _tell(event, merged)
    return [_receipt(event, event.command_id, merged)] if event.command_id else []


async def _written(merged: Merged, versions: dict[str, int], services: Services) -> bool:
    """Whether all of it could be written on the versions that it was made of; who leaves is noted, and leaves first."""
    if merged.leaving:
        await _note_leaving(merged.leaving, services)
    for feature in merged.leaving:
        if not await services.features.remove_feature(feature):
            return False
    for feature in merged.changed:
        if feature.slot in versions:
            if not await services.features.replace_feature(feature, versions[feature.slot]):
                return False
            continue
        try:
            await services.features.add_feature(feature)
        except AlreadyStored:
            return False
    return True


async def _note_leaving(leaving: Sequence[UserFeature], services: Services) -> None:
    told = {"action": "features_left", "count": len(leaving)}
    log.warning("%s features of a user leave for want of room", len(leaving), extra=told)
    user_id, now = leaving[0].user_id, services.clock()
    previous = await services.features.profile(user_id)
    known = previous or UserProfile(user_id=user_id, update_time=now, record_time=leaving[0].record_time)
    noted = with_left(known, leaving)
    if noted is not known:
        await services.features.put_profile(noted)


async def _render(user_id: UserId, services: Services) -> None:
    """Until the profile says what the features say: somebody else may have written either meanwhile."""
    while True:
        features = await services.features.features(user_id)
        previous = await services.features.profile(user_id)
        profile = render_profile(user_id, features, previous, services.clock())
        if profile is None or profile is previous:
            return
        await services.features.put_profile(profile)


def _tell(event: FeaturesObserved, merged: Merged) -> None:
    """How many changes had no effect, by the reason."""
    for reason in sorted({reason for reason in merged.skipped if reason != HEARD}):
        told = {"action": "feature_skipped", "reason": reason, "count": merged.skipped.count(reason)}
        log.info("features of %s: %s changes skipped: %s", event.observed_by, told["count"], reason, extra=told)


def _receipt(event: FeaturesObserved, command_id: str, merged: Merged) -> CommandDone:
    """The same for every delivery, so that its time is the command's."""
    refused = next((reason for reason in merged.skipped if reason != HEARD), "")
    feature_id, version = merged.done if merged.done and not refused else (None, None)
    return CommandDone(
        user_id=event.user_id,
        command_id=command_id,
        kind=event.command_kind or _kind(event),
        status="refused" if refused else "done",
        reason=refused,
        feature_id=feature_id,
        version=version,
        time=event.record_time,
    )


def _kind(event: FeaturesObserved) -> CommandKind:
    """What was commanded, as far as the changes tell."""
    change = event.changes[0] if event.changes else None
    if change and change.operation == "FORGET":
        return "DELETE_FEATURE"
    return "EDIT_FEATURE" if change and (change.feature_id or change.version) else "ADD_FEATURE"


async def check_stale(services: Services, limit: int = 200) -> list[FeaturesObserved]:
    """What a week's check says of features long unconfirmed: at most `limit` of them, the longest unseen first.

    A user whose features the model could not look at is left for the next time.
    """
    week = week_of(services.clock())
    unconfirmed = await services.features.unconfirmed_features(_BEGINNING, week - services.policy.stale, limit)
    events = []
    for user_id, features in by_user(unconfirmed).items():
        known = [as_known(feature) for feature in features]
        try:
            proposal = await services.model.still_hold(known, services.policy.stale.days)
        except ModelFailed as exc:
            log.warning("the weekly check could not ask: %s", exc, extra={"action": "check_failed"})
            continue
        event = looked_at(user_id, features, proposal.content, week)
        events.append(event.model_copy(update={"cost": proposal.cost}))
    return events
