"""How many model calls run at once in this worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pipeline.errors import ModelFailed
from pipeline.metrics import Metrics
from pipeline.ports import AnswerRequest, Model, Proposal, Reply

#: The share of the permits that one stage may hold, so that no stage starves another.
_STAGE_SHARE = 0.75

R = TypeVar("R", Proposal, Reply)


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
    """A model whose calls wait for a permit and are counted; its own deadlines run from the start of the call."""

    def __init__(self, model: Model, permits: Permits, metrics: Metrics) -> None:
        self._model, self._permits, self._metrics = model, permits, metrics

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        return await self._counted("role-extraction", lambda: self._model.extract(question, history))

    async def answer(self, request: AnswerRequest) -> Reply:
        return await self._counted("report-generation", lambda: self._model.answer(request))

    async def report(self, request: AnswerRequest) -> Proposal:
        return await self._counted("report-generation", lambda: self._model.report(request))

    async def _counted(self, stage: str, call: Callable[[], Awaitable[R]]) -> R:
        async with self._permits.hold(stage):
            with self._metrics.model_running.labels(stage).track_inprogress():
                try:
                    reply = await call()
                except ModelFailed as failure:
                    self._metrics.model_failure(stage, failure)
                    raise
        self._metrics.model_call(stage, reply.cost)
        return reply

    async def aclose(self) -> None:
        await self._model.aclose()
