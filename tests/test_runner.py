"""The runner: what is published, with which headers, and what becomes a dead letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pipeline.errors import BadEvent, ModelFailed, SettingsInvalid
from pipeline.metrics import Metrics
from pipeline.ports import Failure, Output, Processor, Record, Services, Store
from pipeline.runner import Runner, decode
from pipeline.tracing import NoSpans
from schemas.events import AnswerReady, DeadLetter, QuestionAsked
from schemas.wire import Wire

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUESTION = b'{"conversationId": "c", "userId": "u", "text": "hello"}'
RECORD = Record(topic="questions", partition=1, offset=7, key=b"c", value=QUESTION, time=NOW)
ANSWER = AnswerReady.model_validate({"conversationId": "c", "userId": "u", "questionId": "q", "text": "hi"})


@dataclass
class Sent:
    """A publisher and a store that keep what they are given."""

    events: list[tuple[Wire, Mapping[str, bytes]]] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)
    stored: list[DeadLetter] = field(default_factory=list)
    is_away: bool = False

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        self.events.append((event, headers))

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        self.letters.append(letter)

    async def replay(self, letter: DeadLetter) -> None:
        raise AssertionError("the runner replays nothing")

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        self.stored.append(letter)


async def run(record: Record, *outputs: Output, fails: Exception | None = None) -> Sent:
    sent = Sent()

    async def handle(event: Any, record: Record, services: Services, /) -> Sequence[Output]:
        if fails is not None:
            raise fails
        return outputs

    services = Services(cast(Store, sent), cast(Any, None), cast(Any, None), lambda: NOW)
    await Runner(Processor("thinking", ("questions",), handle), services, sent, Metrics(), NoSpans()).run(record)
    return sent


async def test_outputs_carry_producer_event_id_and_trace() -> None:
    """Consumers can tell ours, drop a second delivery, and follow the trace from the question."""
    parent = b"00-" + b"ab" * 16 + b"-" + b"cd" * 8 + b"-01"
    traced = replace(RECORD, headers={"traceparent": parent, "tracestate": b"a=b", "other": b"x"})
    sent = await run(traced, ANSWER)
    assert [event for event, _ in sent.events] == [ANSWER]
    assert sent.events[0][1] == {
        "producer": b"rolestream",
        "eventId": ANSWER.event_id.encode(),
        "traceparent": parent,
        "tracestate": b"a=b",
    }
    assert sent.letters == sent.stored == []


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "no value"),
        (b"not json", "record: Invalid JSON"),
        (b"\xff\xfe", "record: Invalid JSON"),
        (b"[1, 2]", "record: Input should be an object"),
        (b'{"userId": "u", "text": "x"}', "conversationId: Field required"),
        (b'{"conversationId": "c", "userId": 1, "text": "x"}', "userId: Input should be a valid string"),
        (b'{"conversationId": "c", "userId": "u", "text": "a\\u0000b"}', "NUL"),
        (b'{"conversationId": "c", "userId": "u", "text": " "}', "text is empty"),
        (b'{"conversationId": "c", "userId": "u", "text": "x", "mode": "shout"}', "mode"),
        (b'{"conversationId": "c", "userId": "u", "text": "' + b"x" * 900_000 + b'"}', "at most 32000 characters"),
        (b'{"conversationId": "c", "userId": "u", "text": "x", "metadata": ' + b"[" * 9000, "JSON"),
    ],
)
async def test_what_cannot_be_decoded_becomes_a_dead_letter_with_its_bytes(value: bytes | None, says: str) -> None:
    """The reason names the field; key, value, time and place are the source's own."""
    sent = await run(replace(RECORD, value=value), fails=AssertionError("must not be handled"))
    (letter,) = sent.letters
    assert says in letter.message
    assert "xxxx" not in letter.message
    assert (letter.key, letter.value, letter.record_time) == (b"c", value, NOW)
    assert letter.letter_id == "thinking:questions:1:7"
    assert letter.exception == "BadEvent"
    assert letter.stack_trace == ""
    assert sent.stored == [letter]


async def test_an_unknown_error_becomes_a_dead_letter_with_its_stack_trace() -> None:
    """A fault of ours stops nothing, and says where it happened."""
    sent = await run(RECORD, fails=ZeroDivisionError("oops"))
    assert sent.letters[0].exception == "ZeroDivisionError"
    assert "in handle" in sent.letters[0].stack_trace
    headers = dict(sent.letters[0].error_headers())
    assert headers["__rolestream.errors.topic"] == b"questions"
    assert headers["__rolestream.errors.offset"] == b"7"


async def test_a_refusal_of_kafka_ends_the_worker_and_blames_no_record() -> None:
    """What no waiting mends, and no other record escapes, is no dead letter."""
    with pytest.raises(SettingsInvalid, match="login"):
        await run(RECORD, fails=SettingsInvalid("the login is refused"))


async def test_a_failure_is_dead_lettered_beside_what_goes_on() -> None:
    """A failed turn is published and kept for a replay as well."""
    sent = await run(RECORD, ANSWER, Failure(ModelFailed("too slow")))
    assert [event for event, _ in sent.events] == [ANSWER]
    assert [letter.message for letter in sent.letters] == ["too slow"]


async def test_a_replayed_dead_letter_keeps_no_old_error_headers() -> None:
    """The errors of an earlier failure are not carried into the next one."""
    headers = {"__rolestream.errors.message": b"old", "mine": b"kept"}
    sent = await run(replace(RECORD, headers=headers), fails=BadEvent("new"))
    assert sent.letters[0].headers == [("mine", b"kept")]


def test_unknown_fields_of_a_newer_client_are_passed_over() -> None:
    """Decoding tolerates what it does not know."""
    record = replace(RECORD, value=QUESTION[:-1] + b', "colour": "blue"}')
    assert isinstance(decode(record), QuestionAsked)
