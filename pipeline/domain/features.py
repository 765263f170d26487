"""What an observation makes of a user's features: pure, and the same however often it is delivered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipeline.domain.feature_states import (
    Statement,
    begun,
    confirmed,
    deleted,
    is_forgotten,
    last_said,
    looked_at,
    noted,
    replaced,
    said,
    source_of,
    told_late,
)
from pipeline.domain.restating import hashes_of, restates
from pipeline.domain.slots import folded, is_meant, is_same, slot_of, subject_of
from schemas.events import derived_id
from schemas.features import MAX_FEATURES, MAX_HISTORY, MAX_SEEN, FeatureChange, UserFeature, is_by_hand
from schemas.memory_events import FeaturesObserved

#: Why a change has no effect, in plain words.
UNKNOWN = "there is no such feature"
DELETED = "it was deleted, and this is not later"
MOVED_ON = "the feature has moved on: read it again"
KEPT = "there is such a feature: leave it, or replace it"
BY_HAND = "it was set by hand"
LATE = "something later is known"
HEARD = "it has had its effect"
EMPTY = "it says nothing"
FULL = "there is no room"


@dataclass
class Merged:
    """What is to be written, and why some changes are not."""

    changed: list[UserFeature] = field(default_factory=list)
    """The features as they are to be, each one version on; of version 1 those that are new."""
    leaving: list[UserFeature] = field(default_factory=list)
    """Features as they are stored, for which there is no room."""
    skipped: list[str] = field(default_factory=list)
    """Why, for each change that has no effect."""
    done: tuple[str, int] | None = None
    """The id of the feature that a command changed, and its version then: now, or at the first delivery."""


def merge(
    features: Sequence[UserFeature], event: FeaturesObserved, *, now: datetime, stale: timedelta, key: str
) -> Merged:
    """What the event makes of all features of its user; what it forgets is what was known before it."""
    merging = _Merging(features, event, now, key)
    for change in event.changes:
        if change.operation == "FORGET":
            merging.forget(change)
    for change in _last_of_each(event.changes):
        merging.observe(change)
    for change in event.changes:
        if change.operation in ("STALE", "HOLDS"):
            merging.look_at(change, stale)
    return merging.result()


def _last_of_each(changes: Iterable[FeatureChange]) -> list[FeatureChange]:
    """What is observed, once a subject: the last word counts."""
    observed = [change for change in changes if change.operation == "OBSERVE"]
    return list({change.feature_id or subject_of(change.slot): change for change in observed}.values())


class _Merging:
    """One event on its way into the features of its user."""

    def __init__(self, features: Sequence[UserFeature], event: FeaturesObserved, now: datetime, key: str) -> None:
        self._stored = {feature.slot: feature for feature in features}
        self._after = dict(self._stored)
        self._event, self._now, self._key = event, now, key
        self._observed = {subject_of(one.slot) for one in event.changes if one.operation == "OBSERVE"}
        self._given_up: dict[str, list[UserFeature]] = {}
        self._merged = Merged()

    def forget(self, change: FeatureChange) -> None:
        """A model and a command name a slot or an id; words of the user's own mean whatever holds them, too."""
        found = self._found(change)
        targets = [found] if found else []
        if not found and self._event.observed_by == "update-arbitration":
            targets = [feature for feature in self._after.values() if is_meant(change.slot, feature)]
        for feature in targets:
            self._forget_one(feature, change)
        if not targets:
            self._skip(UNKNOWN)

    def _forget_one(self, feature: UserFeature, change: FeatureChange) -> None:
        at, proposed = said(self._event), self._event.observed_by == "feature-extraction"
        is_once = proposed or self._event.command_id is not None or subject_of(feature.slot) in self._observed
        if is_once and self._is_heard(feature):
            self._skip(HEARD)
        elif feature.status == "DELETED":
            if at > said(feature):  # what was said in between is forgotten, too
                moved = {"record_time": self._event.record_time, "said_at": self._event.said_at, "forgotten_until": at}
                version = self._next_version(feature)
                self._after[feature.slot] = feature.model_copy(update={**moved, "version": version})
            self._skip(UNKNOWN)
        elif not self._is_at(feature, change.version):
            self._skip(MOVED_ON)
        elif proposed and is_by_hand(feature.source):
            self._skip(BY_HAND)
        elif at < last_said(feature):
            self._skip(LATE)
        else:
            if proposed and change.quote:
                self._given_up.setdefault(change.quote, []).append(feature)
            self._put(deleted(feature, self._statement(change, feature), self._key))

    def observe(self, change: FeatureChange) -> None:
        """A new feature, the same again, or another value in its place."""
        known = self._found(change) or self._told_elsewhere(change)
        if not slot_of(change.slot) or not folded(change.value):
            self._skip(EMPTY)
        elif (known and self._is_heard(known) and not self._completes(known, change)) or self._is_said_already(change):
            self._skip(HEARD)
        elif known and (self._is_forgotten(known) or self._was_deleted(change)):
            self._skip(DELETED)
        elif known is None or known.status == "DELETED":
            self._begin(known, change)
        elif not self._is_at(known, change.version):
            self._skip(MOVED_ON if change.version else KEPT)
        elif is_same(known.value, change.value) or self._is_restated(known, change):
            self._put(confirmed(known, self._statement(change, known)))
        else:
            self._contradict(known, change)

    def _begin(self, known: UserFeature | None, change: FeatureChange) -> None:
        """A deleted feature comes back by a later statement, or by the one that replaces what it forgets."""
        if change.feature_id is not None or self._event.command_kind == "EDIT_FEATURE":
            self._skip(UNKNOWN)
        elif self._was_deleted(change):
            self._skip(DELETED)
        else:
            slot = known.slot if known else slot_of(change.slot)
            feature_id = known.feature_id if known else derived_id("feature", self._event.user_id, slot)
            self._put(self._taking_over(begun(feature_id, slot, self._statement(change, known), known), change))

    def _taking_over(self, feature: UserFeature, change: FeatureChange) -> UserFeature:
        """With what the same words give up for it in its history."""
        given_up = self._given_up.pop(change.quote, [])
        earlier = [was for old in given_up for was in replaced(old, self._statement(change, old)).history]
        history = sorted([*feature.history, *earlier], key=lambda was: was.until)[-MAX_HISTORY:]
        return feature.model_copy(update={"history": history}) if earlier else feature

    def _is_forgotten(self, known: UserFeature) -> bool:
        return known.slot in self._stored and is_forgotten(self._stored[known.slot], self._event)

    def _was_deleted(self, change: FeatureChange) -> bool:
        """Whether the same was deleted after it was said, from whatever slot and in other words, too."""
        marks = [one for one in self._stored.values() if one.deleted_hash and is_forgotten(one, self._event)]
        hashes = hashes_of(change, self._event.user_id, self._key) if marks else []
        return any(not set(hashes).isdisjoint(one.deleted_hash.split()) for one in marks)

    def _contradict(self, known: UserFeature, change: FeatureChange) -> None:
        """Another value takes the place of one that is neither set by hand nor later."""
        statement = self._statement(change, known)
        is_equal = statement.is_by_hand == is_by_hand(known.source)
        settled = said(known) if is_by_hand(known.source) else last_said(known)
        if is_equal and said(self._event) < settled:
            self._skip(LATE)
            if self._event.command_id is None:
                self._put(told_late(known, statement))
        elif is_equal or statement.is_by_hand:
            self._put(self._taking_over(replaced(known, statement), change))
        else:
            self._skip(BY_HAND)
            self._put(noted(known, statement))

    def look_at(self, change: FeatureChange, stale: timedelta) -> None:
        """The weekly check: of what nobody has said since, and of nothing that was set by hand."""
        known = self._found(change)
        if known is None or known.status == "DELETED":
            self._skip(UNKNOWN)
        elif is_by_hand(known.source):
            self._skip(BY_HAND)
        elif known.last_seen_time >= self._event.record_time - stale:
            self._skip(LATE)
        elif change.operation == "HOLDS" or known.status != "STALE":
            self._put(looked_at(known, self._statement(change, known)))

    def result(self) -> Merged:
        """Within the bounds: who leaves for want of room is told apart from what is changed."""
        for leaving in (*_least(self._after.values()), *_oldest_deleted(self._after.values())):
            del self._after[leaving.slot]
            stored = self._stored.get(leaving.slot)
            if stored:
                self._merged.leaving.append(stored)
            else:
                self._skip(FULL)
        changed = [feature for slot, feature in self._after.items() if feature is not self._stored.get(slot)]
        # What takes over the history of something goes first, so that a delivery that was cut short can be repeated.
        self._merged.changed = sorted(changed, key=lambda feature: feature.status == "DELETED")
        return self._merged

    def _found(self, change: FeatureChange) -> UserFeature | None:
        features = self._after.values()
        if change.feature_id is not None:
            return next((one for one in features if one.feature_id == change.feature_id), None)
        known = self._after.get(slot_of(change.slot))
        return known or next((one for one in features if subject_of(one.slot) == subject_of(change.slot)), None)

    def _is_restated(self, known: UserFeature, change: FeatureChange) -> bool:
        """A command means the very words that it gives."""
        return self._event.command_id is None and restates(known, change)

    def _completes(self, known: UserFeature, change: FeatureChange) -> bool:
        """Whether a turn that has only denied the value before says what is so instead."""
        is_of_turn = [seen.question_id for seen in known.evidence] == [self._event.question_id]
        return is_of_turn and bool(known.history) and _only_denies(known.value, known.history[-1].value, change.value)

    def _told_elsewhere(self, change: FeatureChange) -> UserFeature | None:
        """What says the same under another name."""
        return next((one for one in self._alive() if self._is_restated(one, change)), None)

    def _is_said_already(self, change: FeatureChange) -> bool:
        """Whether this turn has said it before under whatever name, be it of a value that has changed since."""
        if self._event.command_id is not None:
            return False
        for one in self._alive():
            if self._is_heard(one) or any(heard.source == source_of(self._event) for heard in one.heard):
                earlier = (one.model_copy(update={"value": was.value, "content": was.content}) for was in one.history)
                if any(self._is_restated(said, change) for said in (one, *earlier)):
                    return True
        return False

    def _alive(self) -> list[UserFeature]:
        return [one for one in self._after.values() if one.status != "DELETED"]

    def _is_at(self, feature: UserFeature, version: int | None) -> bool:
        stored = self._stored.get(feature.slot)
        return version is None or (stored is not None and stored.version == version)

    def _is_heard(self, feature: UserFeature) -> bool:
        """Whether it has had its effect before; so has what is older than all that a full list holds."""
        heard = self._stored[feature.slot].heard if feature.slot in self._stored else []
        found = next((one for one in heard if one.source == source_of(self._event)), None)
        if found:
            self._merged.done = (feature.feature_id, found.version)
        return found is not None or (len(heard) == MAX_SEEN and self._event.record_time <= heard[0].record_time)

    def _statement(self, change: FeatureChange, known: UserFeature | None) -> Statement:
        return Statement(self._event, change, self._next_version(known), self._now)

    def _next_version(self, known: UserFeature | None) -> int:
        stored = self._stored.get(known.slot) if known else None
        return stored.version + 1 if stored else 1

    def _put(self, feature: UserFeature) -> None:
        self._after[feature.slot] = feature
        self._merged.done = (feature.feature_id, feature.version)

    def _skip(self, reason: str) -> None:
        self._merged.skipped.append(reason)


def _only_denies(value: str, before: str, after: str) -> bool:
    """Whether a value says no more than that the one before it is over, and the next one says something else."""
    denied = value.removeprefix("not ").removeprefix("不是")
    return denied != value and denied in before and not after.startswith(value[: -len(denied)])


def _least(features: Iterable[UserFeature]) -> list[UserFeature]:
    """Who leaves for want of room: what was set by hand last, before it what was said last of all."""
    alive = [feature for feature in features if feature.status != "DELETED"]
    latest = max((feature.last_seen_time for feature in alive), default=None)

    def rank(feature: UserFeature) -> tuple[bool, bool, int, datetime, str]:
        seen = feature.last_seen_time
        return is_by_hand(feature.source), seen == latest, feature.confidence, seen, feature.slot

    return sorted(alive, key=rank)[: max(len(alive) - MAX_FEATURES, 0)]


def _oldest_deleted(features: Iterable[UserFeature]) -> list[UserFeature]:
    """As many marks of deleted features are kept as features."""
    marks = sorted((one for one in features if one.status == "DELETED"), key=lambda one: (one.record_time, one.slot))
    return marks[: max(len(marks) - MAX_FEATURES, 0)]
