"""Performs one case: its load and its doings side by side, to the last answer; then counts."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.figures import Figures, track_figures
from tests.chaos.stage import Scale, Stage, staged
from tests.kafka import Cluster

Check = Callable[[Figures], str | None]


@dataclass(frozen=True)
class Case:
    """What is done to the workers and services under load, and what more than nothing lost must come of it."""

    play: Callable[[Stage], Awaitable[None]]
    check: Check = lambda figures: None
    """What is wrong with the figures of the case; None where nothing is."""
    nodes: int = 1
    turns: int | None = None
    """The most turns that tell something."""
    repeated: int = 0
    """Model calls for a stored turn that cannot be helped: a frozen worker had decided on them before it froze."""


async def perform(name: str, case: Case, cluster: Cluster, turns: int, logs: Path) -> tuple[Figures, list[str]]:
    """The case's figures, and what is wrong with them; the workers' logs are written to `logs`."""
    scale = Scale.of(turns if case.turns is None else min(turns, case.turns))
    async with staged(cluster, scale, logs) as stage:
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            publishing = group.create_task(stage.load.publish())
            await case.play(stage)
            await stage.answered(scale.turns)
            if stage.problems:
                publishing.cancel()
        seconds = time.monotonic() - begun
        for worker in stage.workers:
            if worker.is_running:
                await stage.stop_worker(worker)
        await stage.witness.catch_up()
        await stage.model.settled()
        figures = await _figures(name, stage, seconds)
    wrong = [*stage.problems, *figures.faults(case.repeated)]
    if problem := case.check(figures):
        wrong.append(problem)
    return figures, wrong


async def _figures(name: str, stage: Stage, seconds: float) -> Figures:
    witness = stage.witness
    return Figures(
        case=name,
        turns=stage.scale.turns,
        **await track_figures(stage.load.asked, witness, stage.documents),
        repeated=stage.model.repeated,
        redelivered=witness.redelivered,
        failed=witness.failed_answers,
        dead_letters=witness.dead_letters,
        ends=stage.ends,
        drain=stage.drain,
        resumed=stage.resumed,
        log_lines=sum(len(worker.complaints()) for worker in stage.workers),
        seconds=seconds,
    )
