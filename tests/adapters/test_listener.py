"""Listening while the broker goes."""

import asyncio
from typing import cast

from aiokafka import AIOKafkaConsumer

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.listener import KafkaListener


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
