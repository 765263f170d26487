"""A worker that kills itself at one point of one processor, the first time it gets there.

`python -m tests.crashing_worker PROCESSOR POINT MARKER`: settings from the environment; MARKER is a file that says
the kill has happened, so that the next start runs on.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymongo import monitoring

from pipeline import bootstrap
from pipeline.ports import (
    AnswerRequest,
    FeatureStore,
    Model,
    Origin,
    Proposal,
    Publisher,
    Reply,
    Said,
    Store,
    Tombstones,
)
from pipeline.settings import load_settings
from schemas.documents import Message, StoredExtraction
from schemas.events import AnswerReady, DeadLetter, GuidanceIssued, RoleExtracted, TurnLogged
from schemas.features import KnownFeature, Summary, UserFeature, UserProfile
from schemas.memory_events import CommandDone, FeaturesObserved
from schemas.role import TrackEntry
from schemas.wire import ConversationId, Wire

POINTS = ("before-store", "after-store", "after-publish", "before-commit", "during-model-call")
PUBLISHES: dict[str, type[Wire]] = {
    "conversation-logging": TurnLogged,
    "role-extraction": RoleExtracted,
    "update-arbitration": GuidanceIssued,
    "report-generation": AnswerReady,
}
#: Who answers a command is told by what it was about.
_OF_FEATURES = ("ADD_FEATURE", "EDIT_FEATURE", "DELETE_FEATURE")
#: How long into a model call the kill comes, in seconds.
INTO_THE_CALL = 0.05
#: The acknowledgement of what is done follows in the same turn of the loop, Faust's commit up to half a second later.
BEFORE_COMMIT = 0.02


class Kill:
    """Kills this process at one point of one processor, unless the marker says that it was killed there before."""

    def __init__(self, processor: str, point: str, marker: Path) -> None:
        self._place, self._marker = (processor, point), marker

    def __call__(self, processor: str, point: str) -> None:
        if self.is_due(processor, point):
            self._marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def is_due(self, processor: str, point: str) -> bool:
        return (processor, point) == self._place and not self._marker.exists()

    async def around(self, processor: str, write: Callable[[], Any], what: str = "store") -> Any:
        """Do a write, and die just before it or after it."""
        self(processor, f"before-{what}")
        done = await write()
        self(processor, f"after-{what}")
        return done

    def before_commit(self, processor: str) -> None:
        """Die once what is done is acknowledged and not yet committed."""
        asyncio.get_running_loop().call_later(BEFORE_COMMIT, self, processor, "before-commit")


class CrashingStore:
    """Passes everything on, and may die just before or after a write."""

    def __init__(self, store: Store, kill: Kill) -> None:
        self._store, self._kill = store, kill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def add_message(self, message: Message) -> None:
        processor = "conversation-logging" if message.role == "USER" else "report-generation"
        await self._kill.around(processor, lambda: self._store.add_message(message))

    async def add_extraction(self, extraction: StoredExtraction) -> None:
        await self._kill.around("role-extraction", lambda: self._store.add_extraction(extraction))

    async def add_entry(self, entry: TrackEntry) -> None:
        await self._kill.around("update-arbitration", lambda: self._store.add_entry(entry))

    async def replace_entry(self, entry: TrackEntry, was: TrackEntry) -> bool:
        return bool(await self._kill.around("memory-commands", lambda: self._store.replace_entry(entry, was)))

    async def note_observed(self, question: Message, event: str) -> None:
        await self._kill.around("feature-extraction", lambda: self._store.note_observed(question, event))

    async def put_summary(self, conversation_id: ConversationId, summary: Summary, *, after: int) -> None:
        await self._kill.around("summary", lambda: self._store.put_summary(conversation_id, summary, after=after))
        self._kill.before_commit("summary")


class CrashingFeatures:
    """The same for the users' features; a turn that says two things is two writes, and the profile one more."""

    def __init__(self, features: FeatureStore, kill: Kill) -> None:
        self._features, self._kill = features, kill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._features, name)

    async def add_feature(self, feature: UserFeature) -> None:
        await self._kill.around("feature-memory", lambda: self._features.add_feature(feature))

    async def replace_feature(self, feature: UserFeature, version: int) -> bool:
        replace_it = self._features.replace_feature
        return bool(await self._kill.around("feature-memory", lambda: replace_it(feature, version)))

    async def put_profile(self, profile: UserProfile) -> None:
        await self._kill.around("feature-memory", lambda: self._features.put_profile(profile), "profile")
        self._kill.before_commit("feature-memory")


class CrashingTombstones:
    """The same for forgetting: the tombstone is the write, and what it covers is removed after it."""

    def __init__(self, tombstones: Tombstones, kill: Kill) -> None:
        self._tombstones, self._kill = tombstones, kill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tombstones, name)

    async def add(self, origin: Origin) -> None:
        await self._kill.around("memory-commands", lambda: self._tombstones.add(origin))


class CrashingRemovals(monitoring.CommandListener):
    """Dies once documents of a collection are removed (at `removed-messages`, say), or before they are counted."""

    def __init__(self, kill: Kill) -> None:
        self._kill = kill
        self._removals: dict[int, str] = {}

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command_name == "delete":
            self._removals[event.request_id] = event.command["delete"]
        elif any("$inc" in update["u"] for update in event.command.get("updates", ())):
            self._kill("memory-commands", "before-count")

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        if collection := self._removals.pop(event.request_id, None):
            self._kill("memory-commands", f"removed-{collection}")

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        self._removals.pop(event.request_id, None)


class CrashingPublisher:
    """Passes everything on, and may die after a publish: at once, or once it is acknowledged and not yet committed."""

    def __init__(self, publisher: Publisher, kill: Kill) -> None:
        self._publisher, self._kill = publisher, kill

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        await self._publisher.publish(event, headers)
        processor = _publisher_of(event)
        self._kill(processor, "after-publish")
        self._kill.before_commit(processor)

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        await self._publisher.publish_dead_letter(letter)

    async def replay(self, letter: DeadLetter) -> None:
        await self._publisher.replay(letter)

    @property
    def is_away(self) -> bool:
        return self._publisher.is_away


def _publisher_of(event: Wire) -> str:
    """The processor that an event comes from."""
    if isinstance(event, FeaturesObserved):
        return event.observed_by
    if isinstance(event, CommandDone):
        return "feature-memory" if event.kind in _OF_FEATURES else "memory-commands"
    return next(name for name, kind in PUBLISHES.items() if isinstance(event, kind))


class CrashingModel:
    """Passes everything on, and may die in the middle of a call."""

    def __init__(self, model: Model, kill: Kill) -> None:
        self._model, self._kill = model, kill

    def _die_soon(self, processor: str) -> None:
        asyncio.get_running_loop().call_later(INTO_THE_CALL, self._kill, processor, "during-model-call")

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        self._die_soon("role-extraction")
        return await self._model.extract(question, history)

    async def answer(self, request: AnswerRequest) -> Reply:
        self._die_soon("report-generation")
        return await self._model.answer(request)

    async def report(self, request: AnswerRequest) -> Proposal:
        self._die_soon("report-generation")
        return await self._model.report(request)

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        self._die_soon("feature-extraction")
        return await self._model.extract_features(messages, known)

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        self._die_soon("summary")
        return await self._model.summarise(previous, messages)

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        return await self._model.still_hold(features, days)

    async def aclose(self) -> None:
        await self._model.aclose()


async def main(processor: str, point: str, marker: str) -> None:
    settings, kill = load_settings(), Kill(processor, point, Path(marker))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    monitoring.register(CrashingRemovals(kill))
    processors = bootstrap.chosen_processors(settings, ())
    async with bootstrap.worker_parts(settings, processors) as parts:
        crashing = replace(
            parts,
            publisher=CrashingPublisher(parts.publisher, kill),
            store=CrashingStore(parts.store, kill),
            features=CrashingFeatures(parts.features, kill),
            tombstones=CrashingTombstones(parts.tombstones, kill),
            model=CrashingModel(parts.model, kill),
        )
        await bootstrap.run_processors(settings, processors, crashing, stop.wait, lambda: print("started", flush=True))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
