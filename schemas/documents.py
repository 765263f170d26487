"""The stored documents that are not the role track: conversations, messages and extractions."""

from typing import Literal

from pydantic import Field

from schemas.features import Summary
from schemas.role import Extraction
from schemas.wire import ConversationId, Moment, UserId, Wire


class Erasure(Wire):
    """The last command that erased a conversation's role memory, and what went by all its deliveries."""

    command_id: str
    removed: dict[str, int] = {}


class Conversation(Wire):
    """One conversation: whose it is, and how far it has come."""

    conversation_id: ConversationId
    user_id: UserId
    turn_count: int = Field(ge=0)
    last_active_time: Moment
    last_record_time: Moment | None = None
    """The timestamp of the latest question's record: what forgetting goes by."""
    epoch: int = Field(default=0, ge=0)
    """The last turn whose questions are no evidence any more, for the role memory was erased after it."""
    erasure: Erasure | None = None
    summary: Summary | None = None
    awaits_summary: Moment | None = None
    """Since when something said has waited for its summary; None where the summary covers every turn."""
    guided_turn: int | None = None
    """The first turn whose answer used guidance, noted for guide scope ONCE."""


class Message(Wire):
    """One message of a conversation; `event` is what was published for it, as it was published."""

    conversation_id: ConversationId
    message_id: str
    user_id: UserId
    role: Literal["USER", "ASSISTANT"]
    text: str
    question_id: str
    turn: int = Field(ge=1)
    create_time: Moment
    record_time: Moment | None = None
    """The timestamp of the question's record: what forgetting goes by."""
    status: Literal["ok", "failed"] = "ok"
    """`failed` where no answer could be written; it is no part of the conversation."""
    event: str | None = None
    """None for the answer of a client's own model."""
    observed: str | None = None
    """Of a question: the FeaturesObserved that feature extraction made of its turn, as it was published."""
    raw_text: str | None = None
    """The text before masking, where the settings keep it; nothing reads it."""


class StoredExtraction(Wire):
    """One turn as role extraction left it; `event` is what was published for it."""

    conversation_id: ConversationId
    question_id: str
    user_id: UserId
    turn: int = Field(ge=1)
    extraction: Extraction | None
    failure: str | None
    since: int = Field(default=1, ge=1)
    """The first turn whose question was read for it: it goes where the role memory is erased up to there."""
    create_time: Moment
    record_time: Moment | None = None
    event: str
