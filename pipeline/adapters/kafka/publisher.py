"""Publishing on aiokafka: every send is confirmed by the broker before it counts."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from aiokafka import AIOKafkaProducer
from aiokafka.errors import MessageSizeTooLargeError, RecordListTooLargeError

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.outage import Patience
from pipeline.errors import BadEvent, Outage, RolestreamError
from pipeline.processing import REPLAY_HEADER
from schemas.events import DeadLetter
from schemas.topics import BY_EVENT
from schemas.wire import Wire

log = logging.getLogger(__name__)

#: What a broker takes by default is 1 MiB; a dead letter may be larger, for its source already was near it.
MAX_DEAD_LETTER_BYTES = 2 * 1024 * 1024
_REQUEST_TIMEOUT_MS = 30_000
#: Seconds for what is under way at a stop; without a broker it never ends.
_STOP_TIMEOUT = 1.0
#: Seconds between looks at whether any broker is connected.
_LOOK_EVERY = 1.0

Headers = Sequence[tuple[str, bytes]]


class KafkaPublisher:
    """The `Publisher` port. While Kafka is away a send waits: `patience` seconds, or for as long as it takes."""

    def __init__(self, connection: Connection, *, patience: float | None = None) -> None:
        self._connection, self._patience = connection, patience
        self._patiently = Patience("Kafka", (Outage,), patience)
        self._producer: AIOKafkaProducer | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def is_away(self) -> bool:
        return self._patiently.is_away

    async def start(self) -> None:
        """Connect; waits while no broker answers, and raises SettingsInvalid when one refuses us."""
        await self._patiently(self._connect)
        self._watch = asyncio.create_task(self._keep_looking())

    async def _connect(self) -> None:
        await self._connection.check()
        producer = AIOKafkaProducer(
            **self._connection.for_aiokafka(),
            acks="all",
            max_request_size=MAX_DEAD_LETTER_BYTES,
            request_timeout_ms=_REQUEST_TIMEOUT_MS,
        )
        try:
            async with self._connection.explained():
                await producer.start()
        except BaseException:
            await producer.stop()
            raise
        self._producer = producer

    async def _keep_looking(self) -> None:
        """Say that Kafka is away when nothing is published, too, and before aiokafka gives up what is."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if not (self._is_connected() and self._patiently.is_over):
                with suppress(RolestreamError):  # whoever publishes next is told
                    await self._patiently(self._reconnect)

    def _is_connected(self) -> bool:
        assert self._producer is not None
        return any(connection.connected() for connection in self._producer.client._conns.values())

    async def _reconnect(self) -> None:
        """Raises Outage with the reason, which the producer keeps to itself."""
        assert self._producer is not None
        await self._connection.check()
        await self._producer.client.force_metadata_update()

    async def stop(self) -> None:
        """Send what is under way, and disconnect."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        if self._producer is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._producer.stop(), _STOP_TIMEOUT)

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        """Send an event to its topic; raises BadEvent when it is larger than a broker takes, and SettingsInvalid."""
        topic = BY_EVENT[type(event)]
        value = event.to_json()
        key = str(getattr(event, topic.key)).encode() if topic.key else None
        if not await self._send(topic.name, key, value, list(headers.items()), None):
            raise BadEvent(f"the {type(event).__name__} of this record has {len(value)} bytes, more than Kafka takes")

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        headers = [*letter.headers, *letter.error_headers()]
        if await self._send("dead-letters", letter.key, letter.value, headers, letter.record_time):
            return
        log.error("dead letter %s is too large for Kafka: its value is in MongoDB alone", letter.letter_id)
        await self._send("dead-letters", letter.key, None, headers, letter.record_time)

    async def replay(self, letter: DeadLetter) -> None:
        headers = [*letter.headers, (REPLAY_HEADER, str(letter.attempts).encode())]
        if not await self._send(letter.source_topic, letter.key, letter.value, headers, letter.record_time):
            raise BadEvent(f"dead letter {letter.letter_id} is larger than Kafka takes now")

    async def _send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Headers, time: datetime | None
    ) -> bool:
        """Whether the broker took it; False means that it never will.

        Raises Outage where it is not confirmed in time, be it that the broker takes it later.
        """
        milliseconds = None if time is None else round(time.timestamp() * 1000)

        async def attempt() -> bool:
            assert self._producer is not None
            async with self._connection.explained():
                try:
                    await self._producer.send_and_wait(
                        self._connection.prefix + topic, value, key, timestamp_ms=milliseconds, headers=headers
                    )
                except (MessageSizeTooLargeError, RecordListTooLargeError):
                    return False
            return True

        try:
            async with asyncio.timeout(self._patience):
                return await self._patiently(attempt)
        except TimeoutError as exc:
            raise Outage(f"Kafka at {self._connection.brokers} did not confirm a record in time") from exc
