"""Key-ordered concurrency with in-order acknowledgement: one lane per key, any number of lanes at once."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

#: The share of the drain deadline in which deliveries that wait in a lane are still begun.
_SHARE_FOR_WAITING = 0.5
#: How long cancelled work may take to clean up, in seconds.
_CANCEL_GRACE = 2.0


class Delivery(Protocol):
    """One record as the dispatcher sees it."""

    @property
    def partition(self) -> Hashable: ...

    @property
    def key(self) -> bytes | None: ...

    def ack(self) -> None:
        """It is done; called in offset order within a partition."""

    def hand_back(self) -> None:
        """It is given up undone; the broker will deliver it again."""


D = TypeVar("D", bound=Delivery)


@dataclass(eq=False, slots=True)
class _Slot(Generic[D]):
    delivery: D
    taken_at: float = field(default_factory=time.monotonic)
    done: bool = False


class Dispatcher(Generic[D]):
    """Runs `process` for every delivery: in order within a key, at once across keys.

    `process` never fails: it retries, dead-letters or waits by itself, and whatever it raises all
    the same is handed to `on_failure`, its delivery staying unacknowledged. At most `max_unacked`
    deliveries are held. `waits(task)` tells that a task has begun nothing costly yet, so that a
    drain may give it up early.
    """

    def __init__(
        self,
        process: Callable[[D], Awaitable[None]],
        *,
        max_unacked: int,
        drain_timeout: float,
        on_failure: Callable[[BaseException], None],
        waits: Callable[[asyncio.Task[None]], bool] = lambda task: False,
    ) -> None:
        self._process, self._on_failure, self._waits = process, on_failure, waits
        self._drain_timeout = drain_timeout
        self._lanes: dict[tuple[Hashable, bytes | None], deque[_Slot[D]]] = {}
        self._windows: dict[Hashable, deque[_Slot[D]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()
        self._begin_no_more = False
        self.draining = False
        self.unacked = 0
        self.max_unacked = max_unacked
        self.progressed_at = time.monotonic()
        """When a delivery was last finished, or taken in where none was held."""

    @property
    def running(self) -> int:
        """How many keys are in work."""
        return len(self._tasks)

    def oldest_unacked(self) -> float:
        """The age in seconds of the delivery that has waited longest; 0 when there is none."""
        heads = [window[0].taken_at for window in self._windows.values() if window]
        return time.monotonic() - min(heads) if heads else 0.0

    async def room(self) -> None:
        """Wait until another delivery may be taken in, or a drain begins."""
        while not self.draining and self.unacked >= self.max_unacked:
            self._room.clear()
            await self._room.wait()

    def take(self, delivery: D) -> None:
        """Take a delivery in, for which there is room; while draining it is handed back."""
        if self.draining:
            delivery.hand_back()
            return
        if not self.unacked:
            self.progressed_at = time.monotonic()
        slot = _Slot(delivery)
        self._windows.setdefault(delivery.partition, deque()).append(slot)
        self.unacked += 1
        name = (delivery.partition, delivery.key)
        if name in self._lanes:
            self._lanes[name].append(slot)
            return
        lane = self._lanes[name] = deque([slot])
        task = asyncio.create_task(self._run_lane(name, lane))
        self._tasks.add(task)
        task.add_done_callback(self._lane_ended)

    async def _run_lane(self, name: tuple[Hashable, bytes | None], lane: deque[_Slot[D]]) -> None:
        try:
            while lane and not self._begin_no_more:
                slot = lane[0]
                await self._process(slot.delivery)
                lane.popleft()
                self._finish(slot)
        finally:
            if self._lanes.get(name) is lane:
                del self._lanes[name]

    def _lane_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.begin_drain()  # what comes after it under the same key must not go before it
            self._on_failure(failure)

    def _finish(self, slot: _Slot[D]) -> None:
        """Acknowledge the finished head of the partition: never past an unfinished delivery."""
        slot.done = True
        self.progressed_at = time.monotonic()
        window = self._windows.get(slot.delivery.partition)
        while window and window[0].done:
            window.popleft().delivery.ack()
            self.unacked -= 1
            self._room.set()

    def begin_drain(self) -> None:
        """Take nothing new in."""
        self.draining = True
        self._room.set()

    async def drain(self, within: float | None = None) -> int:
        """Finish what was taken in, then only what runs, then cancel; returns how many are handed back.

        Ends `within` so many seconds (the drain deadline by default) and a short grace.
        """
        self.begin_drain()
        limit = self._drain_timeout if within is None else within
        deadline = time.monotonic() + limit
        await self._settle(limit * _SHARE_FOR_WAITING)
        self._begin_no_more = True
        for task in [task for task in self._tasks if self._waits(task)]:
            task.cancel()
        await self._settle(max(0.0, deadline - time.monotonic()))
        for task in self._tasks:
            task.cancel()
        await self._settle(_CANCEL_GRACE)
        left = [slot.delivery for window in self._windows.values() for slot in window]
        self._windows.clear()
        self._lanes.clear()
        self.unacked = 0
        for delivery in left:
            delivery.hand_back()
        return len(left)

    async def _settle(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)

    def resume(self) -> None:
        """Take deliveries in again, after a drain."""
        self.draining = self._begin_no_more = False
