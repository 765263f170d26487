"""Changes of mind of public data, HaluMem's, given to feature memory: what is known after each, and its history.

Each like or dislike has a slot of its own: its kind and its place in the list. A change is clean where what it says was
there before is what the data's earlier changes left there; the others are given all the same, and not counted.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.domain.features import merge
from pipeline.domain.slots import slot_of
from schemas.features import MAX_CONTENT, MAX_HISTORY, FeatureChange, FeatureOperation, UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.wire import ConversationId, QuestionId, UserId
from tests.domain.features import written
from tests.measures.public_data import Missing

PREFERENCES, CHANGES = "stage1_3_preferences.jsonl", "stage3_2_preference_events.jsonl"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_POLICY: dict[str, Any] = {"stale": timedelta(days=90), "key": "measure"}

#: A like or dislike as the data has it: type, specific_item, reason.
Point = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One clean change, and what is wrong after it; nothing where all is as it should be."""

    user: str
    number: int
    direction: str
    wrong: str


@dataclass
class _Expected:
    """What is to be known of one slot, by counting on paper."""

    value: str = ""
    history: list[str] = field(default_factory=list)

    def say(self, value: str) -> None:
        if self.value and self.value != value:
            self.history = [*self.history, self.value][-MAX_HISTORY:]
        self.value = value

    def forget(self) -> None:
        self.value, self.history = "", []


def results(folder: Path) -> Iterator[Result]:
    """Every clean change of every user, in the order of the data; raises Missing where a file is not there."""
    started, changed = _lines(folder, PREFERENCES), _lines(folder, CHANGES)
    for user, changes in zip(started, changed, strict=True):
        points = {kind: group["memory_points"] for kind, group in user["profile"]["preferences"].items()}
        yield from _of_user(user["uuid"], points, changes["event_list"])


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    found = sorted(folder.rglob(name))
    if not found:
        raise Missing(f"no {name} in {folder}: get HaluMem, huggingface.co/datasets/IAAR-Shanghai/HaluMem")
    return [json.loads(line) for line in found[0].read_text(encoding="utf-8").splitlines() if line.strip()]


def _of_user(user: str, points: dict[str, list[Point]], changes: list[dict[str, Any]]) -> Iterator[Result]:
    items: dict[str, str] = {}
    expected: dict[str, _Expected] = {}
    features: list[UserFeature] = []
    turn = 0
    for kind, listed in points.items():
        for place, point in enumerate(listed):
            turn, slot = turn + 1, slot_of(f"{kind} {place}")
            items[slot] = point["specific_item"]
            expected.setdefault(slot, _Expected()).say(_value(point))
            features = _after(features, _observed(user, turn, "OBSERVE", slot, point))
    for number, change in enumerate(changes, 1):
        (before,), (point,) = (change[name]["memory_points"] for name in ("before_preference", "after_preference"))
        turn, slot = turn + 1, slot_of(f"{change['type_to_update']} {change['changed_index']}")
        is_clean = items.get(slot) == before["specific_item"]
        items[slot] = point["specific_item"]
        operation: FeatureOperation = "FORGET" if change["update_direction"] == "Delete" else "OBSERVE"
        if operation == "FORGET":
            expected.setdefault(slot, _Expected()).forget()
        else:
            expected.setdefault(slot, _Expected()).say(_value(point))
        features = _after(features, _observed(user, turn, operation, slot, point))
        if is_clean:
            yield Result(user, number, change["update_direction"], _wrong(features, expected, slot))


def _value(point: Point) -> str:
    return f"{point['type']}s {point['specific_item']}"


def _observed(user: str, turn: int, operation: FeatureOperation, slot: str, point: Point) -> FeaturesObserved:
    """The turn that says so, as feature extraction would have read it."""
    change = FeatureChange(
        operation=operation,
        slot=slot,
        value=_value(point),
        content=point["reason"][:MAX_CONTENT],
        category="PREFERENCE",
    )
    return FeaturesObserved(
        user_id=UserId(user),
        observed_by="feature-extraction",
        source="CHAT_EXTRACT",
        record_time=_START + timedelta(minutes=turn),
        conversation_id=ConversationId("halumem"),
        question_id=QuestionId(f"q{turn}"),
        turn=turn,
        changes=[change],
    )


def _after(features: list[UserFeature], event: FeaturesObserved) -> list[UserFeature]:
    """Delivered twice, as may happen."""
    for _ in range(2):
        features = written(features, merge(features, event, now=event.record_time, **_POLICY))
    return features


def _wrong(features: list[UserFeature], expected: dict[str, _Expected], slot: str) -> str:
    """What of the user is not as it should be; of the changed slot its history, too."""
    active = {feature.slot: feature for feature in features if feature.status == "ACTIVE"}
    values = {name: feature.value for name, feature in active.items()}
    if values != {name: one.value for name, one in expected.items() if one.value}:
        return f"{slot}: {values.get(slot)!r} instead of {expected[slot].value!r}, or another slot has changed"
    history = [earlier.value for earlier in active[slot].history] if slot in active else []
    return "" if history == expected[slot].history else f"{slot}: history {history} of {expected[slot].history}"
