"""When a call may be made: with a permit, at a moment at which the server takes calls, and not while it fails all."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from pipeline.adapters.openai.pacing import Breaker, Pace
from pipeline.limits import Permits, Stage


class Admission:
    """First come, first served among the calls of a stage; those that were turned away before wait in a second line.

    The heads of the lines take turns, so that neither a stage nor a call that was turned away waits for all others.
    """

    def __init__(self, pace: Pace, permits: Permits, breaker: Breaker) -> None:
        self._pace, self._permits, self._breaker = pace, permits, breaker
        self._lines: defaultdict[tuple[Stage, bool], asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def call(self, stage: Stage, *, again: bool) -> AsyncIterator[float | None]:
        """Around one call, with the moment it begins; None where the server is given a pause and none may be made."""
        async with AsyncExitStack() as permit:
            yield await self._begun(stage, again, permit)

    async def _begun(self, stage: Stage, again: bool, permit: AsyncExitStack) -> float | None:
        if self._breaker.pauses:
            return None
        with self._permits.resting():
            await self._lines[stage, again].acquire()
        try:
            while not self._breaker.pauses:
                with self._permits.resting():
                    await self._pace.opens()
                await permit.enter_async_context(self._permits.hold(stage))
                begun = self._pace.begins()  # the server may have turned a call away while the permit was waited for
                if begun is not None:
                    return begun if self._breaker.admits() else None
                await permit.aclose()
            return None
        finally:
            self._lines[stage, again].release()
