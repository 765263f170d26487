"""What the processors need of the outside world, as Protocols."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from schemas.documents import Conversation, Message, StoredExtraction
from schemas.events import Cost, DeadLetter, Source
from schemas.features import KnownFeature, Summary, UserFeature, UserProfile
from schemas.role import TrackEntry
from schemas.wire import ConversationId, UserId, Wire

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


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
    features: Sequence[KnownFeature] = ()
    """The stable facts in `guidance`, for a model that reads no prose."""
    summary: Summary | None = None
    """The summary in `guidance`, likewise."""
    skill: str = ""
    """How far the user is, likewise."""


@dataclass(frozen=True)
class Proposal:
    """What a model said, unchecked: parsed JSON where an object was asked for."""

    content: Json
    cost: Cost
    said: Json = None
    """What the model itself said, where code has mended it since."""


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

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        """An object with changes [{operation, slot, value, content, category, quote}], of the last user message alone.

        `known` are the user's active features, which it may confirm, replace or take out by their slots.
        """

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        """An object with target, blocker, suggestion, nextStep: the previous summary, brought up to date."""

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        """An object with holds [slot]: the features that may be expected to be so still after `days` unconfirmed."""

    async def aclose(self) -> None: ...


class Similarity(Protocol):
    """How alike two identities are in meaning, 0 to 1; from 0.8 they agree."""

    def __call__(self, one: str, other: str, /) -> float: ...


@dataclass(frozen=True)
class Judgement:
    """Whether two descriptions mean the same role; None where that was not said."""

    same: bool | None
    cost: Cost


class Judge(Protocol):
    """Says what the similarity cannot tell; raises nothing."""

    async def same_role(self, one: str, other: str) -> Judgement: ...


@dataclass(frozen=True)
class Wanted:
    """Which dead letters: those that match all that is given."""

    letter_ids: Sequence[str] | None = None
    topic: str | None = None
    """The source topic, without the prefix."""
    key: bytes | None = None
    since: datetime | None = None
    """Failed at this time or later."""
    until: datetime | None = None
    """Failed before this time."""


class Store(Protocol):
    """MongoDB. While it is away every method waits, or raises Outage; each `add` raises AlreadyStored."""

    @property
    def is_away(self) -> bool:
        """Whether MongoDB was away when it was last tried."""

    async def ping(self) -> None: ...

    async def log(self, conversation_id: ConversationId, before_turn: int, limit: int) -> list[Message]:
        """All messages of the last `limit` turns before a turn, oldest first; a turn's question before its answer."""

    async def first_questions(self, conversations: Sequence[ConversationId]) -> dict[str, str]:
        """The text of each conversation's first question, by conversation; of some there may be none."""

    async def question_at(self, conversation_id: ConversationId, turn: int) -> Message | None: ...

    async def message(self, conversation_id: ConversationId, message_id: str) -> Message | None: ...

    async def messages(self, conversation_id: ConversationId, up_to_turn: int, limit: int) -> list[Message]:
        """The last `limit` messages up to and including a turn, oldest first; a turn's question before its answer.

        A failed answer is among them only where it is the turn's own.
        """

    async def questions(
        self, conversation_id: ConversationId, before_turn: int, limit: int, *, after_turn: int = 0
    ) -> list[str]:
        """The texts of the last `limit` questions after one turn and before another, oldest first."""

    async def add_message(self, message: Message) -> None: ...

    async def replace_failed_message(self, message: Message) -> None:
        """Put an answer in the place of a failed one; where that is none, nothing changes."""

    async def conversation(self, conversation_id: ConversationId) -> Conversation | None: ...

    async def conversations(self, names: Sequence[ConversationId], users: Collection[str] | None) -> list[Conversation]:
        """Those of some ids that there are, of these users where some are named, in the order of their ids."""
        ...

    async def conversations_like(self, prefix: str, rest: str, limit: int) -> list[Conversation]:
        """Those whose ids are a prefix and what the regular expression `rest` matches, in the order of their ids."""
        ...

    async def conversations_of(
        self, users: Sequence[UserId] | None, before: datetime | None, limit: int, *, before_id: str | None = None
    ) -> list[Conversation]:
        """The conversations of some users, of all for None, the last active first, and of one time the last by id.

        Those last active before a time; with an id also those of that time whose ids come before it.
        """

    async def touch_conversation(self, message: Message) -> None:
        """Create the conversation, or move its turn count and last activity up to a message."""

    async def put_summary(self, conversation_id: ConversationId, summary: Summary, *, after: int) -> None:
        """Keep a summary that was made on the one up to turn `after` (0 for none); on another nothing changes.

        A conversation whose last turn it covers awaits none any more.
        """

    async def idle_conversations(self, until: datetime, limit: int) -> list[Conversation]:
        """Conversations that have awaited their summary since before `until`, the longest waiting first."""

    async def claim_summary(self, conversation: Conversation, until: datetime) -> bool:
        """Count a conversation's wait from `until` on; False where it has changed since it was read."""

    async def note_observed(self, question: Message, event: str) -> None:
        """Keep what feature extraction made of a question's turn; the first to be kept stays."""

    async def erase_role(self, conversation_id: ConversationId, up_to_turn: int) -> dict[str, int]:
        """Remove what extractions and track hold of questions up to a turn, which are no evidence any more."""

    async def note_erased(
        self, conversation_id: ConversationId, command_id: str, removed: Mapping[str, int]
    ) -> dict[str, int]:
        """Add to what a command has erased, and return all of it: the same for each of its deliveries."""

    async def replace_entry(self, entry: TrackEntry, was: TrackEntry) -> bool:
        """Put a turn's entry in the place of one; False where that has moved on."""

    async def stands(self, entry: TrackEntry) -> bool:
        """Whether an entry is there as it was read."""

    async def note_guided(self, conversation_id: ConversationId, turn: int) -> None:
        """Remember the first turn whose answer used guidance."""

    async def extraction(self, conversation_id: ConversationId, turn: int) -> StoredExtraction | None: ...

    async def add_extraction(self, extraction: StoredExtraction) -> None: ...

    async def replace_failed_extraction(self, extraction: StoredExtraction) -> None:
        """Put a turn's extraction in the place of its failed one; where that is none, nothing changes."""

    async def track(self, conversation_id: ConversationId, up_to_turn: int | None, limit: int) -> list[TrackEntry]:
        """The last `limit` entries up to and including a turn, newest first."""

    async def track_after(self, conversation_id: ConversationId, after_turn: int, limit: int) -> list[TrackEntry]:
        """The first `limit` entries after a turn, oldest first."""

    async def last_entries(self, conversation_id: ConversationId, turn: int) -> list[TrackEntry]:
        """The entry of a turn, where there is one, and the last before it, newest first."""

    async def add_entry(self, entry: TrackEntry) -> None: ...

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        """Store a failure once, however often it is delivered."""

    async def dead_letters(self, wanted: Wanted, limit: int | None, *, in_brief: bool = False) -> list[DeadLetter]:
        """The dead letters that match, oldest first; in brief: without value, headers and stack trace."""

    async def remove_dead_letters(self, topic: str, partition: int, offset: int) -> None:
        """Remove the dead letters of a record, of all processors that could not handle it."""


class FeatureStore(Protocol):
    """The users' features and profiles in MongoDB; waits and raises as the `Store` does."""

    async def features(self, user_id: UserId) -> list[UserFeature]:
        """All of a user's, in the order of their slots, stale and deleted ones too."""

    async def add_feature(self, feature: UserFeature) -> None: ...

    async def replace_feature(self, feature: UserFeature, version: int) -> bool:
        """Whether it took the place of that version; False where another was there."""

    async def remove_feature(self, feature: UserFeature) -> bool:
        """Whether it was there, in this version, to be removed."""

    async def profile(self, user_id: UserId) -> UserProfile | None: ...

    async def put_profile(self, profile: UserProfile) -> None: ...

    async def unconfirmed_features(
        self, until: datetime, limit: int, *, without: Sequence[UserId] = ()
    ) -> list[UserFeature]:
        """Active features of chats last seen before `until`, of all users but some, the longest unseen first."""


@dataclass(frozen=True)
class Origin:
    """The question that something stems from: whose, of which conversation, and its record's time; None if unknown."""

    user_id: str | None = None
    conversation_id: str | None = None
    time: datetime | None = None


class Tombstones(Protocol):
    """What was forgotten; waits and raises as the `Store` does."""

    async def covers(self, origin: Origin) -> bool:
        """Whether the user, or the conversation of theirs, was forgotten, and the question is not later.

        Without a time: whether either was ever forgotten. Without a user: of a conversation that was logged.
        """

    async def add(self, origin: Origin) -> None:
        """Mark a user, or a conversation of theirs, as forgotten up to the origin's time."""

    async def erase(self, origin: Origin) -> dict[str, int]:
        """Remove what tombstones cover of the user and of the conversation: how many documents, by collection.

        A feature of which only a part goes is counted, too; the profile then goes, until it is rendered anew.
        """

    async def removed(self, origin: Origin) -> dict[str, int]:
        """How many documents went, whoever removed them, since the origin's user or conversation was forgotten."""


class Clock(Protocol):
    def __call__(self) -> datetime: ...


class Publisher(Protocol):
    """Kafka, as far as writing goes. Each returns once the broker has confirmed; an outage is waited out."""

    @property
    def is_away(self) -> bool:
        """Whether Kafka was away when it was last tried."""

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        """Send an event to its topic under its key; raises BadEvent when no broker would take it."""

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        """Send the source's own key and value, with what went wrong in the headers."""

    async def replay(self, letter: DeadLetter) -> None:
        """Send a dead letter's record to its topic again, as it was, marked as a replay."""
