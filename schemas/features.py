"""What is kept beyond one turn: a user's features and profile, a conversation's summary, and what was forgotten."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.role import MAX_QUOTE, QuoteText
from schemas.wire import ConversationId, Moment, NoNul, QuestionId, UserId, Wire

Category = Literal["PREFERENCE", "PERSONAL_INFO", "HABIT", "OTHER"]
FeatureSource = Literal["CHAT_EXTRACT", "MANUAL", "SYSTEM"]
FeatureStatus = Literal["ACTIVE", "STALE", "DELETED"]
#: What is to become of a feature: seen (again, or anew), taken out, not confirmed for long, looked at and still true.
FeatureOperation = Literal["OBSERVE", "FORGET", "STALE", "HOLDS"]

MAX_SLOT = 80
MAX_VALUE = 200
MAX_CONTENT = 300
#: The most features of a user that are active or stale.
MAX_FEATURES = 500
#: The most turns that a feature remembers as its evidence, and the most earlier values.
MAX_SEEN = 50
MAX_HISTORY = 20
#: The most changes of one event.
MAX_CHANGES = 50

Slot = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SLOT)]
Value = Annotated[str, StringConstraints(min_length=1, max_length=MAX_VALUE)]
Content = Annotated[str, StringConstraints(max_length=MAX_CONTENT)]


def is_by_hand(source: FeatureSource) -> bool:
    """Whether somebody set it, so that nothing overheard overrules it."""
    return source != "CHAT_EXTRACT"


class Summary(Wire):
    """Where a conversation stands; a part that was not said stays empty."""

    target: Content = ""
    blocker: Content = ""
    suggestion: Content = ""
    next_step: Content = ""
    turn: int = Field(default=0, ge=0)
    """The last turn that it covers."""
    update_time: Moment | None = None


class KnownFeature(Wire):
    """A feature as guidance and models are told of it."""

    slot: Slot
    value: Value
    content: Content = ""
    category: Category = "OTHER"
    source: FeatureSource = "CHAT_EXTRACT"


class FeatureChange(Wire):
    """One thing that a turn, a command or the weekly check says about one feature."""

    operation: FeatureOperation = "OBSERVE"
    slot: Annotated[Slot, NoNul]
    """What the fact is about, such as "milk"; of FORGET the words that were asked to be forgotten will do."""
    value: Annotated[str, StringConstraints(max_length=MAX_VALUE), NoNul] = ""
    """What is so, such as "low sugar"; needed to observe."""
    content: Annotated[Content, NoNul] = ""
    """The whole of it in one sentence, in the language of the user."""
    category: Category = "OTHER"
    quote: Annotated[str, StringConstraints(max_length=MAX_QUOTE)] = ""
    """The user's words that say so; empty where it is a command."""
    feature_id: str | None = None
    """Of an edit or a deletion by hand."""
    version: int | None = Field(default=None, ge=0)
    """Of an edit by hand: the version that was read, 0 for none; refused where the feature has moved on."""

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.operation == "OBSERVE" and not self.value:
            raise ValueError("value is empty: say what is so")
        return self


class Seen(Wire):
    """One turn that said a feature's current value."""

    conversation_id: ConversationId
    question_id: QuestionId
    quote: QuoteText
    record_time: Moment
    said_at: Moment | None = None
    """Of an old conversation that was taken in: when it was said."""


class Earlier(Wire):
    """A value that a feature had before, and why it gave way."""

    value: Value
    content: Content = ""
    source: FeatureSource
    conversation_id: ConversationId | None = None
    """Where it was said."""
    until: Moment
    reason: str


class Heard(Wire):
    """A turn or a command that has had its effect on a feature: it has none twice."""

    source: str
    """The id of the question or of the command."""
    is_command: bool = False
    record_time: Moment
    version: int = Field(ge=1)
    """Of the feature, once it had."""


class Left(Wire):
    """A feature that left for want of room."""

    slot: Slot
    confidence: int = Field(ge=1)
    last_seen_time: Moment


class UserFeature(Wire):
    """One stable fact about a user, across conversations; `slot` is unique among those of the user."""

    schema_version: Literal[1] = 1
    feature_id: str
    user_id: UserId
    slot: Slot
    value: Annotated[str, StringConstraints(max_length=MAX_VALUE)]
    content: Content
    """Empty, as the value is, once the feature is deleted."""
    category: Category
    source: FeatureSource
    status: FeatureStatus = "ACTIVE"
    confidence: int = Field(default=1, ge=1)
    """How many turns have said it."""
    source_conversation_id: ConversationId | None = None
    evidence: list[Seen] = Field(default=[], max_length=MAX_SEEN)
    history: list[Earlier] = Field(default=[], max_length=MAX_HISTORY)
    """Oldest first."""
    heard: list[Heard] = Field(default=[], max_length=MAX_SEEN)
    """Oldest first; of a deleted feature commands alone."""
    version: int = Field(default=1, ge=1)
    create_time: Moment
    update_time: Moment
    last_seen_time: Moment
    """When it was last said, or the last check that found it to hold still."""
    record_time: Moment
    """The record that its value, or its deletion, stems from."""
    said_at: Moment | None = None
    """When that was said, where it was long before its record."""
    forgotten_until: Moment | None = None
    """Of a feature that was ever deleted: what is not later teaches it no more."""
    deleted_hash: str = ""
    """Of the same: keyed hashes of the deleted values, by which old messages are known in other words, too."""


class UserProfile(Wire):
    """What a user's features come to; written by feature memory alone."""

    schema_version: Literal[1] = 1
    user_id: UserId
    skill: Content = ""
    target: Content = ""
    preferences: dict[str, str] = {}
    left: list[Left] = Field(default=[], max_length=MAX_HISTORY)
    """The last features that left for want of room, oldest first."""
    update_time: Moment
    record_time: Moment
    """The latest record that changed one of the features."""


class Tombstone(Wire):
    """A forgotten conversation or user: a keyed hash, and up to when."""

    hash: str
    time: Moment
    """What stems from a record that is not later is dropped."""
    removed: dict[str, int] = {}
    """How many documents went, by collection."""
