"""The periodic jobs: each at its period, whatever another does, and given up when the worker ends."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from pipeline.errors import ModelFailed
from pipeline.metrics import Metrics
from pipeline.ports import Publisher
from pipeline.processing import Job, Processor, Services
from pipeline.processors import topology
from pipeline.schedule import Schedule
from schemas.memory_events import FeaturesObserved
from schemas.wire import Wire

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SERVICES = cast(Services, object())
EVENT = FeaturesObserved.model_validate(
    {"userId": "u", "observedBy": "weekly-check", "source": "SYSTEM", "recordTime": NOW}
)


@dataclass
class Time:
    """Passes only when it is told to: a pause ends once so many seconds have passed."""

    seconds: float = 0.0
    _pauses: list[tuple[float, asyncio.Event]] = field(default_factory=list)
    _paused: asyncio.Event = field(default_factory=asyncio.Event)

    async def pause(self, seconds: float) -> None:
        ended = asyncio.Event()
        self._pauses.append((self.seconds + seconds, ended))
        self._paused.set()
        await ended.wait()

    async def all_pause(self, jobs: int) -> None:
        while len(self._pauses) < jobs:
            self._paused.clear()
            await self._paused.wait()

    async def pass_by(self, seconds: float, jobs: int) -> None:
        """Every job that is due by then gets its rounds, one after the other."""
        until = self.seconds + seconds
        await self.all_pause(jobs)
        while (nearest := min(self._pauses, key=lambda pause: pause[0]))[0] <= until:
            self._pauses.remove(nearest)
            self.seconds = nearest[0]
            nearest[1].set()
            await self.all_pause(jobs)
        self.seconds = until


@dataclass
class Sent:
    events: list[tuple[Wire, Mapping[str, bytes]]] = field(default_factory=list)

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        self.events.append((event, headers))


@dataclass
class Work:
    """A job that counts its rounds; each fails with what stands first in `fails`, until that is empty."""

    period: timedelta = timedelta(minutes=1)
    name: str = "work"
    fails: list[Exception | None] = field(default_factory=list)
    gives: Sequence[Wire] = ()
    rounds: int = 0

    @property
    def job(self) -> Job:
        return Job(self.name, self.period, self._run)

    async def _run(self, services: Services) -> Sequence[Wire]:
        assert services is SERVICES
        self.rounds += 1
        if self.fails and (failure := self.fails.pop(0)):
            raise failure
        return self.gives


def schedule(*jobs: Job, sent: Sent | None = None, metrics: Metrics | None = None, **more: Any) -> Schedule:
    return Schedule(jobs, SERVICES, cast(Publisher, sent or Sent()), metrics or Metrics(), **more)


async def test_each_job_has_its_own_period() -> None:
    """The first round comes within a minute, for a worker may be restarted often, and then one each period."""
    time, often, seldom = Time(), Work(), Work(timedelta(hours=1), "seldom")
    running = asyncio.create_task(schedule(often.job, seldom.job, pause=time.pause).run())
    await time.pass_by(60, 2)
    assert (often.rounds, seldom.rounds) == (1, 1)
    await time.pass_by(3600, 2)
    assert (often.rounds, seldom.rounds) == (61, 2)
    running.cancel()
    await asyncio.wait({running})


async def test_what_a_job_returns_is_published() -> None:
    """As an event of ours, with the id that every delivery of the same event repeats."""
    sent = Sent()
    await schedule(sent=sent).round(Work(gives=[EVENT]).job)
    ((event, headers),) = sent.events
    assert event == EVENT
    assert (headers["producer"], headers["eventId"]) == (b"rolestream", EVENT.event_id.encode())
    assert "traceparent" in headers


async def test_a_failing_job_is_said_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """One line for a row of failures, another for the next row; the other jobs have their rounds."""
    broken = Work(name="broken", fails=[ModelFailed("no"), RuntimeError("no"), None, RuntimeError("no")])
    time, sound, metrics = Time(), Work(), Metrics()
    running = asyncio.create_task(schedule(broken.job, sound.job, metrics=metrics, pause=time.pause).run())
    with caplog.at_level(logging.WARNING):
        await time.pass_by(60 + 4 * 60, 2)
    assert (broken.rounds, sound.rounds) == (5, 5)
    assert [record.message.partition(";")[0] for record in caplog.records] == 2 * ["job broken failed"]
    assert b'rolestream_jobs_total{job="broken",outcome="failed"} 3.0' in metrics.text()
    assert b'rolestream_jobs_total{job="work",outcome="done"} 5.0' in metrics.text()
    running.cancel()
    await asyncio.wait({running})


async def test_a_job_at_work_is_given_up_at_the_end() -> None:
    """It may hang, or wait out an outage: the worker's end waits for none."""
    begun = asyncio.Event()

    async def hang(_: Services) -> Sequence[Wire]:
        begun.set()
        await asyncio.Event().wait()
        return ()

    async def at_once(_: float) -> None: ...

    running = asyncio.create_task(schedule(Job("hang", timedelta(1), hang), pause=at_once).run())
    await begun.wait()
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled()


async def test_a_worker_without_jobs_has_nothing_to_wait_for() -> None:
    """Of a deployment without user memory, or of processors that have none."""
    await schedule().run()


def test_the_processors_bring_their_jobs() -> None:
    """Idle conversations each minute, the weekly check looked at each hour, and none where user memory is off."""
    jobs = {job.name: (processor.name, job.period) for processor in _topology() for job in processor.jobs}
    assert jobs == {
        "summarise-idle": ("summary", timedelta(minutes=1)),
        "check-stale": ("feature-memory", timedelta(hours=1)),
    }
    assert not any(processor.jobs for processor in _topology(user_memory=False))
    assert not any(processor.jobs for processor in _topology(memory=False))


@pytest.mark.parametrize("off", [{}, {"memory": False}, {"user_memory": False}])
def test_commands_are_answered_whatever_is_off(off: dict[str, bool]) -> None:
    """Memory commands and feature memory, which writes the receipts of features, always run."""
    assert {"memory-commands", "feature-memory"} <= {processor.name for processor in _topology(**off)}


def _topology(*, memory: bool = True, user_memory: bool = True) -> tuple[Processor, ...]:
    return topology(memory=memory, user_memory=user_memory, guidance="fresh")
