"""A small client for users of Rolestream: ask, follow, wait for the answer, read memory, and command it."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import uuid4

from pipeline import bootstrap
from pipeline.domain.track import standing
from pipeline.errors import BadEvent, Outage
from pipeline.ports import FeatureStore, Publisher, Store
from pipeline.settings import Settings, load_settings
from schemas.events import AnswerReady, GuidanceIssued, Mode, QuestionAsked, QuestionRefused, Source, TurnLogged
from schemas.features import UserFeature, UserProfile
from schemas.memory_events import CommandDone, CommandKind, MemoryCommand
from schemas.role import TrackEntry
from schemas.wire import ConversationId, QuestionId, UserId, Wire

E = TypeVar("E", bound=Wire)

_KINDS: dict[type[Wire], str] = {AnswerReady: "answer", GuidanceIssued: "guidance", TurnLogged: "turn"}
#: How many questions a client follows, the last ones it asked.
MAX_FOLLOWED = 1_000


@dataclass
class _Followed:
    """What was heard of one question so far."""

    conversation_id: str
    events: list[Wire] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)


class Client:
    """Asks questions, commands memory, and hears what becomes of both; `connect` makes one."""

    def __init__(self, publisher: Publisher, store: Store, features: FeatureStore) -> None:
        self._publisher, self._store, self._features = publisher, store, features
        self._receipts: dict[str, asyncio.Future[CommandDone]] = {}
        self._followed: OrderedDict[str, _Followed] = OrderedDict()
        self._failure: Exception | None = None

    def hear(self, event: Wire) -> None:
        """Take in an event; the listener calls this."""
        if isinstance(event, CommandDone):
            receipt = self._receipts.get(event.command_id)
            if receipt is not None and not receipt.done():
                receipt.set_result(event)
            return
        followed = self._followed.get(getattr(event, "question_id", ""))
        if followed is None or followed.conversation_id != getattr(event, "conversation_id", ""):
            return
        followed.events.append(event)
        followed.more.set()

    def hear_no_more(self, failure: Exception) -> None:
        """Whoever waits is told; the listener calls this when it cannot go on."""
        self._failure = failure
        for followed in self._followed.values():
            followed.more.set()
        for receipt in self._receipts.values():
            if not receipt.done():
                receipt.set_exception(Outage(f"receipts are heard no more: {failure}"))

    async def ask(
        self,
        text: str,
        *,
        user_id: str,
        conversation_id: str,
        mode: Mode = "auto",
        question_id: str | None = None,
        asked_at: datetime | None = None,
        sources: Sequence[Source] = (),
        metadata: dict[str, Any] | None = None,
    ) -> QuestionId:
        """Publish a question and return its id; raises pydantic's ValidationError for bad input, and Outage."""
        asked = QuestionId(question_id or str(uuid4()))
        question = QuestionAsked(
            conversation_id=ConversationId(conversation_id),
            user_id=UserId(user_id),
            text=text,
            question_id=asked,
            asked_at=asked_at or datetime.now(UTC),
            mode=mode,
            sources=list(sources),
            metadata=metadata or {},
        )
        self._followed.setdefault(asked, _Followed(conversation_id))
        while len(self._followed) > MAX_FOLLOWED:
            self._followed.popitem(last=False)
        await self._publisher.publish(question, {})
        return asked

    async def events(self, question_id: QuestionId) -> AsyncIterator[Wire]:
        """What becomes of a question that this client asked, as it is heard, without an end.

        Stages run apart, so an answer may be heard before the guidance that shaped it.
        """
        followed, told = self._followed[question_id], 0
        while True:
            while told < len(followed.events):
                told += 1
                yield followed.events[told - 1]
            if self._failure is not None:
                raise Outage(f"what becomes of questions is heard no more: {self._failure}") from self._failure
            followed.more.clear()
            await followed.more.wait()

    async def answer(
        self, question_id: QuestionId, *, within: float = 120, heard: Callable[[Wire], None] = lambda event: None
    ) -> AnswerReady:
        """Wait for the answer or report to a question that this client asked, telling `heard` of all that comes.

        Raises Outage after `within` seconds, and BadEvent when the question was refused.
        """
        return await self._first(AnswerReady, question_id, within, heard)

    async def guidance(self, question_id: QuestionId, *, within: float = 120) -> GuidanceIssued:
        """Wait for the guidance of a question that this client asked; raises Outage after `within` seconds."""
        return await self._first(GuidanceIssued, question_id, within, lambda event: None)

    async def logged(self, question_id: QuestionId, *, within: float = 120) -> TurnLogged:
        """Wait until a question that this client asked is a turn; raises as `answer` does."""
        return await self._first(TurnLogged, question_id, within, lambda event: None)

    async def give(self, text: str, *, question_id: QuestionId, user_id: str, conversation_id: str) -> None:
        """Publish the answer of a model of your own to a question, so that it joins the conversation."""
        answer = AnswerReady(
            conversation_id=ConversationId(conversation_id),
            user_id=UserId(user_id),
            question_id=question_id,
            text=text,
        )
        await self._publisher.publish(answer, {})

    async def command(self, kind: CommandKind, *, user_id: str, within: float = 60, **wish: Any) -> CommandDone:
        """Publish a command and wait for its receipt, which says whether it was done, or why not.

        `wish` are the other fields of MemoryCommand; raises pydantic's ValidationError for bad ones, and Outage.
        """
        fields = {"kind": kind, "user_id": user_id, "command_id": str(uuid4())} | wish
        command = MemoryCommand.model_validate(fields, extra="forbid")
        receipt: asyncio.Future[CommandDone] = asyncio.get_running_loop().create_future()
        self._receipts[command.command_id or ""] = receipt
        if self._failure is not None:
            receipt.set_exception(Outage(f"receipts are heard no more: {self._failure}"))
        try:
            await self._publisher.publish(command, {})
            async with asyncio.timeout(within):
                return await receipt
        except TimeoutError:
            raise Outage(f"no receipt within {within:g} s: is a worker running?") from None
        finally:
            del self._receipts[command.command_id or ""]

    async def features(self, user_id: str) -> list[UserFeature]:
        """What is kept about a user across conversations, without what was deleted."""
        return [feature for feature in await self._features.features(UserId(user_id)) if feature.status != "DELETED"]

    async def profile(self, user_id: str) -> UserProfile | None:
        """What a user's features come to; None where none are kept."""
        return await self._features.profile(UserId(user_id))

    async def _first(self, kind: type[E], question_id: QuestionId, within: float, heard: Callable[[Wire], None]) -> E:
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                async for event in self.events(question_id):
                    heard(event)
                    if isinstance(event, QuestionRefused) and event.processor == "conversation-logging":
                        raise BadEvent(f"the question was refused: {event.reason}")
                    if isinstance(event, kind):
                        return event
        raise Outage(f"no {_KINDS[kind]} within {within:g} s: is a worker running that writes one?")

    async def memory(self, conversation_id: str) -> TrackEntry | None:
        """The latest track entry: what is believed now; None before the first question was learnt from."""
        name = ConversationId(conversation_id)
        latest, conversation = await self._store.track(name, None, 1), await self._store.conversation(name)
        return standing(latest, conversation.epoch if conversation else 0)

    async def track(self, conversation_id: str, *, limit: int = 1000) -> list[TrackEntry]:
        """The last `limit` track entries, oldest first."""
        return (await self._store.track(ConversationId(conversation_id), None, limit))[::-1]


@asynccontextmanager
async def connect(settings: Settings | None = None, *, patience: float = 10) -> AsyncIterator[Client]:
    """A connected client; raises Outage when Kafka or MongoDB cannot be reached within `patience` seconds."""
    async with bootstrap.client_parts(settings or load_settings(), patience) as (publisher, store, features, listen):
        client = Client(publisher, store, features)
        async with listen(client.hear, client.hear_no_more):
            yield client
