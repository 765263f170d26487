"""The cases that end workers: killed, stopped, frozen, added, taken away, doubled, left idle."""

import asyncio
import random
import time
from datetime import timedelta

from pipeline.processors import NAMES
from tests.chaos.figures import Figures
from tests.chaos.load import AT_ONCE, conversation_of
from tests.chaos.outages import nothing_failed
from tests.chaos.processes import STOP_GRACE
from tests.chaos.stage import SESSION, Stage
from tests.scripted_model import Call, Reply, hangs

#: How often a worker is ended in a small run, and beyond that once for so many turns.
_FEWEST_ENDS, _MOST_ENDS, _TURNS_AN_END = 3, 30, 1000
#: How often questions are published again, and how many at once.
_ROUNDS, _AGAIN = 10, 10
#: By topic, the documents that hold what is published on it.
_EVENTS: dict[str, tuple[str, dict[str, str]]] = {
    "turns": ("messages", {"role": "USER"}),
    "extractions": ("extractions", {}),
    "guidance": ("role_tracks", {}),
}
#: How many turns are answered after a thaw before the next freeze.
_THAWED = 100
#: The drain deadline of a worker whose model hangs, in seconds.
_SHORT_DRAIN = 3
#: How long a standby may take to take over, in seconds: the dead one's session, and a rebalance.
_TAKES_OVER = SESSION + 10.0
#: How long before its call one of two rivals may have looked for what is stored, on a machine that they fill.
_RIVALS_LOOKED = timedelta(seconds=5)
#: The processor that two workers of the standby case share.
_SHARED = "role-extraction"


def in_work_at_kill(figures: Figures) -> str | None:
    """What is redelivered after a kill is no more than what was not committed then."""
    for redelivered, most in zip(figures.redelivered_by_kill, figures.may_come_again, strict=True):
        if redelivered > most:
            return f"{redelivered} redelivered after a kill that {most} may come of"
    return nothing_failed(figures)


def nothing_redelivered(figures: Figures) -> str | None:
    """Work that fits the drain deadline is done and committed at a SIGTERM."""
    if figures.redelivered:
        return f"{figures.redelivered} redelivered"
    return nothing_failed(figures)


def drained_to_the_deadline(figures: Figures) -> str | None:
    """A hung call has the whole deadline, and no worker more than that and a grace."""
    if not _SHORT_DRAIN <= figures.drain <= _SHORT_DRAIN + STOP_GRACE:
        return f"a stop took {figures.drain:.1f} s with a drain deadline of {_SHORT_DRAIN} s"
    return nothing_failed(figures)


def overtaken_while_frozen(figures: Figures) -> str | None:
    """A thawed worker makes the calls that it had decided on, one a conversation at most."""
    if figures.overtaken_calls > AT_ONCE * figures.ends:
        return f"{figures.overtaken_calls} calls of thawed workers"
    return nothing_failed(figures)


def taken_over(figures: Figures) -> str | None:
    if not 0 < figures.taken_over <= _TAKES_OVER:
        return f"{figures.taken_over:.1f} s to take over"
    return nothing_failed(figures)


def _ends(stage: Stage) -> list[int]:
    return stage.times(min(_MOST_ENDS, max(_FEWEST_ENDS, stage.scale.turns // _TURNS_AN_END)))


async def kill(stage: Stage) -> None:
    """`kill -9` of the only worker again and again."""
    for turns in _ends(stage):
        worker = await stage.start_worker()
        await stage.answered(turns)
        await stage.kill_only_worker(worker)
    await stage.start_worker()


async def term(stage: Stage) -> None:
    """SIGTERM of the only worker again and again."""
    for turns in _ends(stage):
        worker = await stage.start_worker()
        await stage.answered(turns)
        await stage.stop_worker(worker)
    await stage.start_worker()


async def term_hung(stage: Stage) -> None:
    """SIGTERM while every model call hangs."""
    worker = await stage.start_worker(DRAIN_TIMEOUT=_SHORT_DRAIN)
    await stage.answered(*stage.times(1))
    hanging: list[Call] = []

    def hang(call: Call) -> Reply:
        hanging.append(call)
        return hangs(60)

    stage.model.mood = hang
    await stage.until(lambda: bool(hanging), "a call hangs")
    answered = -1
    while stage.witness.answered > answered:  # those that were answered before
        answered = stage.witness.answered
        await asyncio.sleep(1)
    await stage.stop_worker(worker)
    stage.model.mood = None
    await stage.start_worker()


async def rebalance(stage: Stage) -> None:
    """Workers 1, 2, 3, 1: one leaves by SIGTERM and one by `kill -9`, again and again."""
    rounds = max(1, stage.scale.turns // (4 * _TURNS_AN_END))
    points = iter(stage.times(4 * rounds))
    await stage.start_worker()
    for _ in range(rounds):
        await stage.answered(next(points))
        leaving = await stage.start_worker()
        await stage.answered(next(points))
        dying = await stage.start_worker()
        await stage.answered(next(points))
        await stage.stop_worker(leaving)
        await stage.answered(next(points))
        await stage.kill_worker(dying)


async def scale(stage: Stage) -> None:
    """Workers 1, 2, 3, 2, 1, each leaving by SIGTERM."""
    await stage.start_worker()
    points, others = stage.times(4), []
    for turns in points[:2]:
        await stage.answered(turns)
        others.append(await stage.start_worker())
    for turns in points[2:]:
        await stage.answered(turns)
        await stage.stop_worker(others.pop())


async def freeze(stage: Stage) -> None:
    """SIGSTOP of one of two workers for longer than its session, then SIGCONT, under load."""
    frozen = await stage.start_worker()
    await stage.start_worker()
    for turns in stage.times(max(2, stage.scale.turns // (2 * _TURNS_AN_END))):
        await stage.answered(turns)
        await stage.freeze_worker(frozen)
        await stage.answered(stage.witness.answered + _THAWED)


async def forced(stage: Stage) -> None:
    """Two workers read every partition at once, in consumer groups of their own, and write to one database.

    Each may look just before the other has stored, at every turn, and be slow to call.
    """
    stage.model.looked = _RIVALS_LOOKED
    await stage.start_worker()
    await stage.start_worker("tests.chaos.twin")


async def standby(stage: Stage) -> None:
    """Of two workers that share a topic of one partition, the one that was dealt none takes over when the other dies.

    By then it has idled for longer than a poll interval of two hours: its idling counts a thousandfold.
    """
    await stage.start_worker(processors=[name for name in NAMES if name != _SHARED])
    pair = [await stage.start_worker("tests.chaos.impatient", [_SHARED]) for _ in range(2)]
    await stage.answered(*stage.times(1))
    before = stage.model.made.copy()
    await asyncio.sleep(stage.scale.idle)
    made = stage.model.made - before
    idle, busy = sorted(pair, key=lambda worker: made[worker.name])
    if made[idle.name] or not made[busy.name]:
        stage.problems.append(f"no worker idled while another worked: {dict(made)}")
    killed, called = time.monotonic(), stage.model.made[idle.name]
    await stage.kill_worker(busy)
    await stage.until(lambda: stage.model.made[idle.name] > called, "the standby takes over")
    stage.taken_over = time.monotonic() - killed


async def duplicates(stage: Stage) -> None:
    """Questions are published again, late and out of order, and so is what was published of them."""
    await stage.start_worker()
    chosen, load = random.Random(1), stage.load
    for turns in stage.times(_ROUNDS):
        await stage.answered(turns)
        asked = [question for questions in load.asked.values() for question in questions]
        for question in chosen.sample(asked, _AGAIN):
            await load.ask(conversation_of(question), int(question.rpartition("-")[2]))
            topic, (collection, query) = chosen.choice(list(_EVENTS.items()))
            whose = {"conversationId": conversation_of(question), "questionId": question}
            if document := await stage.documents[collection].find_one({**whose, **query}):
                await load.send(topic, conversation_of(question).encode(), document["event"].encode())
