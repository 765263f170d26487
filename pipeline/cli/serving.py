"""Commands that run until they are stopped: `worker`, `api`, `dev`; and `demo`."""

import argparse
import asyncio
import gc
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from pipeline import api as web
from pipeline import bootstrap, demo
from pipeline.settings import Settings

#: Milliseconds between the looks of the API in `dev` for new events.
_DEV_LISTENS_EVERY = 100
#: Objects that come to be between two looks for cycles among them; by Python's 700 a worker spends an eighth of its
#: time looking.
_LOOKED_FOR_CYCLES_AFTER = 20_000


async def worker(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run processors until SIGINT or SIGTERM."""
    look_seldom_for_cycles()
    await bootstrap.run_worker(settings, arguments.processors, _stop_on_signals().wait, _say_started)
    return 0


def look_seldom_for_cycles() -> None:
    """Have Python's garbage collection spare a process that makes many objects and few cycles."""
    gc.set_threshold(_LOOKED_FOR_CYCLES_AFTER)


def _say_started() -> None:
    print("rolestream: worker is running", file=sys.stderr, flush=True)


def _stop_on_signals() -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has no signal handlers on a loop
            loop.add_signal_handler(name, stop.set)
    return stop


async def api(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve the HTTP API and the inspection page until SIGINT or SIGTERM."""
    await web.serve_api(settings, _stop_on_signals().wait, _say_address)
    return 0


def _say_address(address: str) -> None:
    print(f"rolestream: serving {address}", flush=True)


async def dev(arguments: argparse.Namespace, settings: Settings) -> int:
    """Keep the embedded broker and database, a worker, the HTTP API and the inspection page up."""
    look_seldom_for_cycles()
    stop, working = _stop_on_signals(), asyncio.Event()

    def say_where(here: Settings) -> None:
        print("rolestream: running; in another terminal set")
        print(f"export ROLESTREAM_KAFKA__BROKERS={here.kafka.brokers}")
        print(f"export ROLESTREAM_MONGO__URL='{here.mongo.url.get_secret_value()}'", flush=True)
        working.set()

    async with bootstrap.embedded(settings, arguments.data_dir) as (here, broken):

        async def ended() -> None:
            await bootstrap.first_of(stop.wait(), broken())

        async def work() -> None:
            await bootstrap.run_worker(here, (), ended, lambda: say_where(here))
            stop.set()

        async def serve() -> None:
            await bootstrap.first_of(working.wait(), stop.wait())
            # the embedded broker answers a fetch that finds nothing as soon as it may, which would keep a core busy
            kafka = here.kafka.model_copy(update={"fetch_max_wait_ms": _DEV_LISTENS_EVERY})
            await web.serve_api(here.model_copy(update={"kafka": kafka}), stop.wait, _say_address)

        await _both(work(), serve())
    return 0


async def _both(*parts: Coroutine[Any, Any, None]) -> None:
    """Run side by side; when one fails the other is ended, and that failure raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for part in parts:
                group.create_task(part)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


async def run_demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask the questions of a script on embedded services and show what is learnt."""
    return await demo.run(settings, arguments.script)
