"""`make bench`: turns a second beside the limit of the model's latency, and beside plain Faust agents."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from pipeline import bootstrap
from pipeline.adapters.embedded import Services, embedded_services
from pipeline.settings import Settings
from pipeline.telemetry import configure_logging
from tests.bench.plain import run_plain
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for
from tests.scripted_model import ScriptedModel

RESULT = Path("build/bench.json")
#: An answered turn asks the model twice: for the extraction and for the answer.
CALLS_A_TURN = 2
TURNS_A_CONVERSATION = 5

Worker = Callable[[Settings, asyncio.Event, asyncio.Event], Awaitable[None]]


async def ours(settings: Settings, stop: asyncio.Event, started: asyncio.Event) -> None:
    await bootstrap.run_worker(settings, (), stop.wait, started.set)


async def turns_a_second(
    services: Services, worker: Worker, *, conversations: int, latency: float, max_running: int
) -> float:
    """Publish everything at once, and time from the first question to the last answer; a warm-up comes before."""
    async with ScriptedModel(latency=latency) as model:
        settings = settings_for(
            services,
            Names(),
            model={"base_url": model.base_url, "api_key": "k"},
            max_running=max_running,
            kafka={"partitions": 1},
        )
        async with deployed(settings) as here:
            stop, started = asyncio.Event(), asyncio.Event()
            running = asyncio.ensure_future(worker(settings, stop, started))
            await started.wait()
            await _warm_up(here)
            begun = time.perf_counter()
            await asyncio.gather(*(_converse(here, f"c{number}") for number in range(conversations)))
            turns = conversations * TURNS_A_CONVERSATION
            await here.records("answers", turns + 1, within=600)
            seconds = time.perf_counter() - begun
            stop.set()
            await running
            return turns / seconds


async def _warm_up(here: Deployment) -> None:
    await here.ask("hello", conversation="warm-up")
    await here.records("answers", 1)


async def _converse(here: Deployment, conversation: str) -> None:
    for turn in range(TURNS_A_CONVERSATION):
        await here.ask("I am a nurse", conversation=conversation, questionId=f"{conversation}-{turn}")


async def measure() -> dict[str, float]:
    latency, max_running = 0.1, 16
    limit = max_running / latency / CALLS_A_TURN
    async with embedded_services() as services:
        ours_rate = await turns_a_second(services, ours, conversations=200, latency=latency, max_running=max_running)
        plain_rate = await turns_a_second(
            services, run_plain, conversations=20, latency=latency, max_running=max_running
        )
    return {
        "modelLatencySeconds": latency,
        "maxRunning": max_running,
        "callsPerTurn": CALLS_A_TURN,
        "limitTurnsPerSecond": limit,
        "turnsPerSecond": round(ours_rate, 1),
        "shareOfLimit": round(ours_rate / limit, 3),
        "plainFaustTurnsPerSecond": round(plain_rate, 1),
        "timesPlainFaust": round(ours_rate / plain_rate, 1),
    }


def main() -> None:
    configure_logging("ERROR")
    figures = asyncio.run(measure())
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:>8}")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
