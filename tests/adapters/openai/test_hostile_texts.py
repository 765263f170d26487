"""Texts that are made to keep a reader busy: each is read in a moment, whatever it repeats."""

import time
from collections.abc import Callable

import pytest

from pipeline.adapters.openai.mending import amended
from pipeline.adapters.openai.mending.put_away import put_away
from pipeline.adapters.rules.proposing import proposed
from pipeline.domain.asks import asked_preferences
from pipeline.domain.extraction import read_extraction
from pipeline.domain.gate import teaches_nothing
from pipeline.domain.guards import clauses, not_of_the_user
from pipeline.domain.languages import fits_language
from pipeline.domain.quoting import ground_of
from tests.adapters.openai.mending.proposing import proposal

LENGTH = 32_000
#: Seconds of CPU that no machine needs for one text, unless the time grows with a power of its length.
STUCK = 5.0
TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9eyJzdWIiOiIxMjM0NTY3ODkwIn0-_"
REPEATED = [
    *("-", "a-", " - ", "'", '"', "“", "‘", "([{", "``` ", "a", "护", TOKEN, "a@", ": ", "：", ". ", "\n"),
    *(
        "我妹妹",
        "my sister ",
        "i used to be a ",
        "act as a ",
        "> a\n",
        "from: x\n",
        "translate:\n",
        "update role ",
        "1+",
    ),
]
#: As much of a clause as a guard is given.
CLAUSE = 600

PLAIN = proposal("developer", "nurse", quote="got this token", states=["nurse"], denies=["护士"])
READERS: dict[str, Callable[[str], object]] = {
    "quoting": ground_of,
    "clauses": clauses,
    "guards": lambda text: not_of_the_user(text[:CLAUSE], "nurse"),
    "gate": teaches_nothing,
    "language": lambda text: fits_language("nurse", text),
    "asks": asked_preferences,
    "extraction": lambda text: read_extraction(PLAIN, text),
    "put away": lambda text: put_away("nurse", text, (text,)),
    "rules": lambda text: proposed(text, ()),
}


def hostile(part: str) -> list[str]:
    long = (part * (LENGTH // len(part)))[:LENGTH]
    return [long, f"Our client {long} got this token"]


def seconds(reader: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    reader(text)
    return time.process_time() - started


@pytest.mark.parametrize("name", READERS)
def test_no_text_keeps_a_reader_busy(name: str) -> None:
    """A long word or a row of dashes is read in a moment; it once took minutes."""
    READERS[name]("warm up: my sister is a nurse, 我是护士")
    slow = {
        (part, text[:30]): taken
        for part in REPEATED
        for text in hostile(part)
        if (taken := seconds(READERS[name], text)) > STUCK
    }
    assert slow == {}


@pytest.mark.parametrize("part", ["-", "a-", TOKEN, "i am a ", "my sister ", "我是", ": "])
def test_mending_takes_a_moment(part: str) -> None:
    """All that is read to mend a proposal together, in a thread of its own for such a text."""
    amended(PLAIN, "warm up: my sister is a nurse, 我是护士", ())
    assert max(seconds(lambda text: amended(PLAIN, text, ()), text) for text in hostile(part)) < STUCK
