"""Forgetting: what is left of a fact, and by what a record that is no event may name its user."""

from datetime import timedelta
from typing import Any

import pytest

from pipeline.domain.forgetting import users_named, without_all
from schemas.features import Earlier, Heard
from tests.domain.features import kept
from tests.processors.factories import NOW


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (b'{"userId": "ada", "text": "cut o', "ada"),
        (b"userId=ada&text=x", "ada"),
        (b"this is for ada.", "ada"),
        (b"ada", "ada"),
        (b'{"userId":"ada lovelace" oops', "ada lovelace"),
        (b'{"userId": "\\u5c0f\\u660e", ', "小明"),
        ('{"userId": "小明", '.encode(), "小明"),
        (b'"{\\"userId\\": \\"ada\\"}"', "ada"),
        (b"\xff\xfe ada", "ada"),
        ("userId: ada".encode("utf-16-le"), "ada"),
        (b'{"userId": ["ada"]}', "ada"),
        (b'{"userId": "user:7", ', "user:7"),
        (None, "ward"),
    ],
)
def test_an_unreadable_text_names_whoever_stands_in_it(value: bytes | None, name: str) -> None:
    """As a quoted string, a word or the whole of it, however it is cut off or escaped; or as its key."""
    assert name in users_named("questions", b"ward", value)


@pytest.mark.parametrize("value", [b"adam was here", b"ada-2", b"x@ada.org", b'{"userId": "v", "text": ["ada"]}'])
def test_nobody_is_named_by_a_part_of_a_name_or_beside_another_user(value: bytes) -> None:
    """A longer word is another, and JSON that says whose it is is nobody else's."""
    assert "ada" not in users_named("questions", b"ward", value)


def test_a_key_names_a_user_on_the_topics_that_are_keyed_by_users() -> None:
    """Elsewhere it is a conversation's, which JSON that names a user makes plain."""
    assert users_named("commands", b"ada", b'{"userId": "v"}') == ["v", "ada"]
    assert users_named("questions", b"ada", b'{"userId": "v"}') == ["v"]


def test_a_long_text_is_read_in_bounds() -> None:
    """However many words it has."""
    assert len(users_named("questions", None, b" ".join(b"w%d" % number for number in range(100_000)))) <= 1000


def test_an_older_value_that_was_told_late_goes_with_the_user() -> None:
    """A fact that is newer than the forgetting keeps nothing of what was heard before it."""
    later, older = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    earlier = Earlier(value="oat", source="CHAT_EXTRACT", until=later, reason="told late")
    heard = [Heard(source="q1", record_time=older, version=2), Heard(source="q2", record_time=later, version=1)]
    seen = {"conversationId": "c", "questionId": "q2", "quote": "skimmed", "recordTime": later}
    changes: dict[str, Any] = {
        "createTime": later,
        "recordTime": later,
        "evidence": [seen],
        "history": [earlier],
        "heard": heard,
    }
    feature = kept("milk", "skimmed", **changes)
    left = without_all(feature, NOW)
    assert left is not None
    assert (left.value, left.history, left.heard, left.version) == ("skimmed", [], heard[1:], feature.version + 1)
    assert without_all(left, NOW) is left
