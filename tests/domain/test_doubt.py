"""Which pair of a turn another opinion is asked on, and what a yes does."""

import pytest

from pipeline.domain.doubt import SAID_SAME, doubtful_pair, said_same
from pipeline.domain.similarity import Measure, lexical
from pipeline.ports import Similarity
from schemas.role import Extraction
from tests.domain.factories import Talk, heard, talk

MEASURE = Measure(lexical, 0.8)
KNOWN = talk(heard("bell ringer", "left-handed bowler")).memory


def test_the_pair_that_the_lists_cannot_tell() -> None:
    """The identity heard comes first, then the one known."""
    assert doubtful_pair(KNOWN, heard("campanologist"), MEASURE) == ("campanologist", "bell ringer")


def test_the_most_alike_of_several() -> None:
    """One pair is all that is asked on: the one with most words in common, else the first."""
    assert doubtful_pair(KNOWN, heard("campanologist", "left-handed potholer"), MEASURE) == (
        "left-handed potholer",
        "left-handed bowler",
    )


@pytest.mark.parametrize(
    "extraction",
    [
        heard(),
        heard(traits=["strong"]),
        heard("ringer", states=["campanologist"]),
        heard("campanologist", denies=["nurse"]),
        heard("bell ringer", "campanologist"),
        heard("poet"),
    ],
)
def test_nothing_is_asked_where_an_answer_would_change_nothing(extraction: Extraction) -> None:
    """No identity, a statement, a denial, an agreement, and two names that the lists know."""
    known = KNOWN if extraction.identities != ["poet"] else talk(heard("nurse")).memory
    assert doubtful_pair(known, extraction, MEASURE) is None


def test_nothing_is_asked_where_nothing_is_known() -> None:
    """The first identity has nothing to agree with."""
    assert doubtful_pair(Talk().memory, heard("campanologist"), MEASURE) is None


def test_what_was_denied_is_not_asked_on() -> None:
    """A denied identity is out before anything is compared."""
    known = talk(heard("bell ringer"), heard(denies=["campanologist"])).memory
    assert doubtful_pair(known, heard("campanologist"), MEASURE) is None


@pytest.mark.parametrize(("threshold", "asked"), [(0.5, True), (SAID_SAME, True), (0.86, False), (1.0, False)])
def test_a_threshold_above_a_yes_asks_nothing(threshold: float, asked: bool) -> None:
    """A yes says no more than that the two are siblings."""
    pair = doubtful_pair(KNOWN, heard("campanologist"), Measure(lexical, threshold))
    assert (pair is not None) is asked


def test_a_yes_raises_its_pair_alone() -> None:
    """In both directions; every other pair is as it was, and nothing is lowered."""
    similarity = said_same(lexical, "campanologist", "bell ringer")
    assert similarity("bell ringer", "campanologist") == similarity("campanologist", "bell ringer") == SAID_SAME
    assert similarity("bell ringer", "bell ringer") == 1
    assert similarity("bell ringer", "nurse") == lexical("bell ringer", "nurse")
    assert said_same(lexical, "nurse", "护士")("nurse", "护士") == 1


@pytest.mark.parametrize(("threshold", "decision"), [(0.8, "UPDATE"), (0.9, "NONE_CHANGE")])
@pytest.mark.parametrize(
    ("similarity", "known", "new"),
    [
        (lexical, "maths teacher", "English teacher"),
        (said_same(lexical, "campanologist", "bell ringer"), "bell ringer", "campanologist"),
    ],
)
def test_another_threshold_gives_another_decision(
    similarity: Similarity, known: str, new: str, threshold: float, decision: str
) -> None:
    """By the lists and with a yes, 0.8 takes siblings in, and a stricter threshold takes them out."""
    conversation = Talk(similarity=similarity, threshold=threshold)
    conversation.hear(heard(known))
    assert conversation.hear(heard(new)).decision == decision
