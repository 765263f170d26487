"""What the API takes and gives, as models; what the wire contract has already is taken from there."""

import re
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from pipeline.domain.features import EMPTY
from pipeline.domain.slots import folded
from schemas.events import Cost, QuestionAsked
from schemas.features import Category, Content, Earlier, FeatureSource, FeatureStatus, Seen, Slot, Value
from schemas.role import Decision, Name
from schemas.wire import ConversationId, Identifier, Moment, NoNul, QuestionId, UserId, Wire

#: The conversation that is meant where none is named.
DEFAULT_CONVERSATION = ConversationId("__default__")
#: The last turn that a cursor may name.
LAST_TURN = 2**31 - 1
SessionId = Annotated[ConversationId, Identifier, Query(description="The conversation.")]
#: An id in a path or a query.
Named = Annotated[str, Identifier]
ForUser = Annotated[Named | None, Query(description="Whose; may be left out where the key is one user's.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="The most items of a page.")]


def _is_written_out(moment: object) -> object:
    if isinstance(moment, datetime) or (isinstance(moment, str) and re.match(r"\d{4}-", moment)):
        return moment
    raise ValueError("say it as 2026-05-01T12:00:00Z")


#: A moment as the document has it; events may also count seconds.
Time = Annotated[Moment, BeforeValidator(_is_written_out)]


def _says_something(text: str) -> str:
    if not folded(text):
        raise ValueError(EMPTY)
    return text


_Said = AfterValidator(_says_something)


class MessageMetadata(Wire):
    """Where a message stands and what became of it."""

    message_id: str
    question_id: str
    turn: int
    create_time: Moment
    status: Literal["ok", "failed"]
    cost: Cost | None
    """Of an answer that a model call was made for here."""


class UserMessage(Wire):
    """A question, as it is stored."""

    message_type: Literal["USER"] = "USER"
    metadata: MessageMetadata
    text: str
    media: list[str] = Field(default=[], max_length=0)
    """Always empty: questions are text."""


class AssistantMessage(Wire):
    """An answer, as it is stored; its text is empty where it failed."""

    message_type: Literal["ASSISTANT"] = "ASSISTANT"
    metadata: MessageMetadata
    text: str
    tool_calls: list[str] = Field(default=[], max_length=0)
    """Always empty: answers call no tools."""


class TrackMetadata(Wire):
    """What a track item is about, and what learning from its turn cost."""

    turn: int
    question_id: str
    decision: Decision
    create_time: Moment
    update_time: Moment | None
    cost: Cost


class TrackItem(Wire):
    """One turn on the role track."""

    message_type: Literal["SYSTEM"] = "SYSTEM"
    metadata: TrackMetadata
    text: str
    """The track document, as JSON."""


class ConversationItem(Wire):
    """One conversation of a list."""

    conversation_id: str
    user_id: str
    turn_count: int
    last_active_time: Moment
    title: str
    """The start of the first question."""


class Feature(Wire):
    """A stable fact about a user; without what only merging needs."""

    schema_version: Literal[1] = 1
    feature_id: str
    user_id: UserId
    slot: str
    value: str
    content: str
    category: Category
    source: FeatureSource
    status: FeatureStatus
    confidence: int
    source_conversation_id: ConversationId | None
    evidence: list[Seen]
    history: list[Earlier]
    version: int
    create_time: Moment
    update_time: Moment
    last_seen_time: Moment
    record_time: Moment
    said_at: Moment | None


class NewFeature(Wire):
    """A fact to be kept."""

    slot: Annotated[Slot, NoNul, _Said]
    value: Annotated[Value, NoNul, _Said]
    content: Annotated[Content, NoNul] = ""
    category: Category = "OTHER"
    by: Literal["user", "admin"] = "user"
    """`admin` needs the scope admin."""


class FeatureEdit(Wire):
    """What a kept fact is to say."""

    value: Annotated[Value, NoNul, _Said]
    content: Annotated[Content, NoNul] = ""
    category: Category | None = None
    """The same as before where it is left out."""


class Correction(Wire):
    """Who the user is, and is not."""

    identities: list[Annotated[Name, NoNul, _Said]] = Field(default=[], max_length=5)
    denies: list[Annotated[Name, NoNul, _Said]] = Field(default=[], max_length=10)
    turn: int | None = Field(default=None, ge=1, le=LAST_TURN)
    """The turn of the role that was read: refused where it has moved on."""
    corrections: int | None = Field(default=None, ge=0, le=LAST_TURN)
    """Its document's `correctionCount` then: refused where it has more."""


class CommandSent(Wire):
    """A command whose receipt did not come in time; it will be carried out."""

    command_id: str


class Question(QuestionAsked):
    """A question, of the default conversation and the key's only user where it names no others."""

    model_config = ConfigDict(extra="forbid")

    conversation_id: Annotated[ConversationId, Identifier] = DEFAULT_CONVERSATION
    asked_at: Time | None = None
    user_id: Annotated[UserId, Identifier] | None = None  # type: ignore[assignment]  # it is filled in by the route


class Asked(Wire):
    """The ids that a question was published under."""

    question_id: QuestionId
    conversation_id: ConversationId
    user_id: UserId
