"""Reads every output topic from its beginning, and keeps of each event what tells a repetition from a change."""

import asyncio
import json
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

#: What every turn leaves on Kafka.
OUTPUTS = ("turns", "extractions", "guidance", "answers")
_READ = (*OUTPUTS, "dead-letters")
#: How many questions may be unanswered before the next are asked.
AHEAD = 200


class Witness:
    """`first` holds, by topic, a digest of each question's first event, in the order of the topic.

    After `patience` seconds without a new answer nothing is waited for any more.
    """

    def __init__(self, brokers: str, prefix: str, partitions: int, patience: float) -> None:
        self._prefix, self._patience = prefix, patience
        self._places = [TopicPartition(prefix + topic, number) for topic in _READ for number in range(partitions)]
        self._brokers = brokers
        self.first: dict[str, dict[str, bytes]] = {topic: {} for topic in OUTPUTS}
        self.turn_of: dict[str, int] = {}
        self.redelivered = 0
        """Events that were seen before, the same to the byte."""
        self.differing = 0
        """Events of a question that differ from its first of that topic."""
        self.failed_answers = self.dead_letters = self.renumbered = 0
        self.answered_at = time.monotonic()
        self._read: asyncio.Task[None] | None = None

    @property
    def answered(self) -> int:
        return len(self.first["answers"])

    @property
    def answered_well(self) -> int:
        return self.answered - self.failed_answers

    async def start(self) -> None:
        self._consumer = AIOKafkaConsumer(bootstrap_servers=self._brokers, fetch_max_wait_ms=50)
        await self._consumer.start()
        self._consumer.assign(self._places)
        await self._consumer.seek_to_beginning()
        self._read = asyncio.create_task(self._keep_reading())

    async def stop(self) -> None:
        if self._read is not None:
            self._read.cancel()
            await asyncio.gather(self._read, return_exceptions=True)
        await self._consumer.stop()

    async def until(self, true: Callable[[], bool]) -> bool:
        """Wait for something while there are new answers; returns whether it came."""
        self.answered_at = time.monotonic()
        while not true():
            if time.monotonic() - self.answered_at > self._patience:
                return False
            if self._read is not None and self._read.done():
                self._read.result()
            await asyncio.sleep(0.02)
        return True

    async def room(self, asked: int) -> bool:
        """Wait until of so many questions no more than AHEAD are unanswered; returns whether it came."""
        return await self.until(lambda: asked - self.answered <= AHEAD)

    async def catch_up(self) -> None:
        """Read to where the topics end now."""
        ends = await self._consumer.end_offsets(self._places)
        for place, end in ends.items():
            while await self._consumer.position(place) < end:
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # what was fetched last is being looked at

    async def _keep_reading(self) -> None:
        while True:
            try:
                batches = await self._consumer.getmany(timeout_ms=100)
            except KafkaError:
                continue
            for place, records in batches.items():
                topic = place.topic.removeprefix(self._prefix)
                for record in records:
                    self._look_at(topic, record)

    def _look_at(self, topic: str, record: ConsumerRecord) -> None:
        if topic == "dead-letters":
            self.dead_letters += 1
            return
        event: dict[str, Any] = json.loads(record.value)
        question, turn = event["questionId"], event["turn"]
        digest = blake2b(record.value, digest_size=16).digest()
        self.renumbered += self.turn_of.setdefault(question, turn) != turn
        if (known := self.first[topic].setdefault(question, digest)) is not digest:
            self.redelivered += known == digest
            self.differing += known != digest
            return
        if topic == "answers":
            self.answered_at = time.monotonic()
            self.failed_answers += event["status"] == "failed"
