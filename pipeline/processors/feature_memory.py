"""Feature memory: the one writer of what is known about a user, and of the profile that comes of it."""

import logging
from collections.abc import Sequence
from datetime import datetime

from pipeline.domain.features import HEARD, KEPT, MOVED_ON, UNKNOWN, Merged, merge
from pipeline.domain.profile import render_profile, with_left
from pipeline.domain.relevance import as_known
from pipeline.domain.staleness import by_user, looked_at, week_of
from pipeline.domain.summary import without_fact
from pipeline.errors import AlreadyStored, ModelFailed, RolestreamError
from pipeline.processing import Output, Record, Services
from schemas.features import UserFeature, UserProfile
from schemas.memory_events import CommandDone, CommandKind, FeaturesObserved, Refusal
from schemas.wire import UserId

log = logging.getLogger(__name__)

#: How often a merge is tried while somebody else writes the same features.
_TRIES = 20
_REFUSALS: dict[str, Refusal] = {UNKNOWN: "UNKNOWN", MOVED_ON: "OUTDATED", KEPT: "OUTDATED"}


async def handle(event: FeaturesObserved, record: Record, services: Services) -> Sequence[Output]:
    """Merge an event into its user's features, once however often it comes, and render the profile.

    Raises RolestreamError where others keep on writing the same features.
    """
    for _ in range(_TRIES):
        stored = await services.features.features(event.user_id)
        policy = services.policy
        merged = merge(stored, event, now=services.clock(), stale=policy.stale, key=policy.key)
        await _out_of_summaries(stored, merged, services)
        if await _written(merged, {feature.slot: feature.version for feature in stored}, services):
            break
    else:
        raise RolestreamError(f"the features were written by others {_TRIES} times in a row: replay this record")
    await _render(event.user_id, services)
    _tell(event, merged)
    if event.command_id is None or event.command_kind is None:
        return []
    return [_receipt(event, event.command_id, event.command_kind, merged)]


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


async def _out_of_summaries(stored: Sequence[UserFeature], merged: Merged, services: Services) -> None:
    """What is deleted goes first from the summaries of the conversations that it was said in: no other tells it."""
    deleted = {feature.slot for feature in merged.changed if feature.status == "DELETED"}
    for fact in (feature for feature in stored if feature.value and feature.slot in deleted):
        earlier = (one.conversation_id for one in fact.history)
        said_in = {fact.source_conversation_id, *(one.conversation_id for one in fact.evidence), *earlier}
        for name in filter(None, said_in):
            while (conversation := await services.store.conversation(name)) and (summary := conversation.summary):
                left = without_fact(summary, fact)
                if left == summary or conversation.user_id != fact.user_id:
                    break
                await services.store.put_summary(name, left, after=summary.turn)


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


def _receipt(event: FeaturesObserved, command_id: str, kind: CommandKind, merged: Merged) -> CommandDone:
    """The same for every delivery, so that its time is the command's."""
    refused = next((reason for reason in merged.skipped if reason != HEARD), "")
    feature_id, version = merged.done if merged.done and not refused else (None, None)
    return CommandDone(
        user_id=event.user_id,
        command_id=command_id,
        kind=kind,
        status="refused" if refused else "done",
        reason=refused,
        refusal=_REFUSALS.get(refused),
        feature_id=feature_id,
        version=version,
        time=event.record_time,
    )


async def check_stale(services: Services, limit: int = 200) -> list[FeaturesObserved]:
    """What a week's check says of features long unconfirmed: about `limit` of them, the longest unseen first.

    A user whose features the model could not look at is left for the next time, and others come in their place.
    """
    week = week_of(services.clock())
    events, failures, asked = list[FeaturesObserved](), list[ModelFailed](), list[UserId]()
    failed_before = -1
    while len(failures) > failed_before and len(asked) < limit:
        failed_before = len(failures)
        unconfirmed = await services.features.unconfirmed_features(week - services.policy.stale, limit, without=asked)
        for user_id, features in by_user(unconfirmed).items():
            asked.append(user_id)
            try:
                events.append(await _looked_at(user_id, features, week, services))
            except ModelFailed as exc:
                failures.append(exc)
    if failures:
        told = {"action": "check_failed", "count": len(failures)}
        log.warning("the weekly check could not ask for %s users: %s", len(failures), failures[0], extra=told)
    return events


async def _looked_at(
    user_id: UserId, features: Sequence[UserFeature], week: datetime, services: Services
) -> FeaturesObserved:
    """Raises ModelFailed, also where the reply cannot be read."""
    known = [as_known(feature) for feature in features]
    proposal = await services.model.still_hold(known, services.policy.stale.days)
    event = looked_at(user_id, features, proposal.content, week)
    if event is None:
        raise ModelFailed("the model's reply holds no list that could be read", proposal.cost.model_dump())
    return event.model_copy(update={"cost": proposal.cost})
