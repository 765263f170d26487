"""How many model calls run at once in this worker."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

#: The processors that call the model.
Stage = Literal["role-extraction", "report-generation", "feature-extraction", "summary", "feature-memory"]

#: The share of the permits that one stage may hold, so that no stage starves another.
_STAGE_SHARE = 0.75


class Permits:
    """`max_running` permits for all stages together, at most three quarters for one of several stages.

    A call holds one for as long as one request takes; pauses between requests hold none.
    """

    def __init__(self, max_running: int, stages: Sequence[Stage]) -> None:
        for_one = max_running if len(stages) < 2 else max(1, int(max_running * _STAGE_SHARE))
        self._all = asyncio.Semaphore(max_running)
        self._stages = {stage: asyncio.Semaphore(for_one) for stage in stages}
        self.running: dict[Stage, int] = dict.fromkeys(stages, 0)
        """How many calls of each stage hold a permit."""
        self._waiting: set[asyncio.Task[Any]] = set()

    def waits(self, task: asyncio.Task[None]) -> bool:
        """Whether a task is between calls, so that giving it up wastes none."""
        return task in self._waiting

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Around a pause between two calls: nothing is lost when the task is given up in it."""
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            yield
        finally:
            self._waiting.discard(task)

    @asynccontextmanager
    async def hold(self, stage: Stage) -> AsyncIterator[None]:
        """Hold one permit of a stage."""
        with self.resting():
            await self._stages[stage].acquire()
            try:
                await self._all.acquire()
            except BaseException:
                self._stages[stage].release()
                raise
        self.running[stage] += 1
        try:
            yield
        finally:
            self.running[stage] -= 1
            self._all.release()
            self._stages[stage].release()
