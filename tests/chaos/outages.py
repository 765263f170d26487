"""The cases that take services away: Kafka or a node of it, the database, the model server."""

from collections.abc import Callable
from typing import Any

from tests.chaos.figures import Figures
from tests.chaos.stage import Stage
from tests.scripted_model import Call, Reply, fails, hangs

#: Lines a worker may log for one outage: that it began and is over, the same of two reasons for dead letters, and
#: two words of the libraries.
_LINES = 8
#: Seconds from the end of an outage to the next good answer; a breaker looks every ten.
_RESUME = 15.0
#: Model calls that hang or fail are given up soon here, so that a small run shows both.
HASTY: dict[str, Any] = {"MODEL__TIMEOUT": 2, "MODEL__RETRIES": 1}


def said_once(figures: Figures) -> str | None:
    """An outage is a few log lines, is over soon after its end, and makes nothing a dead letter."""
    return _told_and_over(figures) or nothing_failed(figures)


def nothing_failed(figures: Figures) -> str | None:
    if figures.failed or figures.dead_letters:
        return f"{figures.failed} failed, {figures.dead_letters} dead letters"
    return None


def failed_with_letters(figures: Figures) -> str | None:
    """Trouble of the model costs what it must, each cost is a dead letter, and the log tells of the trouble alone."""
    if not figures.failed:
        return "no answer failed: the trouble was not noticed"
    if figures.dead_letters < figures.failed:
        return f"{figures.failed} failed answers, only {figures.dead_letters} dead letters"
    return _told_and_over(figures)


def _told_and_over(figures: Figures) -> str | None:
    if figures.log_lines > _LINES * figures.ends:
        return f"{figures.log_lines} log lines"
    if figures.resumed > _RESUME:
        return f"{figures.resumed:.0f} s to resume"
    return None


async def broker_restart(stage: Stage) -> None:
    """The only broker is stopped and started at once, once by `kill -9`."""
    await stage.start_worker()
    first, second = stage.times(2)
    await stage.answered(first)
    await stage.lasts(0, stage.cluster.stop, stage.cluster.start)
    await stage.answered(second)
    await stage.lasts(0, stage.cluster.kill, stage.cluster.start)


async def cluster_away(stage: Stage) -> None:
    """Every broker is away for a while."""
    await stage.start_worker()
    await stage.answered(*stage.times(1))
    await stage.lasts(stage.scale.outage, stage.cluster.stop, stage.cluster.start)


async def node_lost(stage: Stage) -> None:
    """Of three nodes, one after the other is killed and comes back."""
    await stage.start_worker()
    for node, turns in zip(stage.cluster.nodes, stage.times(3), strict=True):
        await stage.answered(turns)
        await stage.lasts(stage.scale.outage, node.kill, node.start)


async def database_restart(stage: Stage) -> None:
    """The database is stopped and started at once, twice."""
    await stage.start_worker()
    for turns in stage.times(2):
        await stage.answered(turns)
        await stage.lasts(0, stage.database.stop, stage.database.start)


async def database_away(stage: Stage) -> None:
    """The database is away for a while."""
    await stage.start_worker()
    await stage.answered(*stage.times(1))
    await stage.lasts(stage.scale.outage, stage.database.stop, stage.database.start)


async def model_refusing(stage: Stage) -> None:
    """Nobody listens where the model server was."""
    await stage.start_worker(**HASTY)
    await stage.answered(*stage.times(1))
    await stage.lasts(stage.scale.trouble, stage.model.stop, stage.model.start)


async def model_hanging(stage: Stage) -> None:
    """The model server takes calls and does not answer."""
    await _in_mood(stage, lambda call: hangs(stage.scale.trouble))


async def model_limiting(stage: Stage) -> None:
    """The model server answers 429 and when to come again."""
    await _in_mood(stage, lambda call: fails(429, "slow down", {"Retry-After": "1"}))


async def model_failing(stage: Stage) -> None:
    """The model server answers 500."""
    await _in_mood(stage, lambda call: fails(500))


async def _in_mood(stage: Stage, mood: Callable[[Call], Reply]) -> None:
    await stage.start_worker(**HASTY)
    await stage.answered(*stage.times(1))

    async def turn_bad() -> None:
        stage.model.mood = mood

    async def turn_good() -> None:
        stage.model.mood = None

    await stage.lasts(stage.scale.trouble, turn_bad, turn_good)
