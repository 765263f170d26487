"""What is missing between the broker and us, on Faust and an embedded broker: read again, or believed to be no more."""

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from pipeline.adapters.embedded import Services
from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.pace import Pace
from pipeline.adapters.kafka.running import run_apps
from pipeline.adapters.kafka.topics import create_topics
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.metrics import Metrics
from pipeline.processing import Processor, Record
from tests.conftest import Names


def without(app: ProcessorApp, missing: set[int], *, for_good: bool) -> None:
    """Have records get lost between the broker and Faust, the first time that they are read or each time."""
    consumer, gone = app.faust_consumer, set(missing)
    fetch = consumer._getmany

    async def fetched(*arguments: Any, **named: Any) -> Any:
        records = await fetch(*arguments, **named) or {}
        left = {tp: [record for record in batch if record.offset not in gone] for tp, batch in records.items()}
        if not for_good:
            gone.difference_update(record.offset for batch in records.values() for record in batch)
        return {tp: batch for tp, batch in left.items() if batch}

    consumer._getmany = fetched  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("count", "missing", "for_good"),
    [
        (10, {3, 4, 5}, False),
        (600, {30, 31, 450}, False),
        (10, {3}, True),
        (200, {3, 50, 51, 120}, True),
        (200, {0, 1, 2, 3, 4}, True),
    ],
    ids=["one hole", "several", "one that stays", "several that stay", "a log cut at its beginning"],
)
async def test_nothing_behind_a_hole_is_lost_or_done_twice(
    services: Services, names: Names, count: int, missing: set[int], for_good: bool
) -> None:
    """What was lost on the way is done in its place; where it is no more, all the others are, and in order."""
    connection = Connection(services.brokers, names.topic_prefix, session_timeout=3, fetch_max_wait_ms=10)
    await create_topics(connection, 1, 1, 1)
    producer = AIOKafkaProducer(bootstrap_servers=services.brokers)
    await producer.start()
    for number in range(count):
        await producer.send(f"{names.topic_prefix}questions", b"{}", b"%d" % number)
    await producer.stop()
    done, enough = list[int](), asyncio.Event()

    async def run(record: Record) -> None:
        done.append(record.offset)
        if record.offset == count - 1:
            enough.set()

    async def handle(*_: Any) -> list[Any]:
        raise AssertionError("nothing is handled here")

    app = ProcessorApp(
        Processor("probe", ("questions",), handle),
        connection,
        run,
        max_unacked=4096,
        drain_timeout=1,
        waits=lambda task: False,
        metrics=Metrics(),
        pace=Pace(connection.fetch_max_wait_ms),
    )
    without(app, missing, for_good=for_good)
    await run_apps([app], enough.wait, lambda: None)
    assert done == [offset for offset in range(count) if not for_good or offset not in missing]
