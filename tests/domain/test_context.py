"""The short-term context ends at the last long pause."""

from datetime import timedelta

import pytest

from pipeline.domain.context import context_of
from schemas.documents import Message
from tests.processors.factories import NOW, said

IDLE = timedelta(minutes=30)


def message(turn: int, minutes: float, *, answer: bool = False) -> Message:
    changes = {"role": "ASSISTANT", "messageId": f"a{turn}"} if answer else {}
    return said(turn, f"{turn}{'a' if answer else 'q'}", createTime=NOW + timedelta(minutes=minutes), **changes)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (12, ["1q", "1a", "2q", "2a"]),
        (41, ["1q", "1a", "2q", "2a"]),
        (42, []),
        (5000, []),
    ],
)
def test_a_pause_before_the_question_ends_the_context(asked: float, kept: list[str]) -> None:
    """Half an hour after the last message is not yet longer than the pause; a moment more is."""
    messages = [message(1, 0), message(1, 1, answer=True), message(2, 10), message(2, 11, answer=True)]
    assert [one.text for one in context_of(messages, NOW + timedelta(minutes=asked), IDLE, 6)] == kept


def test_what_was_said_since_the_last_pause_stays() -> None:
    """Only what lies before it is over."""
    messages = [message(1, 0), message(1, 1, answer=True), message(2, 60), message(2, 61, answer=True)]
    assert [one.text for one in context_of(messages, NOW + timedelta(minutes=62), IDLE, 6)] == ["2q", "2a"]


def test_a_late_answer_is_no_pause() -> None:
    """An answer belongs to its question, however long it took."""
    messages = [message(1, 0), message(1, 300, answer=True)]
    assert [one.text for one in context_of(messages, NOW + timedelta(minutes=301), IDLE, 6)] == ["1q", "1a"]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_context_is_the_last_messages(most: int) -> None:
    """At most so many, the newest ones."""
    messages = [message(turn, turn) for turn in range(1, 6)]
    kept = [one.text for one in context_of(messages, NOW + timedelta(minutes=6), IDLE, most)]
    assert kept == ["1q", "2q", "3q", "4q", "5q"][5 - most :]
