"""The baseline: the same handlers on plain Faust agents, one record at a time, as a tutorial would write it."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import faust

from pipeline import bootstrap
from pipeline.adapters.kafka.connection import Connection
from pipeline.processing import Processor, Record
from pipeline.settings import Settings
from schemas.topics import BY_NAME

Run = Callable[[Record], Awaitable[None]]


async def run_plain(
    settings: Settings,
    processors: Sequence[Processor],
    parts: bootstrap.Parts,
    stop: asyncio.Event,
    started: Callable[[], None],
) -> None:
    """Run every processor as an app with plain `async for` agents until `stop`."""
    connection = bootstrap.kafka_connection(settings)
    with tempfile.TemporaryDirectory() as folder:
        apps = [
            plain_app(connection, processor, bootstrap.runner_of(processor, settings, parts).run, folder)
            for processor in processors
        ]
        await asyncio.gather(*(app.start() for app in apps))
        started()
        await stop.wait()
        await asyncio.gather(*(app.stop() for app in apps))


def plain_app(connection: Connection, processor: Processor, run: Run, folder: str) -> faust.App:
    app = faust.App(
        f"{connection.prefix}{processor.name}",
        value_serializer="raw",
        key_serializer="raw",
        web_enabled=False,
        datadir=folder,
        broker_session_timeout=connection.session_timeout,
        broker_heartbeat_interval=connection.session_timeout / 4,
        broker_request_timeout=90,
        topic_disable_leader=True,
        topic_allow_declare=False,
        **connection.for_faust(),
    )
    for topic in processor.reads:
        channel = app.topic(connection.prefix + topic, value_type=bytes, key_type=bytes)
        app.agent(channel, name=f"{processor.name}.{topic}")(_one_by_one(run, topic))
    return app


def _one_by_one(run: Run, topic: str) -> Callable[[Any], Awaitable[None]]:
    async def read(stream: Any) -> None:
        async for event in stream.events():
            message = event.message
            await run(
                Record(
                    BY_NAME[topic].name,
                    message.partition,
                    message.offset,
                    message.key,
                    message.value,
                    datetime.fromtimestamp(message.timestamp, UTC),
                    dict(message.headers or ()),
                )
            )

    return read
