"""Permits: how many model calls run at once, and that no stage starves another."""

import asyncio

from pipeline.limits import Permits, Stage


async def holding(
    permits: Permits, stage: Stage, count: int
) -> tuple[list[asyncio.Task[None]], list[str], asyncio.Event]:
    """Tasks that each want one permit of a stage, those that hold one, and the event that lets them go."""
    held, release = list[str](), asyncio.Event()

    async def hold() -> None:
        async with permits.hold(stage):
            held.append(stage)
            await release.wait()

    tasks = [asyncio.create_task(hold()) for _ in range(count)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks, held, release


async def test_one_of_two_stages_gets_three_quarters() -> None:
    """A stage with a backlog leaves a quarter to the other, and together they never pass the limit."""
    permits = Permits(8, ("role-extraction", "report-generation"))
    first, extracting, release_first = await holding(permits, "role-extraction", 20)
    second, answering, release_second = await holding(permits, "report-generation", 20)
    assert (len(extracting), len(answering)) == (6, 2)
    release_first.set()
    release_second.set()
    await asyncio.gather(*first, *second)


async def test_the_only_stage_of_a_worker_gets_all() -> None:
    """There is nobody to starve."""
    permits = Permits(8, ("role-extraction",))
    tasks, held, release = await holding(permits, "role-extraction", 20)
    assert len(held) == 8
    release.set()
    await asyncio.gather(*tasks)


async def test_a_single_permit_still_serves_both_stages() -> None:
    """Three quarters of one is one."""
    stages: tuple[Stage, Stage] = ("role-extraction", "report-generation")
    permits = Permits(1, stages)
    for stage in stages:
        async with permits.hold(stage):
            pass
    assert permits.running == {"role-extraction": 0, "report-generation": 0}


async def test_who_waits_is_known_until_the_permit_is_held_or_given_up() -> None:
    """A drain may give up a task that waits; one that holds a permit is in the middle of a call."""
    permits = Permits(1, ("role-extraction",))
    tasks, _, release = await holding(permits, "role-extraction", 3)
    assert [permits.waits(task) for task in tasks] == [False, True, True]
    tasks[1].cancel()
    await asyncio.wait({tasks[1]})
    assert not permits.waits(tasks[1])
    release.set()
    await asyncio.gather(tasks[0], tasks[2])
