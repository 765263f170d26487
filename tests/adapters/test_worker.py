"""What Faust is told, and where its own bookkeeping would lose a worker or forget a commit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.events import Event
from faust.types import TP
from faust.types.tuples import ConsumerMessage

from pipeline.adapters.kafka import pace as pacing
from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.pace import IDLE_AFTER, IDLE_WAIT_MS, Pace
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.metrics import Metrics
from pipeline.processing import Processor, Record

#: Seconds for which a standby may have nothing to do.
A_MONTH = 30 * 24 * 3600


PLACE = TP("test.questions", 0)


async def nothing(record: Record) -> None: ...


def probe(run: Callable[[Record], Awaitable[None]] = nothing) -> ProcessorApp:
    """An app that nobody starts; it holds two records at once."""

    async def handle(*_: Any) -> list[Any]:
        return []

    return ProcessorApp(
        Processor("probe", ("questions",), handle),
        Connection("127.0.0.1:1", "test."),
        run,
        max_unacked=2,
        drain_timeout=1,
        waits=lambda task: False,
        metrics=Metrics(),
        pace=Pace(500),
    )


async def test_an_idle_standby_stays_in_its_group() -> None:
    """A consumer without partitions leaves its group for good after the poll interval, so that it must never come."""
    assert probe().conf.broker_max_poll_interval > A_MONTH


async def test_what_is_done_is_committed_though_an_earlier_commit_was_cut_off() -> None:
    """Faust takes acknowledgements off its list before it commits them, so that a revoke in between forgot them."""
    app = probe()
    consumer = app.faust_consumer
    consumer._committed_offset[PLACE] = 3
    consumer._acked[PLACE] = [3, 4, 5, 6]
    app.done[PLACE] = 7
    for _ in ("cut off", "on revoke"):
        assert consumer._new_offset(PLACE) == 7
    assert not consumer._acked[PLACE]


async def test_nothing_is_committed_for_a_partition_where_nothing_is_done() -> None:
    """A partition that was only just dealt keeps the offset that it has."""
    assert probe().faust_consumer._new_offset(PLACE) is None


class Coming:
    """Records of one partition as Faust hands them to us, and what is asked of Faust."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, committed: int) -> None:
        self.done: list[int] = []
        self.sought: list[int] = []
        self.release = asyncio.Event()
        self.app = probe(self._run)
        self.app.faust_consumer.begins[PLACE] = committed
        monkeypatch.setattr(self.app.faust_consumer, "seek", self._seek)
        self._coming: asyncio.Queue[Event] = asyncio.Queue()
        self._reading = asyncio.ensure_future(self.app._reader("test.")(self))

    async def _run(self, record: Record) -> None:
        await self.release.wait()
        self.done.append(record.offset)

    async def _seek(self, partition: TP, offset: int) -> None:
        self.sought.append(offset)

    def noack(self) -> "Coming":
        return self

    async def events(self) -> AsyncIterator[Event]:
        while True:
            yield await self._coming.get()

    async def come(self, *offsets: int) -> None:
        """Hand records over, each under a key of its own, and let everything run as far as it can."""
        for offset in offsets:
            message = ConsumerMessage(
                PLACE.topic, PLACE.partition, offset, 0.0, 0, [], b"%d" % offset, b"{}", None, tp=PLACE,
                generation_id=self.app.consumer_generation_id,
            )  # fmt: skip
            self._coming.put_nowait(Event(self.app, None, None, None, message))
        for _ in range(20):
            await asyncio.sleep(0)

    async def rebalance(self, *between: int, committed: int) -> None:
        """Give the partition up, as a worker that its group has left behind does, and get it again.

        Records that Faust fetched before come `between` the two.
        """
        await self.app.drain(lost=True)
        await self.come(*between)
        self.app.faust_consumer.begins[PLACE] = committed
        self.app.consumer_generation_id += 1
        await self.app._resume()

    async def end(self) -> None:
        self.release.set()
        await self.app.drain()
        self._reading.cancel()


@pytest.fixture
async def coming(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Coming]:
    coming = Coming(monkeypatch, committed=5)
    yield coming
    await coming.end()


async def test_what_comes_while_partitions_are_given_up_is_taken_in_when_it_comes_again(coming: Coming) -> None:
    """A thawed worker read the newest question before its partition was dealt anew, and passed it over then."""
    coming.release.set()
    await coming.rebalance(5, 6, committed=5)
    await coming.come(5, 6)
    assert coming.done == [5, 6]


async def test_what_waits_for_room_while_partitions_are_given_up_is_taken_in_when_it_comes_again(
    coming: Coming,
) -> None:
    await coming.come(5, 6, 7, 8)
    await coming.rebalance(committed=5)
    coming.release.set()
    await coming.come(5, 6, 7, 8)
    assert coming.done == [5, 6, 7, 8]


async def test_a_hole_is_read_again_until_what_is_behind_it_comes_again(coming: Coming) -> None:
    """What had been fetched behind a hole still comes; the record behind a real one is the first to come again."""
    coming.release.set()
    await coming.come(7, 8)
    assert coming.sought == [5, 5]
    await coming.come(9)  # it read on, for its place was behind
    assert coming.sought == [5, 5, 5]
    await coming.come(5, 8)
    assert coming.sought == [5, 5, 5, 6]
    await coming.come(8)  # 6 and 7 are no more
    assert coming.done == [5, 8]


async def test_the_first_record_of_a_log_whose_beginning_is_gone_is_believed_when_it_comes_again(
    coming: Coming,
) -> None:
    """Where nothing was ever committed a log is read from its beginning, or one that was passed over would be lost."""
    coming.app.faust_consumer.begins[PLACE] = 0
    coming.release.set()
    await coming.come(3)
    assert (coming.sought, coming.done) == ([0], [])
    await coming.come(3, 4)
    assert coming.done == [3, 4]


async def test_what_comes_before_the_first_seek_is_where_reading_begins(coming: Coming) -> None:
    """A standby reads on while it is dealt its first partitions: from what is committed, not from the whole log."""
    coming.app.faust_consumer.begins.clear()
    coming.release.set()
    await coming.come(450)
    coming.app.faust_consumer.begins[PLACE] = 450
    await coming.come(450, 451)
    assert (coming.sought, coming.done) == ([], [450, 451])


async def test_what_was_done_is_not_taken_in_again(coming: Coming) -> None:
    coming.release.set()
    await coming.come(5, 6, 5, 6, 7)
    assert coming.done == [5, 6, 7]


class FakeConsumer:
    """What of aiokafka's consumer tells its fetcher how long to wait."""

    _fetch_max_wait_ms = 0
    _fetcher: Any = None

    def begin(self) -> None:
        self._fetcher = SimpleNamespace(_fetch_max_wait_ms=self._fetch_max_wait_ms)


@pytest.mark.parametrize(("wait_ms", "idle_ms"), [(10, IDLE_WAIT_MS), (500, 500)])
async def test_fetches_wait_longer_once_no_record_has_come_for_a_while(
    monkeypatch: pytest.MonkeyPatch, wait_ms: int, idle_ms: int
) -> None:
    """Every consumer's, and of one that begins then, until a record comes; a wait that is long already stays."""
    now = 0.0
    monkeypatch.setattr(pacing, "monotonic", lambda: now)
    pace, consumers = Pace(wait_ms), [cast(Any, FakeConsumer()) for _ in range(2)]

    def waits() -> list[int]:
        return [consumer._fetcher._fetch_max_wait_ms for consumer in consumers]

    for consumer in consumers:
        pace.set_for(consumer)
        consumer.begin()
    for _ in range(2):
        pace.look()
        assert waits() == [wait_ms, wait_ms]
        now += IDLE_AFTER + 1
        pace.look()
        assert waits() == [idle_ms, idle_ms]
        late = FakeConsumer()
        pace.set_for(cast(Any, late))
        late.begin()
        assert late._fetcher._fetch_max_wait_ms == idle_ms
        pace.record_came()
        assert waits() == [wait_ms, wait_ms]
