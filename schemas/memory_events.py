"""The events of memory across conversations: what is observed, what is commanded, and the receipts."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from schemas.events import Cost, derived_id
from schemas.features import MAX_CHANGES, Category, Content, FeatureChange, FeatureSource, Slot, Value
from schemas.role import Name
from schemas.wire import ConversationId, Identifier, Moment, NoNul, QuestionId, UserId, Wire

CommandKind = Literal[
    "ADD_FEATURE", "EDIT_FEATURE", "DELETE_FEATURE", "CORRECT_ROLE", "FORGET_CONVERSATION", "FORGET_ROLE", "FORGET_USER"
]
_NEEDS: dict[CommandKind, tuple[str, ...]] = {
    "ADD_FEATURE": ("slot", "value"),
    "EDIT_FEATURE": ("value",),
    "DELETE_FEATURE": (),
    "CORRECT_ROLE": ("conversation_id",),
    "FORGET_CONVERSATION": ("conversation_id",),
    "FORGET_ROLE": ("conversation_id",),
    "FORGET_USER": (),
}


class FeaturesObserved(Wire):
    """What one turn, one command or the weekly check says about a user's features."""

    schema_version: Literal[1] = 1
    user_id: Annotated[UserId, Identifier]
    observed_by: Literal["feature-extraction", "update-arbitration", "memory-commands", "weekly-check"]
    source: FeatureSource
    record_time: Moment
    """The timestamp of the question's, or of the command's, record; of the weekly check its own time."""
    said_at: Moment | None = None
    """Of an old conversation that was taken in: when it was said, by which what is newer replaces what is older."""
    conversation_id: Annotated[ConversationId, Identifier] | None = None
    question_id: Annotated[QuestionId, Identifier] | None = None
    turn: int | None = Field(default=None, ge=1)
    command_id: Annotated[str, Identifier] | None = None
    """Where a receipt is wanted."""
    command_kind: CommandKind | None = None
    """What the receipt says was commanded."""
    changes: list[FeatureChange] = Field(default=[], max_length=MAX_CHANGES)
    cost: Cost = Cost()

    @property
    def event_id(self) -> str:
        """The same for every delivery of the same event."""
        named = self.command_id or self.question_id
        origin = [named] if named else [self.record_time.isoformat(), *(change.slot for change in self.changes)]
        return derived_id("FeaturesObserved", self.user_id, self.observed_by, self.conversation_id or "", *origin)


class MemoryCommand(Wire):
    """A wish of the user, or of an administrator, about what is remembered."""

    model_config = ConfigDict(extra="ignore")

    user_id: Annotated[UserId, Identifier]
    kind: CommandKind
    command_id: Annotated[str, Identifier] | None = None
    """Derived from the rest and the record's time where it is missing."""
    by: Literal["user", "admin"] = "user"
    conversation_id: Annotated[ConversationId, Identifier] | None = None
    """Of CORRECT_ROLE, FORGET_CONVERSATION and FORGET_ROLE."""
    feature_id: str | None = None
    """Of EDIT_FEATURE and DELETE_FEATURE; the slot will do instead."""
    slot: Annotated[Slot, NoNul] | None = None
    value: Annotated[Value, NoNul] | None = None
    content: Annotated[Content, NoNul] = ""
    category: Category = "OTHER"
    version: int | None = Field(default=None, ge=0)
    """Of EDIT_FEATURE and CORRECT_ROLE (there a turn): refused where it has moved on. Of ADD_FEATURE 0: refused where
    there is such a feature."""
    corrections: int | None = Field(default=None, ge=0)
    """Of CORRECT_ROLE: how many corrections the newest entry had when it was read; refused where it has more."""
    identities: list[Annotated[Name, NoNul]] = Field(default=[], max_length=5)
    """Of CORRECT_ROLE: who the user is."""
    denies: list[Annotated[Name, NoNul]] = Field(default=[], max_length=10)
    """Of CORRECT_ROLE: who the user is not."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        missing = [name for name in _NEEDS[self.kind] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.kind} needs {', '.join(missing)}")
        if self.kind in ("EDIT_FEATURE", "DELETE_FEATURE") and self.feature_id is None and self.slot is None:
            raise ValueError(f"{self.kind} needs featureId or slot")
        if self.kind == "CORRECT_ROLE" and not (self.identities or self.denies):
            raise ValueError("CORRECT_ROLE needs identities or denies")
        if both := {name.casefold() for name in self.identities} & {name.casefold() for name in self.denies}:
            raise ValueError(f"identities and denies both hold {', '.join(sorted(both))}")
        return self


Refusal = Literal["UNKNOWN", "OUTDATED"]


class CommandDone(Wire):
    """The receipt of a command: what became of it."""

    schema_version: Literal[1] = 1
    user_id: Annotated[UserId, Identifier]
    command_id: Annotated[str, Identifier]
    kind: CommandKind
    status: Literal["done", "refused"] = "done"
    reason: str = ""
    """Why it was refused, in plain words."""
    refusal: Refusal | None = None
    """Refused, for there is no such thing of the user's, or for it has changed since it was read."""
    conversation_id: str | None = None
    feature_id: str | None = None
    version: int | None = None
    """Of the feature, after the command."""
    removed: dict[str, int] = {}
    """Of a forgetting: how many documents were removed, by collection."""
    time: Moment

    @property
    def event_id(self) -> str:
        """The same for every delivery of the same event."""
        return derived_id("CommandDone", self.user_id, self.command_id)
