"""The dispatcher: order within a key, concurrency across keys, acknowledgement in offset order."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.dispatch import Dispatcher


@dataclass(eq=False)
class Delivered:
    """A delivery that notes what becomes of it."""

    offset: int
    key: bytes | None = b"k"
    partition: int = 0
    acked: list["Delivered"] = field(default_factory=list)
    handed_back: bool = False

    def ack(self) -> None:
        self.acked.append(self)

    def hand_back(self) -> None:
        self.handed_back = True


def dispatcher(
    process: Callable[[Delivered], Awaitable[None]], *, max_unacked: int = 100, drain_timeout: float = 5.0
) -> Dispatcher[Delivered]:
    return Dispatcher(
        process, max_unacked=max_unacked, drain_timeout=drain_timeout, on_failure=lambda exc: pytest.fail(str(exc))
    )


async def submit(subject: Dispatcher[Delivered], delivery: Delivered) -> None:
    await subject.room()
    subject.take(delivery)


async def test_one_key_runs_in_order_while_others_go_on() -> None:
    """Deliveries of a key never overlap, and a slow key holds up no other."""
    release = asyncio.Event()
    running: dict[bytes | None, int] = defaultdict(int)
    order: dict[bytes | None, list[int]] = defaultdict(list)

    async def process(delivery: Delivered) -> None:
        assert running[delivery.key] == 0
        running[delivery.key] += 1
        if delivery.key == b"slow":
            await release.wait()
        await asyncio.sleep(0)
        running[delivery.key] -= 1
        order[delivery.key].append(delivery.offset)

    subject = dispatcher(process)
    for offset in range(30):
        await submit(subject, Delivered(offset, b"slow" if offset % 3 == 0 else b"fast%d" % (offset % 3)))
    while sum(len(done) for done in order.values()) < 20:
        await asyncio.sleep(0)
    assert order[b"slow"] == []
    release.set()
    assert await subject.drain() == 0
    assert all(done == sorted(done) for done in order.values())


async def test_nothing_is_acknowledged_past_an_unfinished_delivery() -> None:
    """What is done behind an unfinished delivery waits; when that is done all are acknowledged in order."""
    release, acked = asyncio.Event(), list[Delivered]()

    async def process(delivery: Delivered) -> None:
        if delivery.offset == 1:
            await release.wait()

    subject = dispatcher(process)
    for offset in range(4):
        await submit(subject, Delivered(offset, b"%d" % offset, acked=acked))
    while not acked:
        await asyncio.sleep(0)
    assert [delivery.offset for delivery in acked] == [0]
    release.set()
    await subject.drain()
    assert [delivery.offset for delivery in acked] == [0, 1, 2, 3]


async def test_partitions_are_acknowledged_apart() -> None:
    """An unfinished delivery holds up its own partition alone, though the keys are the same."""
    release, acked = asyncio.Event(), list[Delivered]()

    async def process(delivery: Delivered) -> None:
        if delivery.partition == 0:
            await release.wait()

    subject = dispatcher(process)
    for partition in (0, 1):
        await submit(subject, Delivered(0, partition=partition, acked=acked))
    while not acked:
        await asyncio.sleep(0)
    assert [delivery.partition for delivery in acked] == [1]
    release.set()
    await subject.drain()


async def test_the_window_bounds_what_is_held() -> None:
    """Beyond `max_unacked` there is no room until something is acknowledged."""
    release = asyncio.Event()

    async def process(delivery: Delivered) -> None:
        await release.wait()

    subject = dispatcher(process, max_unacked=2)
    await submit(subject, Delivered(0, b"a"))
    await submit(subject, Delivered(1, b"b"))
    third = asyncio.create_task(submit(subject, Delivered(2, b"c")))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not third.done()
    assert subject.unacked == 2
    release.set()
    await third
    await subject.drain()
    assert subject.unacked == 0


async def test_a_drain_finishes_what_fits_and_hands_back_the_rest() -> None:
    """Within the deadline running work is finished; what hangs is cancelled and handed back, unacknowledged."""
    acked, never = list[Delivered](), asyncio.Event()

    async def process(delivery: Delivered) -> None:
        await (never.wait() if delivery.key == b"hangs" else asyncio.sleep(0))

    subject = dispatcher(process, drain_timeout=0.2)
    deliveries = [Delivered(n, key, acked=acked) for n, key in enumerate((b"quick", b"hangs", b"quick", b"hangs"))]
    for delivery in deliveries:
        await submit(subject, delivery)
    assert await subject.drain() == 3
    assert acked == deliveries[:1]
    assert [delivery.handed_back for delivery in deliveries] == [False, True, True, True]


async def test_a_drain_gives_up_early_what_only_waits() -> None:
    """A task that waits for a permit is given up halfway, so that no call begins that cannot end."""
    permit, cancelled = asyncio.Event(), list[int]()

    async def process(delivery: Delivered) -> None:
        try:
            await permit.wait()
        except asyncio.CancelledError:
            cancelled.append(delivery.offset)
            raise

    subject: Dispatcher[Delivered] = Dispatcher(
        process, max_unacked=10, drain_timeout=0.1, on_failure=lambda exc: None, waits=lambda task: True
    )
    await submit(subject, Delivered(0))
    await submit(subject, Delivered(1))
    assert await subject.drain() == 2
    assert cancelled == [0]


async def test_while_draining_new_deliveries_are_handed_back_until_resumed() -> None:
    """A draining dispatcher takes nothing in; after `resume` it works as before."""
    acked = list[Delivered]()

    async def process(delivery: Delivered) -> None:
        await asyncio.sleep(0)

    subject = dispatcher(process)
    subject.begin_drain()
    late = Delivered(0)
    await submit(subject, late)
    assert late.handed_back
    await subject.drain()
    subject.resume()
    again = Delivered(0, acked=acked)
    await submit(subject, again)
    await subject.drain()
    assert acked == [again]


async def test_a_failing_process_is_reported_and_never_acknowledged() -> None:
    """Whatever `process` raises reaches `on_failure`; its delivery and all behind it stay unacknowledged."""
    failures, acked = list[BaseException](), list[Delivered]()

    async def process(delivery: Delivered) -> None:
        if delivery.offset == 0:
            raise RuntimeError("broken")

    subject = Dispatcher(process, max_unacked=10, drain_timeout=0.1, on_failure=failures.append)
    await submit(subject, Delivered(0, b"a", acked=acked))
    await submit(subject, Delivered(1, b"b", acked=acked))
    assert await subject.drain() == 2
    assert [str(failure) for failure in failures] == ["broken"]
    assert acked == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5)), max_size=40))
def test_every_schedule_keeps_the_order(schedule: list[tuple[int, int, int]]) -> None:
    """Whatever the partitions, keys and durations: all is done, in order per key, acknowledged in offset order."""

    async def run() -> None:
        acked: dict[int, list[Delivered]] = defaultdict(list)
        done: dict[tuple[int, bytes | None], list[int]] = defaultdict(list)
        offsets: dict[int, int] = defaultdict(int)

        async def process(delivery: Delivered) -> None:
            for _ in range(durations[delivery.partition, delivery.offset]):
                await asyncio.sleep(0)
            done[delivery.partition, delivery.key].append(delivery.offset)

        durations: dict[tuple[int, int], int] = {}
        subject = dispatcher(process, max_unacked=5)
        for partition, key, duration in schedule:
            offset = offsets[partition]
            offsets[partition] += 1
            durations[partition, offset] = duration
            await submit(subject, Delivered(offset, b"%d" % key, partition, acked[partition]))
        assert await subject.drain() == 0
        for partition, count in offsets.items():
            assert [delivery.offset for delivery in acked[partition]] == list(range(count))
        assert all(order == sorted(order) for order in done.values())

    asyncio.run(run())


async def test_after_a_failure_nothing_of_the_same_key_runs() -> None:
    """The next one must not take the place of the one that failed, before the worker has ended."""
    ran = list[int]()

    async def process(delivery: Delivered) -> None:
        ran.append(delivery.offset)
        raise RuntimeError("broken")

    subject = Dispatcher(process, max_unacked=10, drain_timeout=0.1, on_failure=lambda exc: None)
    await submit(subject, Delivered(0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = Delivered(1)
    await submit(subject, late)
    await subject.drain()
    assert ran == [0]
    assert late.handed_back
