"""Commands that run a worker: `worker`, `dev`, `demo`."""

import argparse
import asyncio
import signal
import sys
from contextlib import suppress

from pipeline import bootstrap, demo
from pipeline.settings import Settings


async def worker(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run processors until SIGINT or SIGTERM."""
    await bootstrap.run_worker(settings, arguments.processors, _stop_on_signals().wait, _say_started)
    return 0


def _say_started() -> None:
    print("rolestream: worker is running", file=sys.stderr, flush=True)


def _stop_on_signals() -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has no signal handlers on a loop
            loop.add_signal_handler(name, stop.set)
    return stop


async def dev(arguments: argparse.Namespace, settings: Settings) -> int:
    """Keep the embedded broker and database and a worker up."""
    stop = _stop_on_signals()

    def say_where(here: Settings) -> None:
        print("rolestream: running; in another terminal set")
        print(f"export ROLESTREAM_KAFKA__BROKERS={here.kafka.brokers}")
        print(f"export ROLESTREAM_MONGO__URL='{here.mongo.url.get_secret_value()}'", flush=True)

    async with bootstrap.embedded(settings, arguments.data_dir) as (here, broken):
        await bootstrap.run_worker(here, (), lambda: bootstrap.first_of(stop.wait(), broken()), lambda: say_where(here))
    return 0


async def run_demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask the questions of a script on embedded services and show what is learnt."""
    return await demo.run(settings, arguments.script)
