"""A deployment for tests: topics, a database and a worker of one's own on the services that all tests share."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.adapters.kafka.topics import create_topics
from pipeline.settings import Settings
from tests.conftest import Names

#: The processors that an answer waits for; those of the user's memory, beside them, have dead letters of their own.
ANSWERING = ("conversation-logging", "role-extraction", "update-arbitration", "report-generation")
Check = Callable[[list[ConsumerRecord]], bool]


def settings_for(services: Services, names: Names, **changes: Any) -> Settings:
    """Settings on the shared services; `changes` are those of Settings, as dictionaries."""
    kafka = {
        "brokers": services.brokers,
        "topic_prefix": names.topic_prefix,
        "session_timeout": 2,
        "fetch_max_wait_ms": 10,
        "partitions": 2,
        **changes.pop("kafka", {}),
    }
    mongo = {"url": services.mongo_url, "database": names.database}
    return Settings(_env_file=None, kafka=kafka, mongo=mongo, **changes)


@dataclass
class Deployment:
    """Publishes to the topics, reads them from their beginning, and reads the database."""

    settings: Settings
    database: AsyncIOMotorDatabase[dict[str, Any]]
    _producer: AIOKafkaProducer
    _seen: dict[str, list[ConsumerRecord]] = field(default_factory=dict)
    _consumers: dict[str, AIOKafkaConsumer] = field(default_factory=dict)

    async def publish(
        self,
        topic: str,
        value: bytes | dict[str, Any] | None,
        *,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
        time: datetime | None = None,
        milliseconds: int | None = None,
    ) -> None:
        """Publish a record; a dictionary goes as JSON under its conversation's key."""
        if isinstance(value, dict):
            key, value = str(value["conversationId"]).encode(), json.dumps(value).encode()
        if time is not None:
            milliseconds = int(time.timestamp() * 1000)
        name = self.settings.kafka.topic_prefix + topic
        await self._producer.send_and_wait(name, value, key, timestamp_ms=milliseconds, headers=list(headers))

    async def ask(self, text: str, *, conversation: str = "c", user: str = "u", **fields: Any) -> None:
        await self.publish("questions", {"conversationId": conversation, "userId": user, "text": text} | fields)

    async def records(self, topic: str, until: int | Check, *, within: float = 60.0) -> list[ConsumerRecord]:
        """All records of a topic so far, once there are so many, or once `until` says so."""
        enough = until if callable(until) else lambda seen: len(seen) >= until
        seen = self._seen.setdefault(topic, [])
        consumer = await self._consumer(topic)
        async with asyncio.timeout(within):
            while not enough(seen):
                for batch in (await consumer.getmany(timeout_ms=50)).values():
                    seen += batch
        return seen

    async def events(self, topic: str, until: int, *, within: float = 60.0) -> list[dict[str, Any]]:
        """The values of a topic's records, as `records` returns them."""
        return [json.loads(record.value) for record in await self.records(topic, until, within=within)]

    async def documents(self, collection: str, **query: Any) -> list[dict[str, Any]]:
        """Stored documents by turn, oldest first."""
        return await self.database[collection].find(query).sort([("turn", 1)]).to_list(None)

    async def _consumer(self, topic: str) -> AIOKafkaConsumer:
        if topic not in self._consumers:
            self._consumers[topic] = AIOKafkaConsumer(
                self.settings.kafka.topic_prefix + topic,
                bootstrap_servers=self.settings.kafka.brokers,
                auto_offset_reset="earliest",
                fetch_max_wait_ms=10,
            )
            await self._consumers[topic].start()
        return self._consumers[topic]

    async def close(self) -> None:
        for consumer in self._consumers.values():
            await consumer.stop()


@asynccontextmanager
async def deployed(settings: Settings) -> AsyncIterator[Deployment]:
    """Topics and a database, without a worker; the database is dropped at the end."""
    kafka, mongo = settings.kafka, settings.mongo
    await create_topics(bootstrap.kafka_connection(settings), kafka.partitions, 1, kafka.retention_hours)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(mongo.url.get_secret_value(), tz_aware=True)
    async with AsyncExitStack() as stack:
        stack.callback(client.close)
        stack.push_async_callback(client.drop_database, mongo.database)
        producer = AIOKafkaProducer(bootstrap_servers=kafka.brokers, acks="all", max_request_size=2**21)
        await producer.start()
        stack.push_async_callback(producer.stop)
        deployment = Deployment(settings, client[mongo.database], producer)
        stack.push_async_callback(deployment.close)
        yield deployment


@asynccontextmanager
async def working(settings: Settings, *processors: str) -> AsyncIterator[None]:
    """A worker in this process, running when this returns and ended in order."""
    stop, started = asyncio.Event(), asyncio.Event()
    worker = asyncio.create_task(bootstrap.run_worker(settings, processors, stop.wait, started.set))
    try:
        await bootstrap.first_of(started.wait(), asyncio.shield(worker))
        yield
    finally:
        stop.set()
        await worker
