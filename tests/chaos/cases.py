"""The cases that end workers: killed, stopped, frozen, added, taken away, doubled, left idle."""

import asyncio
import random
import signal

from tests.chaos.figures import Figures
from tests.chaos.load import conversation_of
from tests.chaos.outages import nothing_failed
from tests.chaos.stage import SESSION, Stage
from tests.scripted_model import hangs

#: How often a worker is ended in a small run, and beyond that once for so many turns.
_ENDS, _TURNS_AN_END = 3, 1000
#: How often questions are published again, and how many at once.
_ROUNDS, _AGAIN = 10, 10
#: By topic, the documents that hold what is published on it.
_EVENTS: dict[str, tuple[str, dict[str, str]]] = {
    "turns": ("messages", {"role": "USER"}),
    "extractions": ("extractions", {}),
    "guidance": ("role_tracks", {}),
}
#: The drain deadline of a worker whose model hangs, in seconds.
_SHORT_DRAIN = 3
#: How long an idle standby may take to take over, in seconds: the dead one's session, and a rebalance.
_TAKES_OVER = SESSION + 10.0


def nothing_redelivered(figures: Figures) -> str | None:
    """Work that fits the drain deadline is done and committed at a SIGTERM."""
    if figures.redelivered:
        return f"{figures.redelivered} redelivered"
    return nothing_failed(figures)


def taken_over(figures: Figures) -> str | None:
    if figures.resumed > _TAKES_OVER:
        return f"{figures.resumed:.0f} s to take over"
    return nothing_failed(figures)


def _ends(stage: Stage) -> list[int]:
    return stage.times(max(_ENDS, stage.scale.turns // _TURNS_AN_END))


async def kill(stage: Stage) -> None:
    """`kill -9` of the only worker again and again."""
    for turns in _ends(stage):
        worker = await stage.start_worker()
        await stage.answered(turns)
        await stage.kill_worker(worker)
    await stage.start_worker()


async def term(stage: Stage) -> None:
    """SIGTERM of the only worker again and again."""
    for turns in _ends(stage):
        worker = await stage.start_worker()
        await stage.answered(turns)
        await stage.stop_worker(worker)
    await stage.start_worker()


async def term_hung(stage: Stage) -> None:
    """SIGTERM while every model call hangs: `stop_worker` kills, and says so, what outlasts the drain deadline."""
    worker = await stage.start_worker(DRAIN_TIMEOUT=_SHORT_DRAIN)
    await stage.answered(*stage.times(1))
    stage.model.mood = lambda call: hangs(60)
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
    """SIGSTOP of one of two workers for longer than its session, then SIGCONT."""
    frozen = await stage.start_worker()
    await stage.start_worker()
    for turns in stage.times(max(2, stage.scale.turns // (2 * _TURNS_AN_END))):
        await stage.answered(turns)
        stage.ends += 1
        frozen.signal(signal.SIGSTOP)
        await asyncio.sleep(stage.scale.freeze)
        frozen.signal(signal.SIGCONT)


async def forced(stage: Stage) -> None:
    """Two workers read every partition at once, in consumer groups of their own, and write to one database."""
    await stage.start_worker()
    await stage.start_worker("tests.chaos.twin")


async def standby(stage: Stage) -> None:
    """A worker that has been dealt no partition for a while takes over when the others are killed."""
    busy = await stage.start_worker()
    await stage.answered(*stage.times(1))
    idle = [await stage.start_worker() for _ in range(2)]
    await asyncio.sleep(stage.scale.idle)
    await stage.kill_worker(busy)
    await stage.kill_worker(idle.pop(0))


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
