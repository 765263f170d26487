"""Performs one case: its load and its doings side by side, to the last answer; then counts."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.chaos.figures import Figures, miscounted, track_figures
from tests.chaos.stage import Scale, Stage, Stalled, staged
from tests.kafka import Cluster

#: Seconds between words on how far a case is.
_TELL_EVERY = 30.0

Check = Callable[[Figures], str | None]


@dataclass(frozen=True)
class Case:
    """What is done to the workers and services under load, and what more than nothing lost must come of it."""

    play: Callable[[Stage], Awaitable[None]]
    check: Check
    """What is wrong with the figures of the case; None where nothing is."""
    nodes: int = 1
    partitions: int = 4
    turns: int | None = None
    """The most turns that must be, where more tell nothing; there are more while the case goes on."""
    user_memory: bool = False
    """Whether what lasts about the users is learnt beside, which costs a third more work."""


async def perform(name: str, case: Case, cluster: Cluster, scale: Scale, logs: Path) -> tuple[Figures, list[str]]:
    """The case's figures, and what is wrong with them; the workers' logs are written to `logs`."""
    if case.turns is not None:
        scale = replace(scale, turns=min(scale.turns, case.turns))
    async with staged(cluster, scale, case.partitions, logs, user_memory=case.user_memory) as stage:
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            publishing = group.create_task(stage.load.publish())
            telling = group.create_task(_tell(name, stage))
            try:
                await case.play(stage)
                stage.load.enough = True
                await publishing
                await stage.answered(stage.load.turns)
                if case.user_memory:
                    await stage.learnt()
            except Stalled as exc:
                stage.problems.append(str(exc))
                publishing.cancel()
            telling.cancel()
        seconds, ends = time.monotonic() - begun, stage.ends
        for worker in stage.workers:
            if worker.is_running:
                await stage.stop_worker(worker)
        await stage.witness.catch_up()
        await stage.model.settled()
        figures = await _figures(name, case, stage, seconds, ends)
    wrong = [*stage.problems, *figures.faults()]
    if problem := case.check(figures):
        wrong.append(problem)
    return figures, wrong


async def _tell(name: str, stage: Stage) -> None:
    """Say now and then how far it is."""
    while True:
        await asyncio.sleep(_TELL_EVERY)
        print(f"{name}: {stage.witness.answered} of {stage.load.turns} questions answered", file=sys.stderr, flush=True)


async def _figures(name: str, case: Case, stage: Stage, seconds: float, ends: int) -> Figures:
    witness = stage.witness
    return Figures(
        case=name,
        turns=stage.load.turns,
        **await track_figures(stage.load.asked, witness, stage.documents),
        miscounted=await miscounted(stage.load.asked, stage.documents) if case.user_memory else 0,
        repeated_calls=stage.model.repeated,
        overtaken_calls=stage.model.overtaken,
        redelivered=witness.redelivered,
        redelivered_by_kill=stage.redelivered_by_kill(),
        may_come_again=[again for _, again in stage.kills],
        failed=witness.failed_answers,
        dead_letters=witness.dead_letters,
        ends=ends,
        drain=stage.drain,
        resumed=stage.resumed,
        taken_over=stage.taken_over,
        log_lines=sum(len(worker.remarks()) for worker in stage.workers),
        seconds=seconds,
    )
