"""What a worker leaves uncommitted when it is killed, and how many events that may bring once more."""

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from pipeline.processors import topology

#: The stages that lead from a question to its answer, each with one event a turn, the last one first.
_CHAIN = ("report-generation", "update-arbitration", "role-extraction", "conversation-logging")


async def may_come_again(brokers: str, prefix: str, partitions: int) -> int:
    """The events that come of every uncommitted record: its own, and one of each later stage."""
    again = 0
    reads = {one.name: one.reads[0] for one in topology(memory=True, user_memory=False, guidance="fresh")}
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    consumer = AIOKafkaConsumer(bootstrap_servers=brokers)
    await admin.start()
    try:
        await consumer.start()
        try:
            for later, name in enumerate(_CHAIN):
                places = [TopicPartition(prefix + reads[name], number) for number in range(partitions)]
                committed = await admin.list_consumer_group_offsets(prefix + name)
                ends = await consumer.end_offsets(places)
                uncommitted = (end - _offset(committed.get(place)) for place, end in ends.items())
                again += (later + 1) * sum(uncommitted)
        finally:
            await consumer.stop()
    finally:
        await admin.close()
    return again


def _offset(committed: object) -> int:
    return max(0, int(getattr(committed, "offset", 0)))
