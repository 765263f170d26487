"""Whatever a client publishes that is no event becomes a dead letter in the database, and ends no worker."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from pipeline.metrics import Metrics
from pipeline.processing import REPLAY_HEADER, Processor, Record
from pipeline.processors import conversation_logging
from pipeline.runner import Runner
from pipeline.tracing import NoSpans
from schemas.events import DeadLetter
from schemas.topics import TopicName
from tests.conftest import Names
from tests.processors.factories import NOW, Here, database_of


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


@dataclass
class Sent:
    """A publisher that keeps the letters, and is given nothing else."""

    letters: list[DeadLetter] = field(default_factory=list)
    is_away: bool = False

    async def publish(self, event: Any, headers: Mapping[str, bytes]) -> None:
        raise AssertionError(f"{event} comes of what is no event")

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        assert letter.error_headers()
        self.letters.append(letter)

    async def replay(self, letter: DeadLetter) -> None:
        raise AssertionError("the runner replays nothing")


async def letter_of(here: Here, **changes: Any) -> DeadLetter:
    """What becomes of a record that is published and stored as a dead letter."""
    fields: dict[str, Any] = {"topic": "questions", "partition": 0, "offset": 1, "key": b"c", "value": b"{}"}
    sent, logs = Sent(), conversation_logging
    processor = Processor("conversation-logging", ("questions", "answers"), logs.handle, concerns=logs.concerns)
    await Runner(processor, here.worker(), sent, Metrics(), NoSpans()).run(Record(time=NOW, **fields | changes))
    (letter,), (stored,) = sent.letters, await here.documents("dead_letters")
    assert stored["_id"] == letter.letter_id
    return letter


@pytest.mark.parametrize(
    ("topic", "key", "value"),
    [
        ("questions", b"c", b'{"conversationId": "c", "userId": "ada\\ud83d", "text": "hello"}'),
        ("questions", b"c", b'{"conversationId": "\\udfff", "userId": "u", "text": "hello"}'),
        ("questions", b"c", b'{"conversationId": "c", "userId": "u", "text": 3, "\\ud800": "x"}'),
        ("questions", b"c", b'{"conversationId": "c", "userId": "a\\u0000"}'),
        ("questions", b"c", b'"\\ud800"'),
        ("questions", b"\xff", b"\xff\xfe"),
        ("questions", b"c", b"[" * 100_000),
        ("questions", b"x" * 2000, b'{"conversationId": 1e999}'),
        ("questions", None, None),
        ("answers", b"c", b'{"conversationId": "c", "userId": "u", "questionId": "\\ud800"}'),
    ],
    ids=range(10),
)
async def test_a_value_that_is_no_event_becomes_a_dead_letter(
    here: Here, topic: TopicName, key: bytes | None, value: bytes | None
) -> None:
    """An emoji cut in half, what is no UTF-8, what is nested too deep: its bytes are kept as they came."""
    letter = await letter_of(here, topic=topic, key=key, value=value)
    assert (letter.key, letter.value, letter.exception) == (key, value, "BadEvent")


@pytest.mark.parametrize(
    "headers",
    [
        {REPLAY_HEADER: b"9" * 30},
        {REPLAY_HEADER: b"9" * 5000},
        {REPLAY_HEADER: b"\xff"},
        {"traceparent": b"\xff" * 55},
        {"a.b$": b"\x00\xff"},
    ],
    ids=range(5),
)
async def test_headers_that_nobody_would_send_keep_no_letter_back(here: Here, headers: dict[str, bytes]) -> None:
    """A client may write anything there; how often a record was tried is a number at any rate."""
    letter = await letter_of(here, headers=headers)
    assert 1 <= letter.attempts <= 10**9
