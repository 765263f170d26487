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

from pipeline import bootstrap
from pipeline.ports import AnswerRequest, Model, Proposal, Publisher, Reply, Said, Store
from pipeline.settings import load_settings
from schemas.documents import Message, StoredExtraction
from schemas.events import AnswerReady, DeadLetter, GuidanceIssued, RoleExtracted, TurnLogged
from schemas.features import KnownFeature, Summary
from schemas.role import TrackEntry
from schemas.wire import Wire

POINTS = ("before-store", "after-store", "after-publish", "before-commit", "during-model-call")
PUBLISHES: dict[str, type[Wire]] = {
    "conversation-logging": TurnLogged,
    "role-extraction": RoleExtracted,
    "update-arbitration": GuidanceIssued,
    "report-generation": AnswerReady,
}
#: How long into a model call the kill comes, in seconds.
INTO_THE_CALL = 0.05


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


class CrashingStore:
    """Passes everything on, and may die just before or after a write."""

    def __init__(self, store: Store, kill: Kill) -> None:
        self._store, self._kill = store, kill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def _write(self, processor: str, write: Callable[[], Any]) -> None:
        self._kill(processor, "before-store")
        await write()
        self._kill(processor, "after-store")

    async def add_message(self, message: Message) -> None:
        processor = "conversation-logging" if message.role == "USER" else "report-generation"
        await self._write(processor, lambda: self._store.add_message(message))

    async def add_extraction(self, extraction: StoredExtraction) -> None:
        await self._write("role-extraction", lambda: self._store.add_extraction(extraction))

    async def add_entry(self, entry: TrackEntry) -> None:
        await self._write("update-arbitration", lambda: self._store.add_entry(entry))


class CrashingPublisher:
    """Passes everything on, and may die after a publish: at once, or once it is acknowledged and not yet committed."""

    def __init__(self, publisher: Publisher, kill: Kill) -> None:
        self._publisher, self._kill = publisher, kill

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        await self._publisher.publish(event, headers)
        processor = next(name for name, kind in PUBLISHES.items() if isinstance(event, kind))
        self._kill(processor, "after-publish")
        # the acknowledgement follows in this turn of the loop, Faust's commit up to half a second later
        asyncio.get_running_loop().call_later(0.02, self._kill, processor, "before-commit")

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        await self._publisher.publish_dead_letter(letter)

    async def replay(self, letter: DeadLetter) -> None:
        await self._publisher.replay(letter)

    @property
    def is_away(self) -> bool:
        return self._publisher.is_away


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
    processors = bootstrap.chosen_processors(settings, ())
    async with bootstrap.worker_parts(settings, processors) as parts:
        crashing = replace(
            parts,
            publisher=CrashingPublisher(parts.publisher, kill),
            store=CrashingStore(parts.store, kill),
            model=CrashingModel(parts.model, kill),
        )
        await bootstrap.run_processors(settings, processors, crashing, stop.wait, lambda: print("started", flush=True))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
