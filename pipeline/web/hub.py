"""What is heard on the topics, for the requests that wait for it."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pipeline.errors import Outage
from pipeline.ports import Publisher
from schemas.events import QuestionRefused
from schemas.memory_events import CommandDone, MemoryCommand
from schemas.wire import Wire

#: How many questions are remembered as asked here or refused, the last ones.
MAX_ASKED = 10_000
#: How many events wait for one client before it is cut off.
MAX_WAITING = 1000
#: What is said of a conversation whose name is taken, by whoever.
_TAKEN = "conversationId: it cannot be used; open a conversation of your own"


@dataclass
class Note:
    """A question that was asked here, or that was refused wherever it was asked."""

    user_id: str
    refused: str | None = None
    """Why it was refused."""


class Stream:
    """The events of one conversation for one client, as far as it may see them."""

    def __init__(self, may_see: Callable[[str], bool]) -> None:
        self._may_see = may_see
        self._events: deque[Wire] = deque()
        self._more = asyncio.Event()
        self._has_ended = False

    def tell(self, event: Wire) -> None:
        """Take an event in; a client that is too slow to read hears no more."""
        if self._has_ended or not self._may_see(getattr(event, "user_id", "")):
            return
        if len(self._events) == MAX_WAITING:
            self.end()
            return
        self._events.append(event)
        self._more.set()

    def end(self) -> None:
        self._has_ended = True
        self._more.set()

    async def next(self) -> Wire | None:
        """The next event; None where no more are heard. A call that is cancelled loses none."""
        while not self._events and not self._has_ended:
            self._more.clear()
            await self._more.wait()
        return self._events.popleft() if self._events else None


class Hub:
    """Hands receipts to the commands that wait for them, events to streams, and refusals to who asked."""

    def __init__(self, patience: float = 10) -> None:
        self._patience = patience
        self._receipts: dict[str, asyncio.Future[CommandDone | None]] = {}
        self._streams: dict[str, set[Stream]] = {}
        self._asked: OrderedDict[tuple[str, str, str], Note] = OrderedDict()
        self._failure: Exception | None = None

    def hear(self, event: Wire) -> None:
        """Take in an event; the listener calls this."""
        if isinstance(event, CommandDone):
            _settle(self._receipts.get(event.command_id), event)
            return
        if isinstance(event, QuestionRefused):
            if event.processor != "conversation-logging":
                return  # the turn went on, and its own events say how
            event = _discreet(event)
            self._note(event.question_id, event.conversation_id, event.user_id).refused = event.reason
        for stream in self._streams.get(getattr(event, "conversation_id", ""), ()):
            stream.tell(event)

    def hear_no_more(self, failure: Exception) -> None:
        """Whoever waits waits no longer; the listener calls this when it cannot go on."""
        self._failure = failure
        for receipt in self._receipts.values():
            _settle(receipt, None)
        for streams in self._streams.values():
            for stream in streams:
                stream.end()

    def hear_again(self) -> None:
        """The listener calls this when it goes on after all."""
        self._failure = None

    async def command(self, command: MemoryCommand, publisher: Publisher) -> CommandDone | None:
        """Publish a command that has an id and wait for its receipt; None where none comes in `patience` seconds.

        Raises Outage, with nothing published, where receipts are not heard.
        """
        if self._failure is not None:
            raise Outage(f"receipts are not heard: {self._failure}")
        assert command.command_id is not None
        receipt: asyncio.Future[CommandDone | None] = asyncio.get_running_loop().create_future()
        self._receipts[command.command_id] = receipt
        try:
            await publisher.publish(command, {})
            async with asyncio.timeout(self._patience):
                return await receipt
        except TimeoutError:
            return None
        finally:
            del self._receipts[command.command_id]

    @contextmanager
    def stream(self, conversations: Collection[str], may_see: Callable[[str], bool]) -> Iterator[Stream]:
        """Hear some conversations from now on, as far as their events are of users that may be seen."""
        stream = Stream(may_see)
        if self._failure is not None:
            stream.end()
        for name in conversations:
            self._streams.setdefault(name, set()).add(stream)
        try:
            yield stream
        finally:
            for name in conversations:
                self._streams[name].discard(stream)
                if not self._streams[name]:
                    del self._streams[name]

    def note_asked(self, question_id: str, conversation_id: str, user_id: str) -> None:
        """Remember that a question was asked, before it is published."""
        self._note(question_id, conversation_id, user_id).refused = None

    def _note(self, question_id: str, conversation_id: str, user_id: str) -> Note:
        note = self._asked.setdefault((conversation_id, question_id, user_id), Note(user_id))
        while len(self._asked) > MAX_ASKED:
            self._asked.popitem(last=False)
        return note

    def asked(self, question_id: str, conversations: Collection[str], may_see: Callable[[str], bool]) -> Note | None:
        """What is remembered of a question in one of these conversations, where a user asked it that may be seen.

        Where it was asked in several, that it was refused in one of them says nothing.
        """
        asked = (note for (of, id_, _), note in self._asked.items() if id_ == question_id and of in conversations)
        return min(
            (note for note in asked if may_see(note.user_id)), key=lambda note: note.refused is not None, default=None
        )


def _settle(receipt: "asyncio.Future[CommandDone | None] | None", done: CommandDone | None) -> None:
    if receipt is not None and not receipt.done():
        receipt.set_result(done)


def _discreet(refused: QuestionRefused) -> QuestionRefused:
    """Without the word that a conversation is there and somebody else's."""
    is_about_it = refused.reason.startswith("conversationId")
    return refused.model_copy(update={"reason": _TAKEN}) if is_about_it else refused
