"""What the processors need of the outside world, as Protocols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from schemas.documents import Conversation, Message, StoredExtraction
from schemas.events import Cost, DeadLetter, Source
from schemas.role import TrackEntry
from schemas.wire import ConversationId, QuestionId

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True)
class Record:
    """A Kafka record as it was read; `topic` is without the prefix."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    time: datetime
    headers: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """One message of the short-term context."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class AnswerRequest:
    """Everything an answer or a report is shaped by."""

    question: str
    context: Sequence[Said] = ()
    """The messages before the question, oldest first."""
    guidance: str = ""
    """What the answering model is told about the user; empty for none."""
    rules: Sequence[str] = ()
    """The preferences in `guidance`, one plain rule each, for a model that reads no prose."""
    sources: Sequence[Source] = ()


@dataclass(frozen=True)
class Proposal:
    """What a model said, unchecked: parsed JSON where an object was asked for."""

    content: Json
    cost: Cost


@dataclass(frozen=True)
class Reply:
    """An answer's text."""

    text: str
    cost: Cost


class Model(Protocol):
    """A language model, or the offline rules. Every method raises ModelFailed."""

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        """Propose an extraction for `question`, read with the user's earlier questions, oldest first."""

    async def answer(self, request: AnswerRequest) -> Reply: ...

    async def report(self, request: AnswerRequest) -> Proposal:
        """An object with title, keyPoints, overview, sections [{heading, text}], surveyNote, citations [source id]."""

    async def aclose(self) -> None: ...


class Similarity(Protocol):
    """How alike two identities are in meaning, 0 to 1; from 0.8 they agree."""

    def __call__(self, one: str, other: str, /) -> float: ...


class Store(Protocol):
    """MongoDB. Every method raises Outage while it is away; each `add` raises AlreadyStored."""

    async def last_question(self, conversation_id: ConversationId) -> Message | None: ...

    async def message(self, conversation_id: ConversationId, message_id: str) -> Message | None: ...

    async def messages(self, conversation_id: ConversationId, up_to_turn: int, limit: int) -> list[Message]:
        """The last `limit` messages up to and including a turn, oldest first."""

    async def questions(self, conversation_id: ConversationId, before_turn: int, limit: int) -> list[str]:
        """The texts of the last `limit` questions before a turn, oldest first."""

    async def add_message(self, message: Message) -> None: ...

    async def conversation(self, conversation_id: ConversationId) -> Conversation | None: ...

    async def touch_conversation(self, message: Message) -> None:
        """Create the conversation, or move its turn count and last activity up to a message."""

    async def note_guided(self, conversation_id: ConversationId, turn: int) -> None:
        """Remember the first turn whose answer used guidance."""

    async def extraction(self, conversation_id: ConversationId, question_id: QuestionId) -> StoredExtraction | None: ...

    async def add_extraction(self, extraction: StoredExtraction) -> None: ...

    async def track(self, conversation_id: ConversationId, up_to_turn: int | None, limit: int) -> list[TrackEntry]:
        """The last `limit` entries up to and including a turn, newest first."""

    async def add_entry(self, entry: TrackEntry, event: str) -> None: ...

    async def entry_event(self, conversation_id: ConversationId, turn: int) -> str | None: ...

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        """Store a failure once, however often it is delivered."""


class Clock(Protocol):
    def __call__(self) -> datetime: ...
