"""The CPU that arbitration takes for one turn, and whether it grows with the track."""

import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from statistics import median

from pipeline.domain.lexicon import normal
from pipeline.domain.roles import role_of
from pipeline.domain.similarity import lexical, relation, settled
from pipeline.domain.spelling import fold
from schemas.role import Extraction
from tests.domain.factories import Talk, heard
from tests.domain.strategies import ROLES, TRAITS

#: How many turns are measured after each track.
TURNS = 400
_CACHED = (fold, normal, role_of, relation, lexical, settled)


def extractions() -> Iterator[Extraction]:
    """A user of many interests: two identities and a characteristic a turn, each turn with its own quote."""
    for number in count():
        names = [ROLES[number % len(ROLES)], ROLES[number * 7 % len(ROLES)]]
        stated = names[:1] if number % 5 == 0 else []
        yield heard(
            *dict.fromkeys(names), states=stated, traits=[TRAITS[number % len(TRAITS)]], quote=f"quote {number}"
        )


def milliseconds_a_turn(track: int, before_each: Callable[[], None] = lambda: None) -> float:
    """The median CPU time of a turn that follows so many others."""
    talk, heard_next, times = Talk(), extractions(), list[int]()
    for extraction in islice(heard_next, track):
        talk.hear(extraction)
    for extraction in islice(heard_next, TURNS):
        before_each()
        begun = time.process_time_ns()
        talk.hear(extraction)
        times.append(time.process_time_ns() - begun)
    return median(times) / 1e6


def forget_names() -> None:
    """As if no identity of the memory had ever been seen; the word lists stay loaded."""
    for cached in _CACHED:
        cached.cache_clear()
