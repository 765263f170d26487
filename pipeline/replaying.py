"""Replaying dead letters: their records go to their topics again, each once."""

from collections.abc import Callable, Sequence

from pipeline.errors import BadEvent
from pipeline.ports import Publisher, Store
from schemas.events import DeadLetter


async def replay(
    letters: Sequence[DeadLetter], publisher: Publisher, store: Store, sent: Callable[[DeadLetter], None]
) -> list[BadEvent]:
    """Send the records of letters again, in order, and remove and tell of them; raises Outage.

    Returns why letters stay: each is larger than Kafka takes now. A record goes once, to every processor of its topic,
    and takes its letters of all of them; what fails again becomes a new one. One that was sent, and not removed for an
    end in between, is sent once more by the next replay.
    """
    records, refused = set[tuple[str, int, int]](), list[BadEvent]()
    for letter in letters:
        record = (letter.source_topic, letter.source_partition, letter.source_offset)
        if record not in records:
            try:
                await publisher.replay(letter)
            except BadEvent as exc:
                refused.append(exc)
                continue
            await store.remove_dead_letters(*record)
        records.add(record)
        sent(letter)
    return refused
