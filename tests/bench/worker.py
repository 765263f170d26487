"""A worker whose model takes a set time and asks nobody: `python -m tests.bench.worker SECONDS [plain]`."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from pipeline import bootstrap
from pipeline.cli.serving import look_seldom_for_cycles
from pipeline.limits import Permits, Stage
from pipeline.ports import AnswerRequest, Proposal, Reply, Said
from pipeline.settings import load_settings
from pipeline.telemetry import configure_logging
from schemas.events import Cost
from schemas.features import KnownFeature, Summary
from tests.bench.plain import run_plain
from tests.scripted_replies import default_extraction, default_report


class TimedModel:
    """Replies after `seconds`, holding a permit like a call to a server."""

    def __init__(self, seconds: float, permits: Permits) -> None:
        self._seconds, self._permits = seconds, permits
        self._cost = Cost(model="timed", calls=1, milliseconds=round(seconds * 1000))

    async def _think(self, stage: Stage) -> None:
        async with self._permits.hold(stage):
            await asyncio.sleep(self._seconds)

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        await self._think("role-extraction")
        return Proposal(default_extraction(question), self._cost)

    async def answer(self, request: AnswerRequest) -> Reply:
        await self._think("report-generation")
        return Reply(f"Answer to: {request.question[:200]}", self._cost)

    async def report(self, request: AnswerRequest) -> Proposal:
        await self._think("report-generation")
        return Proposal(default_report(request.question, []), self._cost)

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        await self._think("feature-extraction")
        return Proposal({"changes": []}, self._cost)

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        await self._think("summary")
        return Proposal({"target": ""}, self._cost)

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        await self._think("feature-memory")
        return Proposal({"holds": []}, self._cost)

    async def aclose(self) -> None:
        """Nothing is open."""


async def main(seconds: float, *, plain: bool) -> None:
    settings, stop = load_settings(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    processors = bootstrap.chosen_processors(settings, ())
    async with bootstrap.worker_parts(settings, processors) as parts:
        timed = replace(parts, model=TimedModel(seconds, parts.permits))
        if plain:
            await run_plain(settings, processors, timed, stop, _say_started)
        else:
            await bootstrap.run_processors(settings, processors, timed, stop.wait, _say_started)


def _say_started() -> None:
    print("started", flush=True)


if __name__ == "__main__":
    configure_logging("WARNING")
    look_seldom_for_cycles()
    asyncio.run(main(float(sys.argv[1]), plain="plain" in sys.argv[2:]))
