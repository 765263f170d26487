"""Listening: to what is no event, to a topic that grows, and while the broker goes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from pipeline.adapters.embedded import Services
from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.listener import KafkaListener
from pipeline.adapters.kafka.topics import create_topics
from schemas.events import ERROR_PREFIX, AnswerReady, QuestionRefused
from schemas.topics import TopicName
from schemas.wire import Wire
from tests.conftest import Names


@dataclass
class Listening:
    """What is published on a topic, and heard."""

    topic: str
    producer: AIOKafkaProducer
    heard: "asyncio.Queue[Wire | Exception]" = field(default_factory=asyncio.Queue)

    async def publish(self, value: bytes, partition: int = 0, **headers: bytes) -> None:
        named = [(f"{ERROR_PREFIX}{name}", value) for name, value in headers.items()]
        await self.producer.send_and_wait(self.topic, value, b"c", partition=partition, headers=named)

    async def next(self) -> Wire | Exception:
        async with asyncio.timeout(20):
            return await self.heard.get()


@asynccontextmanager
async def listening(
    services: Services, names: Names, topic: TopicName, kind: type[KafkaListener] = KafkaListener
) -> AsyncIterator[Listening]:
    connection = Connection(services.brokers, names.topic_prefix, fetch_max_wait_ms=10)
    await create_topics(connection, 2, 1, 1)
    async with AsyncExitStack() as stack:
        producer = AIOKafkaProducer(**connection.for_aiokafka())
        await producer.start()
        stack.push_async_callback(producer.stop)
        here = Listening(names.topic_prefix + topic, producer)
        tell = here.heard.put_nowait
        listener = kind(connection, (topic,), tell, tell, extended_after=0.1)
        await listener.start()
        stack.push_async_callback(listener.stop)
        yield here


def answer(text: str) -> bytes:
    fields = {"conversationId": "c", "userId": "u", "questionId": "q", "text": text}
    return AnswerReady.model_validate(fields).to_json()


class Narrow(KafkaListener):
    """Begins with a single partition, as if the topic had no other yet: the embedded broker extends none."""

    async def _partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self._connection.prefix + topic, 0) for topic in self._topics]


async def test_a_topic_that_is_extended_is_heard_whole(services: Services, names: Names) -> None:
    """What is in a new partition from its beginning, and of the old one everything once, whatever comes meanwhile."""
    async with listening(services, names, "answers", Narrow) as here:
        wanted = [f"new {number}" for number in range(20)] + [f"old {number}" for number in range(20)]
        for text in wanted:
            await here.publish(answer(text), int(text.startswith("new")))
        heard = [await here.next() for _ in wanted]
        assert sorted(event.text for event in heard if isinstance(event, AnswerReady)) == sorted(wanted)
        await here.publish(answer("last"), 1)
        assert getattr(await here.next(), "text", "") == "last"


async def test_a_record_that_nests_too_deeply_is_passed_over(services: Services, names: Names) -> None:
    """A dead letter holds whatever was sent: none of it ends the listener."""
    async with listening(services, names, "dead-letters") as here:
        for value in (b"[" * 20_000 + b"]" * 20_000, b"\xff", b"[1]", b"{}"):
            await here.publish(value, processor=b"p", message=b"no")
        await here.publish(b'{"conversationId": "c", "questionId": "q"}', processor=b"p", message=b"no")
        assert isinstance(refused := await here.next(), QuestionRefused)
        assert refused.question_id == "q"


class Client:
    is_closed = False

    async def close(self) -> None:
        self.is_closed = True


class Orphaned:
    """A consumer without a broker: it ends by the cancellation of its own fetch, and closes nothing."""

    def __init__(self) -> None:
        self._client = Client()

    async def stop(self) -> None:
        raise asyncio.CancelledError


async def test_a_listener_whose_broker_is_gone_ends_in_order() -> None:
    """A cancellation of the consumer's own is none of whoever stops the listener; its connections are closed."""
    listener, consumer = KafkaListener(Connection("b:9092", ""), (), print, print), Orphaned()
    listener._consumer = cast(AIOKafkaConsumer, consumer)
    listener._task = asyncio.create_task(asyncio.sleep(0))
    await listener.stop()
    assert consumer._client.is_closed
