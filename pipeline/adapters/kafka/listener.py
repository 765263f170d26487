"""Listening to what becomes of questions: a consumer of no group that reads from now on."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import RecordTooLargeError

from pipeline.adapters.kafka.connection import Connection
from pipeline.errors import Outage
from schemas.events import ERROR_PREFIX, QuestionRefused
from schemas.topics import BY_NAME, Topic, TopicName
from schemas.wire import Wire

log = logging.getLogger(__name__)

#: Seconds for the consumer's end; without a broker it takes longer.
_STOP_TIMEOUT = 1.0
#: Seconds until partitions that a topic was extended by are known.
_EXTENDED_AFTER = 60.0


class KafkaListener:
    """Hands every event of some topics, from now on, to `heard`, and to `failed` what ends it."""

    def __init__(
        self,
        connection: Connection,
        topics: Sequence[TopicName],
        heard: Callable[[Wire], None],
        failed: Callable[[Exception], None],
        *,
        extended_after: float = _EXTENDED_AFTER,
    ) -> None:
        self._connection, self._topics, self._heard, self._failed = connection, topics, heard, failed
        self._look_every_ms = round(extended_after * 1000)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Stand at the end of every partition; raises Outage and SettingsInvalid."""
        await self._connection.check()
        self._consumer = AIOKafkaConsumer(
            **self._connection.for_aiokafka(),
            auto_offset_reset="latest",
            enable_auto_commit=False,
            fetch_max_wait_ms=self._connection.fetch_max_wait_ms,
            metadata_max_age_ms=self._look_every_ms,
        )
        try:
            async with self._connection.explained():
                await self._consumer.start()
                self._consumer.assign(await self._partitions())
                await self._consumer.seek_to_end()
                for partition in self._consumer.assignment():
                    await self._consumer.position(partition)
        except BaseException:
            await self._end_consumer()
            raise
        self._task = asyncio.create_task(self._listen())

    async def _partitions(self) -> list[TopicPartition]:
        cluster: Any = await self._consumer._client.fetch_all_metadata()
        found = []
        for topic in self._topics:
            name = self._connection.prefix + topic
            partitions = cluster.partitions_for_topic(name)
            if not partitions:
                raise Outage(f"topic {name} is missing: run `rolestream topics create`")
            found += [TopicPartition(name, partition) for partition in partitions]
        return found

    async def _listen(self) -> None:
        try:
            await self._hear_all()
        except Exception as exc:
            self._failed(exc)

    async def _hear_all(self) -> None:
        while True:
            with suppress(RecordTooLargeError):  # the consumer goes on after it
                for records in (await self._consumer.getmany(timeout_ms=self._look_every_ms)).values():
                    for record in records:
                        self._hear(record)
            await self._take_on()

    def _hear(self, record: Any) -> None:
        topic = BY_NAME[record.topic.removeprefix(self._connection.prefix)]
        try:
            self._heard(_event(topic, record))
        except (ValueError, KeyError, TypeError, RecursionError):
            log.debug("passing over a record that is no %s", topic.event.__name__)

    async def _take_on(self) -> None:
        """Hear from their beginning the partitions that are new, as far as the consumer has learnt of them."""
        heard, names = self._consumer.assignment(), [self._connection.prefix + topic for topic in self._topics]
        there = {
            TopicPartition(name, partition)
            for name in names
            for partition in self._consumer.partitions_for_topic(name) or ()
        }
        if there <= heard:
            return
        places = {partition: await self._consumer.position(partition) for partition in heard}
        places |= dict.fromkeys(there - heard, 0)
        self._consumer.assign([*places])
        for partition, offset in places.items():  # at once, before the consumer takes the end for its place
            self._consumer.seek(partition, offset)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._end_consumer()

    async def _end_consumer(self) -> None:
        async def end() -> None:
            try:
                await self._consumer.stop()
            finally:
                await self._consumer._client.close()

        # Without a broker aiokafka raises the cancellation of its own fetches, and leaves its connections open.
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(end(), return_exceptions=True), _STOP_TIMEOUT)


def _event(topic: Topic, record: Any) -> Wire:
    """The record's event; a dead letter's is the question that was refused."""
    if topic.name != "dead-letters":
        return topic.event.model_validate_json(record.value or b"", extra="ignore")
    headers = {name: (value or b"").decode() for name, value in record.headers}
    asked = json.loads(record.value or b"")
    return QuestionRefused(
        processor=headers[f"{ERROR_PREFIX}processor"],
        conversation_id=asked["conversationId"],
        user_id=asked.get("userId", ""),
        question_id=asked["questionId"],
        reason=headers[f"{ERROR_PREFIX}message"],
    )
