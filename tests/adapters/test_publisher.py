"""Publishing while the broker says nothing."""

import asyncio
from typing import cast

import pytest
from aiokafka import AIOKafkaProducer

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.publisher import KafkaPublisher
from pipeline.errors import Outage
from tests.processors.factories import turn


class Silent:
    """A producer that waits for a broker that stopped while it was connected."""

    async def send_and_wait(self, *_: object, **__: object) -> None:
        await asyncio.Event().wait()


async def test_a_record_that_is_not_confirmed_is_waited_for_no_longer_than_the_patience() -> None:
    """The connection stands, so nothing fails by itself."""
    publisher = KafkaPublisher(Connection("b:9092", ""), patience=0.01)
    publisher._producer = cast(AIOKafkaProducer, Silent())
    with pytest.raises(Outage, match="Kafka at b:9092 did not confirm a record in time"):
        await publisher.publish(turn(1), {})
