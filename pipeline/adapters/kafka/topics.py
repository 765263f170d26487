"""Creating the topics, and telling which are missing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code

from pipeline.adapters.kafka.connection import Connection, refusal
from pipeline.adapters.kafka.publisher import MAX_DEAD_LETTER_BYTES
from pipeline.errors import RolestreamError, SettingsInvalid
from schemas.topics import TOPICS

_ALREADY_EXISTS = 36
_ROOM_FOR_HEADERS = 64 * 1024


@asynccontextmanager
async def _admin(connection: Connection) -> AsyncIterator[AIOKafkaAdminClient]:
    await connection.check()
    client = AIOKafkaAdminClient(**connection.for_aiokafka())
    try:
        async with connection.explained():
            await client.start()
            yield client
    finally:
        await client.close()


async def missing_topics(connection: Connection) -> list[str]:
    """The names of our topics that the cluster does not have; raises Outage and SettingsInvalid."""
    async with _admin(connection) as client:
        there = set(await client.list_topics())
    return [name for topic in TOPICS if (name := connection.prefix + topic.name) not in there]


async def create_topics(connection: Connection, partitions: int, replication: int, retention_hours: float) -> list[str]:
    """Create the topics that are missing and return their names; raises Outage, SettingsInvalid, RolestreamError."""
    names = await missing_topics(connection)
    if not names:
        return []
    wanted = [
        NewTopic(
            name,
            partitions,
            replication,
            topic_configs=_configuration(name, replication, retention_hours),
        )
        for name in names
    ]
    async with _admin(connection) as client:
        response = await client.create_topics(wanted)
    for name, code, *rest in response.topic_errors:
        if code not in (0, _ALREADY_EXISTS):
            error = for_code(code)(*rest[:1])
            if reason := refusal(error):
                raise SettingsInvalid(f"topic {name} cannot be created: Kafka {reason}")
            raise RolestreamError(f"topic {name} cannot be created: {error}")
    return names


def _configuration(name: str, replication: int, retention_hours: float) -> dict[str, str]:
    """An acknowledged record is on two brokers where there are three; a dead letter may be larger than its source.

    What was said stays no longer than the retention: what is forgotten in MongoDB is gone from Kafka with it.
    """
    configuration = {"retention.ms": str(round(retention_hours * 3_600_000))}
    if replication > 2:
        configuration["min.insync.replicas"] = "2"
    if name.endswith("dead-letters"):
        configuration["max.message.bytes"] = str(MAX_DEAD_LETTER_BYTES + _ROOM_FOR_HEADERS)
    return configuration
