"""The jobs of a worker's processors, each at its period beside the records, until it is cancelled."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence

from pipeline.metrics import Metrics
from pipeline.ports import Publisher
from pipeline.processing import Job, Services
from pipeline.runner import headers_of

log = logging.getLogger(__name__)

#: The first round comes within so many seconds, not at once with that of every other worker.
_FIRST_WITHIN = 60.0

Pause = Callable[[float], Awaitable[object]]


class Schedule:
    """`pause` waits for some seconds."""

    def __init__(
        self,
        jobs: Sequence[Job],
        services: Services,
        publisher: Publisher,
        metrics: Metrics,
        *,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._jobs, self._services, self._publisher, self._metrics = jobs, services, publisher, metrics
        self._pause = pause
        self._failing: set[str] = set()

    async def run(self) -> None:
        """Do every job again and again; returns only where there is none."""
        async with asyncio.TaskGroup() as group:
            for job in self._jobs:
                group.create_task(self._repeat(job))

    async def round(self, job: Job) -> None:
        """Do a job once and publish what comes of it; a failing one is said once, until it succeeds again."""
        try:
            for event in await job.run(self._services):
                await self._publisher.publish(event, headers_of(event, {}))
        except Exception:
            self._metrics.jobs.labels(job.name, "failed").inc()
            if job.name not in self._failing:
                log.exception("job %s failed; it is tried again at its time", job.name, extra={"action": "job_failed"})
            self._failing.add(job.name)
        else:
            self._metrics.jobs.labels(job.name, "done").inc()
            self._failing.discard(job.name)

    async def _repeat(self, job: Job) -> None:
        period = job.period.total_seconds()
        await self._pause(random.uniform(0, min(period, _FIRST_WITHIN)))
        while True:
            await self.round(job)
            await self._pause(period)
