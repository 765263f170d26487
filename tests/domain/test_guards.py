"""The guards read one clause, and let pass what they cannot tell."""

import pytest

from pipeline.domain.guards import clauses, past, pretended, said_of_other, wished
from pipeline.domain.quoting import own_words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I used to cook, now I drive", ["I used to cook", " now I drive"]),
        ("我是焊工，氩弧焊发黑？", ["我是焊工", "氩弧焊发黑"]),
        ("my son is ill because i work nights", ["my son is ill", "because i work nights"]),
        ("version 7.5 of it", ["version 7.5 of it"]),
    ],
)
def test_clauses_end_at_punctuation_and_joining_words(text: str, wanted: list[str]) -> None:
    """A guard must not reach over into what is said of somebody else."""
    assert [text[start:end] for start, end in clauses(text)] == wanted


@pytest.mark.parametrize(
    ("clause", "name", "caught"),
    [
        ("their dad works as a pilot for BA", "pilot", True),
        ("my boss's wife is a lawyer", "lawyer", True),
        ("我二姨在医院当护士", "护士", True),
        ("my wife 是做审计的", "审计", True),
        ("my mom says im a good cook", "cook", False),
        ("我和我妹妹都是护士", "护士", False),
        ("i do the books for a firm", "bookkeeper", False),
        ("我是民宿老板", "民宿老板", False),
    ],
)
def test_other_people(clause: str, name: str, caught: bool) -> None:
    """The subject of the clause decides whose role it is."""
    assert said_of_other(clause, name) is caught


def test_role_play_the_past_and_wishes() -> None:
    """Only the role that the words take out of the user's present is caught."""
    assert pretended("act like a grumpy chef", "chef")
    assert not pretended("act like a grumpy chef", "teacher")
    assert past("以前是厨师现在是司机", "厨师")
    assert not past("以前是厨师现在是司机", "司机")
    assert wished("studying to be a nurse", "nurse")
    assert not wished("studying to be a nurse", "nursing student")


def test_own_words_keep_their_places() -> None:
    """What is not the user's own is blanked, so that a quote is found where it stands."""
    text = 'he said "I am a judge", I am a cook'
    assert len(own_words(text)) == len(text)
    assert "judge" not in own_words(text)
    assert own_words(text).endswith("I am a cook")
