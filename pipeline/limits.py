"""How many model calls run at once in this worker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pipeline.ports import AnswerRequest, Model, Proposal, Reply

#: The share of the permits that one stage may hold, so that no stage starves another.
_STAGE_SHARE = 0.75


class Permits:
    """`max_running` permits for all stages together, at most three quarters for one of several stages."""

    def __init__(self, max_running: int, stages: Sequence[str]) -> None:
        for_one = max_running if len(stages) < 2 else max(1, int(max_running * _STAGE_SHARE))
        self._all = asyncio.Semaphore(max_running)
        self._stages = {stage: asyncio.Semaphore(for_one) for stage in stages}
        self._waiting: set[asyncio.Task[Any]] = set()

    def waits(self, task: asyncio.Task[None]) -> bool:
        """Whether a task still waits for a permit, so that giving it up wastes no call."""
        return task in self._waiting

    @asynccontextmanager
    async def hold(self, stage: str) -> AsyncIterator[None]:
        """Hold one permit of a stage."""
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            async with self._stages[stage], self._all:
                self._waiting.discard(task)
                yield
        finally:
            self._waiting.discard(task)


class LimitedModel:
    """A model whose calls wait for a permit; its own deadlines run from the start of the call."""

    def __init__(self, model: Model, permits: Permits) -> None:
        self._model, self._permits = model, permits

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        async with self._permits.hold("role-extraction"):
            return await self._model.extract(question, history)

    async def answer(self, request: AnswerRequest) -> Reply:
        async with self._permits.hold("report-generation"):
            return await self._model.answer(request)

    async def report(self, request: AnswerRequest) -> Proposal:
        async with self._permits.hold("report-generation"):
            return await self._model.report(request)

    async def aclose(self) -> None:
        await self._model.aclose()
