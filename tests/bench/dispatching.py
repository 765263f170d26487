"""The dispatcher alone: records of distinct keys, each taking a set time, through Faust and back to a commit."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

from aiokafka import AIOKafkaProducer

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.adapters.kafka.pace import Pace
from pipeline.adapters.kafka.running import run_apps
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.metrics import Metrics
from pipeline.processing import Processor, Record
from tests.bench.plain import plain_app
from tests.conftest import Names
from tests.deployment import deployed, settings_for

Latency = Callable[[], float]


def log_normal() -> float:
    """Seconds as model calls take them: a median of 0.3, between 0.05 and 2."""
    return min(2.0, max(0.05, random.lognormvariate(-1.2, 0.8)))


async def records_a_second(
    services: Services, latency: Latency, count: int, *, running: int, partitions: int, plain: bool = False
) -> float:
    """Records finished a second by one app, from the first to the last, with `running` at once."""
    settings = settings_for(services, Names(), kafka={"partitions": partitions})
    async with deployed(settings):
        await _publish(settings.kafka.brokers, f"{settings.kafka.topic_prefix}questions", count)
        permits, finished, begun = asyncio.Semaphore(running), 0, 0.0
        done = asyncio.Event()

        async def run(record: Record) -> None:
            nonlocal finished, begun
            begun = begun or time.perf_counter()
            async with permits:
                await asyncio.sleep(latency())
            finished += 1
            if finished == count:
                done.set()

        connection = bootstrap.kafka_connection(settings)
        if plain:
            await _run_plain(connection, run, done)
        else:
            app = ProcessorApp(
                _PROBE,
                connection,
                run,
                max_unacked=16 * running,
                drain_timeout=5,
                waits=lambda task: False,
                metrics=Metrics(),
                pace=Pace(connection.fetch_max_wait_ms),
            )
            await run_apps([app], done.wait, lambda: None)
        return count / (time.perf_counter() - begun)


async def _nothing(*_: Any) -> list[Any]:
    return []


_PROBE = Processor("probe", ("questions",), _nothing)


async def _run_plain(connection: Any, run: Callable[[Record], Awaitable[None]], done: asyncio.Event) -> None:
    with TemporaryDirectory() as folder:
        app = plain_app(connection, _PROBE, run, folder)
        await app.start()
        await done.wait()
        await app.stop()


async def _publish(brokers: str, topic: str, count: int) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=brokers, linger_ms=5)
    await producer.start()
    now = int(datetime.now(UTC).timestamp() * 1000)
    sent = [await producer.send(topic, b"x", b"%d" % number, timestamp_ms=now) for number in range(count)]
    await asyncio.gather(*sent)
    await producer.stop()
