"""What is heard reaches whoever waits for it, and nobody waits for ever."""

import asyncio
from datetime import UTC, datetime

import pytest

from pipeline.errors import Outage
from pipeline.web import Hub
from pipeline.web.hub import MAX_ASKED, MAX_WAITING
from schemas.events import QuestionRefused
from schemas.memory_events import CommandDone, MemoryCommand
from schemas.wire import UserId, Wire
from tests.processors.factories import turn
from tests.web.world import is_heard, refused

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
COMMAND = MemoryCommand(user_id=UserId("u"), kind="FORGET_USER", command_id="1")


def everybody(user: str) -> bool:
    return True


def receipt(command_id: str) -> CommandDone:
    return CommandDone(user_id=UserId("u"), command_id=command_id, kind="FORGET_USER", time=NOW)


class Answering:
    """A `Publisher` upon whose publishing the hub hears some events."""

    is_away = False

    def __init__(self, hub: Hub, *events: Wire, failure: Exception | None = None) -> None:
        self._hub, self._events, self._failure = hub, events, failure
        self.published: list[Wire] = []

    async def publish(self, event: Wire, headers: object) -> None:
        self.published.append(event)
        for heard in self._events:
            self._hub.hear(heard)
        if self._failure is not None:
            self._hub.hear_no_more(self._failure)

    async def publish_dead_letter(self, letter: object) -> None: ...

    async def replay(self, letter: object) -> None: ...


async def test_a_command_gets_its_own_receipt() -> None:
    """The receipts of others pass by; a second delivery of its own changes nothing."""
    hub = Hub()
    publisher = Answering(hub, receipt("2"), receipt("1"), receipt("1"))
    assert await hub.command(COMMAND, publisher) == receipt("1")
    hub.hear(receipt("1"))


async def test_a_receipt_is_waited_for_no_longer_than_the_patience() -> None:
    """None says that the command was published and no more."""
    hub = Hub(patience=0.01)
    publisher = Answering(hub)
    assert await hub.command(COMMAND, publisher) is None
    assert publisher.published == [COMMAND]


async def test_a_command_waits_not_for_receipts_that_are_heard_no_more() -> None:
    """One that is published already ends unanswered; the next is not published before hearing goes on."""
    hub = Hub(patience=60)
    assert await hub.command(COMMAND, Answering(hub, failure=Outage("gone"))) is None
    publisher = Answering(hub, receipt("1"))
    with pytest.raises(Outage, match="receipts are not heard: gone"):
        await hub.command(COMMAND, publisher)
    assert publisher.published == []
    hub.hear_again()
    assert await hub.command(COMMAND, publisher) == receipt("1")


async def test_a_slow_client_is_cut_off() -> None:
    """What waits for it is bounded: it is told that much, then the end, and the others hear on."""
    hub = Hub()
    with hub.stream(["c"], everybody) as slow, hub.stream(["c"], everybody) as other:
        for number in range(1, MAX_WAITING + 10):
            hub.hear(turn(number))
            assert await other.next() == turn(number)
        told = [await slow.next() for _ in range(MAX_WAITING + 1)]
    assert told == [*(turn(number) for number in range(1, MAX_WAITING + 1)), None]


async def test_a_stream_hears_its_conversation_from_its_opening_to_its_end() -> None:
    """Several do at once; nothing is kept of a conversation that nobody listens to."""
    hub = Hub()
    hub.hear(turn(1))
    with hub.stream(["c"], everybody) as one, hub.stream(["c"], lambda user: user == "v") as other:
        hub.hear(turn(2))
        hub.hear(turn(3, conversationId="d"))
        hub.hear(turn(4, userId="v"))
        assert [await one.next(), await one.next()] == [turn(2), turn(4, userId="v")]
        assert await other.next() == turn(4, userId="v")
        assert is_heard(hub)
    assert not is_heard(hub)


async def test_waiting_for_an_event_can_be_given_up_without_losing_one() -> None:
    """A heartbeat interrupts the wait; the event that comes then is the next."""
    hub = Hub()
    with hub.stream(["c"], everybody) as stream:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await stream.next()
        hub.hear(turn(1))
        assert await stream.next() == turn(1)


async def test_streams_end_where_hearing_fails() -> None:
    """Those that are open, after what they heard before, and those that are opened before hearing goes on."""
    hub = Hub()
    with hub.stream(["c"], everybody) as before:
        hub.hear(turn(1))
        hub.hear_no_more(Outage("gone"))
        assert [await before.next(), await before.next()] == [turn(1), None]
    with hub.stream(["c"], everybody) as after:
        assert await after.next() is None
    hub.hear_again()
    with hub.stream(["c"], everybody) as again:
        hub.hear(turn(2))
        assert await again.next() == turn(2)


async def test_a_refusal_is_of_who_asked() -> None:
    """Of the same ids by another user it is not; nor is what a later stage says of a turn."""
    hub = Hub()
    for user in ("u", "v"):
        hub.note_asked("q", "c", user)
    hub.hear(refused("v", "c", "q", "metadata: send less"))
    later = QuestionRefused(processor="summary", conversation_id="c", user_id="u", question_id="q", reason="no")
    hub.hear(later)
    own, other = (hub.asked("q", ["c"], lambda user, name=name: user == name) for name in ("u", "v"))  # type: ignore[misc]
    assert own is not None
    assert other is not None
    assert (own.refused, other.refused) == (None, "metadata: send less")
    assert hub.asked("q", ["d"], everybody) is None


async def test_a_question_that_waits_is_not_refused_by_what_became_of_another() -> None:
    """Of one id, asked in two conversations that may be meant, the one that was not refused counts."""
    hub = Hub()
    hub.note_asked("q", "c", "u")
    hub.hear(refused("u", "c", "q", "no"))
    hub.note_asked("q", "d", "u")
    for names in (["c", "d"], ["d", "c"]):
        note = hub.asked("q", names, everybody)
        assert note is not None
        assert note.refused is None


async def test_a_refusal_is_known_wherever_it_was_asked() -> None:
    """A question that another process published is refused here too, to its user alone, until it is asked again."""
    hub = Hub()
    hub.hear(refused("u", "c", "q", "metadata: send less"))
    note = hub.asked("q", ["c"], lambda user: user == "u")
    assert note is not None
    assert note.refused == "metadata: send less"
    assert hub.asked("q", ["c"], lambda user: user == "v") is None
    hub.note_asked("q", "c", "u")
    assert note.refused is None


async def test_only_the_last_refusals_are_remembered() -> None:
    """However many are heard."""
    hub = Hub()
    for number in range(MAX_ASKED + 1):
        hub.hear(refused("u", "c", f"q{number}", "no"))
    assert hub.asked("q0", ["c"], everybody) is None
    assert hub.asked("q1", ["c"], everybody) is not None


async def test_only_the_last_questions_are_remembered() -> None:
    """However many are asked."""
    hub = Hub()
    for number in range(MAX_ASKED + 1):
        hub.note_asked(f"q{number}", "c", "u")
    assert hub.asked("q0", ["c"], everybody) is None
    assert hub.asked("q1", ["c"], everybody) is not None
