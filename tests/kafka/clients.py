"""What the tests here speak to a cluster with: bare clients, and ours as settings make them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from pipeline import bootstrap
from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.pace import Pace
from pipeline.adapters.kafka.running import run_apps
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.metrics import Metrics
from pipeline.processing import Processor, Record
from pipeline.settings import Settings
from schemas.events import QuestionAsked
from schemas.wire import ConversationId, UserId
from tests.conftest import Names
from tests.kafka.cluster import Cluster, Listener

QUESTION = QuestionAsked(conversation_id=ConversationId("c"), user_id=UserId("u"), text="How do I write a note?")


async def until(true: Callable[[], bool], within: float = 30.0) -> None:
    """Wait until something outside is so."""
    async with asyncio.timeout(within):
        while not true():
            await asyncio.sleep(0.05)


def settings_on(cluster: Cluster, listener: Listener, names: Names, **changes: Any) -> Settings:
    """Settings that reach a listener, as an operator gives them; None takes one away."""
    kafka = {"topic_prefix": names.topic_prefix, "session_timeout": 2, **cluster.settings(listener), **changes}
    given = {name: value for name, value in kafka.items() if value is not None}
    return Settings(_env_file=None, kafka=given)


def connection_to(cluster: Cluster, listener: Listener, names: Names, **changes: Any) -> Connection:
    return bootstrap.kafka_connection(settings_on(cluster, listener, names, **changes))


@asynccontextmanager
async def administration(brokers: str) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def make_topic(brokers: str, name: str, replicas: int = 1) -> None:
    async with administration(brokers) as client:
        response = await client.create_topics([NewTopic(name, 1, replicas)])
    assert [code for _, code, *_ in response.topic_errors] == [0]


async def replicas_of(brokers: str, topic: str) -> tuple[int, list[int]]:
    """Which node leads the topic's one partition, and which nodes have all of it."""
    async with administration(brokers) as client:
        (described,) = await client.describe_topics([topic])
    (partition,) = described["partitions"]
    return partition["leader"], sorted(partition["isr"])


async def produce(brokers: str, topic: str, values: Sequence[bytes]) -> None:
    """Returns once as many replicas as must be have them all."""
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all")
    await producer.start()
    try:
        for value in values:
            await producer.send_and_wait(topic, value)
    finally:
        await producer.stop()


async def consume(brokers: str, topic: str, count: int) -> list[bytes]:
    """The first values of a topic."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=brokers, auto_offset_reset="earliest")
    await consumer.start()
    try:
        async with asyncio.timeout(30):
            return [(await consumer.getone()).value for _ in range(count)]
    finally:
        await consumer.stop()


async def work(connection: Connection, done: Callable[[Record], object], enough: asyncio.Event) -> None:
    """A Faust worker that hands every question to `done`, until there are enough."""

    async def run(record: Record) -> None:
        done(record)

    async def handle(*_: Any) -> list[Any]:
        return []

    app = ProcessorApp(
        Processor("probe", ("questions",), handle),
        connection,
        run,
        max_unacked=16,
        drain_timeout=1,
        waits=lambda task: False,
        metrics=Metrics(),
        pace=Pace(connection.fetch_max_wait_ms),
    )
    await run_apps([app], enough.wait, lambda: None)
