"""The runner: what is published, with which headers, and what becomes a dead letter."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from pipeline.errors import BadEvent, ModelFailed, SettingsInvalid
from pipeline.metrics import Metrics
from pipeline.ports import Origin, Store
from pipeline.processing import REPLAY_HEADER, Failure, Output, Processor, Record, Services
from pipeline.runner import Runner, decode
from pipeline.tracing import NoSpans
from schemas.documents import Message
from schemas.events import AnswerReady, DeadLetter, QuestionAsked, TurnLogged
from schemas.memory_events import FeaturesObserved
from schemas.wire import ConversationId, UserId, Wire

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUESTION = b'{"conversationId": "c", "userId": "u", "text": "hello"}'
RECORD = Record(topic="questions", partition=1, offset=7, key=b"c", value=QUESTION, time=NOW)
OBSERVED = FeaturesObserved(user_id=UserId("u"), observed_by="weekly-check", source="SYSTEM", record_time=NOW)
ANSWER = AnswerReady.model_validate({"conversationId": "c", "userId": "u", "questionId": "q", "text": "hi"})


@dataclass
class Sent:
    """A publisher and a store that keep what they are given."""

    events: list[tuple[Wire, Mapping[str, bytes]]] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)
    stored: list[DeadLetter] = field(default_factory=list)
    questions: list[Message] = field(default_factory=list)
    handled: int = 0
    is_away: bool = False

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        self.events.append((event, headers))

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        self.letters.append(letter)

    async def replay(self, letter: DeadLetter) -> None:
        raise AssertionError("the runner replays nothing")

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        self.stored.append(letter)

    async def message(self, conversation_id: ConversationId, message_id: str) -> Message | None:
        return next((message for message in self.questions if message.message_id == message_id), None)


@dataclass
class Forgotten:
    """The `Tombstones` port: user u was forgotten up to a time, which shows after some looks; or nobody."""

    until: datetime | None = None
    after: int = 0
    in_the_way: int = 0
    """Documents that an erasure finds."""
    rendered: bool = True
    """Whether the user has a profile after an erasure."""
    erased: list[Origin] = field(default_factory=list)

    async def covers(self, origin: Origin) -> bool:
        self.after -= 1
        if self.until is None or self.after >= 0 or "u" not in (origin.user_id, origin.conversation_id):
            return False
        return origin.time is None or origin.time <= self.until

    async def add(self, origin: Origin) -> None:
        raise AssertionError("the runner forgets nothing")

    async def erase(self, origin: Origin) -> dict[str, int]:
        self.erased.append(origin)
        found, self.in_the_way = self.in_the_way, 0
        return {"messages": found}

    async def removed(self, origin: Origin) -> dict[str, int]:
        raise AssertionError("the runner answers no command")


@dataclass
class Kept:
    """The `FeatureStore` port of a user of whom something is left, and a profile or none."""

    rendered: bool = False

    async def profile(self, user_id: UserId) -> str | None:
        return "a profile" if self.rendered else None

    async def features(self, user_id: UserId) -> list[str]:
        return ["a feature"]


async def run(
    record: Record,
    *outputs: Output,
    fails: Exception | None = None,
    tombstones: Forgotten | None = None,
    sent: Sent | None = None,
    mends: bool = False,
    sees_forgotten: bool = False,
    concerned: bool = True,
    metrics: Metrics | None = None,
) -> Sent:
    """Run a record whose handler returns `outputs`, or fails: once only where it `mends`."""
    sent, failures = sent or Sent(), [fails] if fails else []

    async def handle(event: Any, record: Record, services: Services, /) -> Sequence[Output]:
        sent.handled += 1
        if failures:
            raise failures.pop() if mends else failures[0]
        return outputs

    nothing = cast(Any, None)
    stones = tombstones or Forgotten()
    services = Services(cast(Store, sent), nothing, nothing, lambda: NOW, cast(Any, Kept(stones.rendered)), stones)
    processor = Processor("thinking", ("questions",), handle, sees_forgotten, lambda event, record: concerned)
    await Runner(processor, services, sent, metrics or Metrics(), NoSpans()).run(record)
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


LATER = NOW + timedelta(milliseconds=1)
OWN_ANSWER = replace(RECORD, topic="answers", value=ANSWER.to_json(), time=LATER)


def turn_at(time: datetime) -> bytes:
    """An event of ours that stems from a question of that time."""
    fields = {"conversationId": "c", "userId": "u", "questionId": "q", "turn": 1, "text": "hello", "mode": "answer"}
    return TurnLogged.model_validate(fields | {"recordTime": time, "loggedAt": LATER}).to_json()


def question_at(time: datetime) -> Message:
    fields = {"conversationId": "c", "messageId": "q", "userId": "u", "role": "USER", "text": "hello"}
    return Message.model_validate(fields | {"questionId": "q", "turn": 1, "createTime": time, "recordTime": time})


def on_turns(time: datetime) -> Record:
    return replace(RECORD, topic="turns", value=turn_at(time), time=LATER)


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        on_turns(NOW),
        replace(RECORD, value=b"not JSON", key=b"u"),
        replace(RECORD, value=None, key=b"u"),
        replace(RECORD, value=b'{"userId": "u"}'),
        replace(RECORD, topic="commands", value=b"not JSON", key=b"u"),
        replace(RECORD, value=QUESTION[:-1] + b', "recordTime": "2999-01-01T00:00:00Z"}'),
    ],
)
async def test_what_stems_from_a_forgotten_question_is_dropped(record: Record) -> None:
    """It is not handled, published or kept, readable or not, and what an earlier delivery left is removed."""
    stones = Forgotten(until=NOW)
    sent = await run(record, ANSWER, tombstones=stones)
    assert (sent.handled, sent.events, sent.letters, sent.stored) == (0, [], [], [])
    assert len(stones.erased) == 1


@pytest.mark.parametrize(
    ("value", "forgotten"),
    [
        (b'{"userId": "u", "text": "cut o', True),
        (b"userId=u", True),
        (b"for you", False),
        (b'{"userId": "v", "text": ["u"]}', False),
    ],
)
async def test_an_unreadable_record_that_names_a_forgotten_user_is_dropped(value: bytes, *, forgotten: bool) -> None:
    """A replay of it brings nothing back; one that is later, of somebody else or of nobody is kept."""
    stones = Forgotten(until=NOW)
    sent = await run(replace(RECORD, value=value), tombstones=stones)
    assert [letter.value for letter in sent.stored] == ([] if forgotten else [value])
    assert [origin.user_id for origin in stones.erased] == (["u"] if forgotten else [])
    later = await run(replace(RECORD, value=value, time=LATER), tombstones=stones)
    assert len(later.stored) == 1


@pytest.mark.parametrize("key", [b"v", b"", None])
@pytest.mark.parametrize("topic", ["commands", "features"])
async def test_what_is_done_for_a_user_is_refused_under_another_key(topic: Any, key: bytes | None) -> None:
    """Its order is kept by the key alone: nothing is carried out, and the dead letter says what to do."""
    command = b'{"userId": "u", "kind": "FORGET_USER"}'
    record = replace(RECORD, topic=topic, key=key, value=command if topic == "commands" else OBSERVED.to_json())
    sent = await run(record, ANSWER)
    assert (sent.handled, sent.events) == (0, [])
    (letter,) = sent.letters
    assert (letter.exception, letter.user_id, letter.key) == ("BadEvent", "u", key)
    assert letter.message == "userId: it is not the record's key; send the event under its userId as key"
    assert (await run(replace(record, key=b"u"), ANSWER)).handled == 1


@pytest.mark.parametrize("record", [replace(RECORD, time=LATER), on_turns(LATER)])
async def test_a_later_question_of_a_forgotten_user_is_learnt_from(record: Record) -> None:
    """Forgetting is of what was said, not of the person."""
    sent = await run(record, ANSWER, tombstones=Forgotten(until=NOW))
    assert [event for event, _ in sent.events] == [ANSWER]


async def test_a_record_that_concerns_nobody_is_passed_over() -> None:
    """It is neither handled nor looked up among what is forgotten."""
    stones = Forgotten(until=NOW)
    sent = await run(RECORD, ANSWER, tombstones=stones, concerned=False)
    assert (sent.handled, sent.events, stones.erased) == (0, [], [])


async def test_what_the_processor_before_looked_up_just_now_is_looked_up_afterwards_alone() -> None:
    """Nothing comes of what is forgotten, but it may be handled; a second later, and by a replay, it is not."""
    ours = replace(on_turns(NOW), time=NOW, headers={"producer": b"rolestream"})
    older = replace(ours, time=NOW - timedelta(seconds=1))
    replayed = replace(ours, headers={**ours.headers, REPLAY_HEADER: b"1"})
    handled = []
    for record in (ours, older, replayed, replace(ours, headers={})):
        stones = Forgotten(until=NOW)
        sent = await run(record, ANSWER, tombstones=stones)
        assert (sent.events, len(stones.erased)) == ([], 1)
        handled.append(sent.handled)
    assert handled == [1, 0, 0, 0]


@pytest.mark.parametrize("fails", [None, ZeroDivisionError("oops")])
async def test_what_is_forgotten_while_it_is_in_work_is_not_published_and_removed(fails: Exception | None) -> None:
    """Neither what came of it nor its dead letter goes out."""
    stones = Forgotten(until=NOW, after=1)
    sent = await run(RECORD, ANSWER, fails=fails, tombstones=stones)
    assert (sent.handled, sent.events, sent.letters) == (1, [], [])
    assert stones.erased[-1] == Origin("u", "c", NOW)


async def test_a_dead_letter_that_is_forgotten_while_it_is_stored_is_removed() -> None:
    """The last look comes after it was stored."""
    stones = Forgotten(until=NOW, after=2)
    sent = await run(RECORD, fails=BadEvent("no"), tombstones=stones)
    assert (len(sent.stored), sent.letters) == (1, [])
    assert stones.erased[-1] == Origin("u", "c", NOW)


@pytest.mark.parametrize(
    ("record", "fails", "looks"),
    [(RECORD, None, 0), (RECORD, None, 1), (RECORD, BadEvent("no"), 1), (RECORD, BadEvent("no"), 2)],
)
async def test_a_record_that_is_dropped_leaves_a_trace_and_no_word_of_it(
    record: Record, fails: Exception | None, looks: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Before it is handled, after, in place of its dead letter or with it: one line that says where, and one count."""
    metrics = Metrics()
    with caplog.at_level(logging.DEBUG):
        await run(record, ANSWER, fails=fails, tombstones=Forgotten(until=NOW, after=looks), metrics=metrics)
    assert 'rolestream_dropped_total{processor="thinking"} 1.0' in metrics.text().decode()
    (line,) = caplog.records
    assert (vars(line)["action"], line.levelname) == ("dropped", "DEBUG")
    assert line.getMessage() == "dropped what is forgotten: questions, partition 1, offset 7"


async def test_forgotten_documents_in_the_way_are_removed_and_the_record_is_handled_again() -> None:
    """A late write under the key of a new conversation is mended, and is no dead letter; any other fault is one."""
    mended = await run(RECORD, ANSWER, fails=BadEvent("taken"), tombstones=Forgotten(in_the_way=1), mends=True)
    assert (mended.handled, len(mended.events), mended.letters) == (2, 1, [])
    failed = await run(RECORD, ANSWER, fails=BadEvent("taken"), mends=True)
    assert (failed.handled, failed.events, len(failed.letters)) == (1, [], 1)


async def test_an_answer_that_carries_no_time_has_that_of_its_question() -> None:
    """To a question that is forgotten it is dropped, though it is later itself; to a later one it is not."""
    dropped = await run(OWN_ANSWER, fails=BadEvent("no such question"), tombstones=Forgotten(until=NOW))
    assert (dropped.handled, dropped.stored, dropped.letters) == (1, [], [])
    old = await run(OWN_ANSWER, ANSWER, tombstones=Forgotten(until=NOW), sent=Sent(questions=[question_at(NOW)]))
    assert old.events == []
    new = await run(OWN_ANSWER, ANSWER, tombstones=Forgotten(until=NOW), sent=Sent(questions=[question_at(LATER)]))
    assert [event for event, _ in new.events] == [ANSWER]
    pretended = replace(OWN_ANSWER, value=ANSWER.model_copy(update={"record_time": LATER}).to_json())
    assert (await run(pretended, fails=BadEvent("no"), tombstones=Forgotten(until=NOW))).stored == []


async def test_a_processor_that_forgets_sees_what_is_forgotten() -> None:
    """A command to forget is carried out again and answered; what is no command is dropped there, too."""
    sent = await run(RECORD, ANSWER, tombstones=Forgotten(until=NOW), sees_forgotten=True)
    assert len(sent.events) == 1
    unreadable = replace(RECORD, topic="commands", value=b"not JSON", key=b"u")
    assert (await run(unreadable, tombstones=Forgotten(until=NOW), sees_forgotten=True)).stored == []


async def test_a_profile_that_went_is_rendered_anew_whoever_removed_it() -> None:
    """Feature memory is told, by an event that no tombstone covers; where there is a profile it is not."""
    assert (await run(RECORD, tombstones=Forgotten(until=NOW))).events == []
    sent = await run(RECORD, tombstones=Forgotten(until=NOW, rendered=False))
    ((event, _),) = sent.events
    assert isinstance(event, FeaturesObserved)
    assert (event.changes, event.record_time > NOW) == ([], True)


async def test_a_dead_letter_says_whose_it_is_as_far_as_it_can_be_read() -> None:
    """By its fields, else by its key, with the time of its question: what forgetting goes by."""
    (read,) = (await run(on_turns(NOW), fails=BadEvent("no"))).stored
    assert (read.user_id, read.conversation_id, read.question_time, read.record_time) == ("u", "c", NOW, LATER)
    (unread,) = (await run(replace(RECORD, value=b'{"userId": 7}'))).stored
    assert (unread.user_id, unread.conversation_id, unread.question_time) == (None, "c", NOW)
