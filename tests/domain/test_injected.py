"""What memory injects is told from what was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domain.injected import tagged, without_injected

PIECES = st.sampled_from(
    [
        "<user-memory>",
        "</user-memory>",
        "<USER-MEMORY>",
        "</ user_memory >",
        "<user-memory",
        "<user-",
        "memory>",
        "<",
        "a",
    ]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I bake bread", "I bake bread"),
        ("I bake <user-memory>\nA nurse.\n</user-memory> bread", "I bake \n bread"),
        ("<user-memory>A nurse.</user-memory>Hi", "Hi"),
        ("Hi <user-memory>A nurse.", "Hi "),
        ("Hi <USER-Memory >A nurse.</User_Memory>", "Hi "),
        ("Hi <user-memory>A <user-memory>nurse</user-memory> of 40.</user-memory>", "Hi "),
        ("Hi ＜user-memory＞A nurse.", "Hi "),
        ("Hi <user-memory kind='x'>A nurse.</user-memory>", "Hi "),
        ("Hi </user-memory> there", "Hi \n there"),
        ("1 < 2 <b>bold</b>", "1 < 2 <b>bold</b>"),
    ],
)
def test_what_stands_in_tags_was_not_said(text: str, said: str) -> None:
    """Nested, unclosed, in other letters: all of it goes, and text without tags stays as it is."""
    assert without_injected(text) == said


@given(st.lists(PIECES, max_size=12).map("".join))
def test_nothing_that_was_said_holds_a_tag(text: str) -> None:
    """Taking a tag away makes no new one of its neighbours."""
    said = without_injected(text)
    assert without_injected(said) == said


@given(st.lists(PIECES, max_size=12).map("".join))
def test_learnt_words_cannot_end_what_is_injected(learnt: str) -> None:
    """Whatever a learnt string holds, it stays between the tags, and all of it is taken out again."""
    text = f"Before.\n{tagged(f'x {learnt} y')}\nAfter."
    assert without_injected(text).split() == ["Before.", "After."]


def test_nothing_to_inject_is_nothing() -> None:
    """An answering model is shown no empty tags."""
    assert tagged("") == ""
