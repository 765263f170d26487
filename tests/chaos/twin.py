"""A worker whose consumer groups have other names: Kafka deals it partitions that another worker has as well."""

import asyncio
import signal
import sys
from dataclasses import replace

from pipeline import bootstrap
from pipeline.settings import Settings, load_settings
from pipeline.telemetry import configure_logging


async def run(settings: Settings) -> None:
    """The processors of an ordinary worker, in groups of their own, until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    processors = bootstrap.chosen_processors(settings, ())
    twins = [replace(processor, name=f"{processor.name}-twin") for processor in processors]
    async with bootstrap.worker_parts(settings, processors) as parts:
        await bootstrap.run_processors(
            settings, twins, parts, stop.wait, lambda: print("twin: worker is running", file=sys.stderr, flush=True)
        )


if __name__ == "__main__":
    configured = load_settings()
    configure_logging(configured.log_level)
    asyncio.run(run(configured))
