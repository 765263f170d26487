"""The events on the topics; `topics.py` says which event is on which."""

import json
from typing import Annotated, Any, Literal, Self
from uuid import UUID, uuid5

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from schemas.features import Content, FeatureChange, KnownFeature, Summary
from schemas.role import (
    CommunicationPreferences,
    ConfidenceLevel,
    Decision,
    Extraction,
    GuideScope,
    Name,
    Overview,
    PreferenceField,
    Score,
)
from schemas.wire import MAX_TEXT, ConversationId, Identifier, Moment, QuestionId, UserId, Wire

_EVENT_NAMESPACE = UUID("a51f4ad6-4a0c-4a58-9a55-5b6c7f3a6a10")

#: The largest metadata, in bytes of JSON.
MAX_METADATA = 65_536
#: Dead letters add headers with this prefix, named as in KIP-1034.
ERROR_PREFIX = "__rolestream.errors."

Mode = Literal["answer", "report", "auto", "log"]
#: A mode after `auto` was decided.
DecidedMode = Literal["answer", "report", "log"]


def derived_id(*parts: str) -> str:
    """The same id for the same parts, whatever they contain."""
    return str(uuid5(_EVENT_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts)))


def _said_something(text: str) -> str:
    if not any(letter.isprintable() and not letter.isspace() for letter in text):
        raise ValueError("text is empty: send what the user asked")
    if "\x00" in text:
        raise ValueError("text holds a NUL character: remove it")
    return text


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_said_something)]


def _is_small(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError as exc:
        raise ValueError("metadata holds half a character (a surrogate without its other half): remove it") from exc
    if size > MAX_METADATA:
        raise ValueError(f"metadata is larger than {MAX_METADATA} bytes of JSON: keep it where you can look it up")
    return metadata


#: What a client wants back with its answer.
Metadata = Annotated[dict[str, Any], AfterValidator(_is_small)]


class Source(Wire):
    """Material a report may cite."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Identifier]
    title: Annotated[str, StringConstraints(max_length=500)] = ""
    url: Annotated[str, StringConstraints(max_length=2000)] = ""
    snippet: Annotated[str, StringConstraints(max_length=4000)] = ""


def _each_once(sources: list[Source]) -> list[Source]:
    if len({source.id for source in sources}) < len(sources):
        raise ValueError("two sources have the same id: a citation could mean either")
    return sources


class QuestionAsked(Wire):
    """What the user said; published by clients."""

    model_config = ConfigDict(extra="ignore")

    conversation_id: Annotated[ConversationId, Identifier]
    user_id: Annotated[UserId, Identifier]
    text: Text
    question_id: Annotated[QuestionId, Identifier] | None = None
    """Derived from conversation, text and time where it is missing."""
    asked_at: Moment | None = None
    mode: Mode = "auto"
    """`auto` decides between answer and report; `log` is learnt from and never answered."""
    sources: Annotated[list[Source], AfterValidator(_each_once)] = Field(default=[], max_length=50)
    metadata: Metadata = {}
    """Handed through to the answer or report as it is; at most 64 kB of JSON."""


class Cost(Wire):
    """What a model call cost; zeros where none was made."""

    model: str = "none"
    calls: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    milliseconds: int = Field(default=0, ge=0)


class TurnEvent(Wire):
    """What every event of a logged turn carries."""

    schema_version: Literal[1] = 1
    conversation_id: Annotated[ConversationId, Identifier]
    user_id: Annotated[UserId, Identifier]
    question_id: Annotated[QuestionId, Identifier]
    turn: int = Field(ge=1)
    record_time: Moment
    """The timestamp of the question's record; replays keep it."""
    logged_at: Moment
    """When the question was logged."""

    @property
    def event_id(self) -> str:
        """The same for every delivery of the same event."""
        return derived_id(type(self).__name__, self.conversation_id, self.question_id)

    def turn_fields(self) -> dict[str, Any]:
        """What the next event of the same turn takes over, by Python name."""
        return {name: getattr(self, name) for name in TurnEvent.model_fields if name != "schema_version"}


class TurnLogged(TurnEvent):
    """A question with its number in the conversation."""

    text: Text
    mode: DecidedMode
    asked_at: Moment | None = None
    epoch: int = Field(default=0, ge=0)
    """The last turn whose questions are no evidence any more, for the role memory was erased after it."""
    sources: list[Source] = []
    metadata: dict[str, Any] = {}

    @property
    def said_at(self) -> Moment | None:
        """When an old question that is only logged was asked; None where it is asked now."""
        return self.asked_at if self.mode == "log" else None


class RoleExtracted(TurnEvent):
    """What one question suggests about the user, or why nothing could be read from it."""

    text: Text
    mode: DecidedMode
    extraction: Extraction | None
    """None when the model could not be used."""
    failure: str | None = None
    """Why there is no extraction, in plain words."""
    wishes: list[FeatureChange] = []
    """What the question asks outright to remember or to forget."""
    said_at: Moment | None = None
    """When an old question that was only logged was asked; None where it is asked now."""
    planted: bool = False
    """Whether it holds an instruction planted for the memory, which is not followed."""
    cost: Cost = Cost()

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.extraction is None) == (self.failure is None):
            raise ValueError("an extraction or a failure, exactly one of them")
        return self


class GuidanceIssued(TurnEvent):
    """What the answering model is told about the user for this turn."""

    mode: DecidedMode
    decision: Decision
    reason: str
    similarity: Score | None = None
    identities: list[Name] = []
    characteristics: list[Name] = []
    confidence_score: Score = 0.0
    confidence_level: ConfidenceLevel = "LOW"
    user_overview: Overview = ""
    preferences: CommunicationPreferences = CommunicationPreferences()
    """In force for this turn: the stored ones, under those asked for this turn alone."""
    turn_preferences: list[PreferenceField] = []
    """The fields of `preferences` that hold for this turn alone."""
    rules: list[str] = []
    """The preferences as plain rules."""
    features: list[KnownFeature] = []
    """The stable facts about the user that matter for this question, the most relevant first."""
    summary: Summary | None = None
    """Where the conversation stands."""
    skill: Content = ""
    """How far the user is, from the profile."""
    text: str = ""
    """The whole guidance as one instruction, in the tags of what memory injects; empty while nothing is known."""
    guide_scope: GuideScope = "EVERY"
    cost: Cost = Cost()
    """What learning from this turn cost."""


class AnswerReady(Wire):
    """An answer; published by report generation, or by a client whose own model answers.

    A client's needs the ids and the text alone.
    """

    schema_version: Literal[1] = 1
    conversation_id: Annotated[ConversationId, Identifier]
    user_id: Annotated[UserId, Identifier]
    question_id: Annotated[QuestionId, Identifier]
    text: Annotated[str, StringConstraints(max_length=200_000)]
    """Empty when `status` is `failed`."""
    status: Literal["ok", "failed"] = "ok"
    reason: str | None = None
    """Why there is no answer, in plain words."""
    turn: int | None = Field(default=None, ge=1)
    guidance_turn: int | None = Field(default=None, ge=1)
    """The turn whose guidance the answer used; None when it used none."""
    record_time: Moment | None = None
    logged_at: Moment | None = None
    metadata: dict[str, Any] = {}
    cost: Cost = Cost()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if "\x00" in self.text:
            raise ValueError("text holds a NUL character: remove it")
        if self.status == "ok" and not self.text.strip():
            raise ValueError("text is empty: an answer with status ok says something")
        return self

    @property
    def event_id(self) -> str:
        """The same for every delivery of the same event."""
        return derived_id(type(self).__name__, self.conversation_id, self.question_id)


class ReportSection(Wire):
    """One part of a report's detailed analysis."""

    heading: str
    text: str


class Citation(Wire):
    """A source of the question that the report relies on."""

    source_id: str
    title: str = ""
    url: str = ""


class ReportReady(AnswerReady):
    """A report; `text` is the whole of it as Markdown."""

    title: str = ""
    key_points: list[str] = []
    overview: str = ""
    sections: list[ReportSection] = []
    survey_note: str = ""
    citations: list[Citation] = []


def stored_answer(event: str) -> AnswerReady | ReportReady:
    """Read an answer or a report back, as `from_stored` does."""
    kind = ReportReady if "title" in json.loads(event) else AnswerReady
    return kind.from_stored(event)


class QuestionRefused(Wire):
    """What a client hears of its question on the dead-letter topic; on no topic as such."""

    processor: str
    conversation_id: str
    user_id: str = ""
    """As the question says; empty where it does not."""
    question_id: str
    reason: str


class DeadLetter(Wire):
    """A record that could not be processed, with why; its own key and value stay as they were."""

    schema_version: Literal[1] = 1
    processor: str
    source_topic: str
    source_partition: int = Field(ge=0)
    source_offset: int = Field(ge=0)
    exception: str
    """The error's class."""
    message: str
    """What is wrong, in one line."""
    stack_trace: str = ""
    attempts: int = Field(default=1, ge=1)
    trace_id: str = ""
    record_time: Moment
    create_time: Moment
    conversation_id: str | None = None
    """Whose it is, as far as the record could be read: what forgetting goes by."""
    user_id: str | None = None
    question_time: Moment | None = None
    """The timestamp of the question's record, where it is known: what forgetting goes by."""
    key: bytes | None = None
    value: bytes | None = None
    headers: list[tuple[str, bytes]] = []
    """The source record's headers, without those that dead-lettering adds."""

    @property
    def letter_id(self) -> str:
        """The same for every attempt at the same record by the same processor."""
        return f"{self.processor}:{self.source_topic}:{self.source_partition}:{self.source_offset}"

    def error_headers(self) -> list[tuple[str, bytes]]:
        """The headers that the record carries beside its source's own."""
        added = {
            "processor": self.processor,
            "exception": self.exception,
            "message": self.message,
            "stacktrace": self.stack_trace,
            "topic": self.source_topic,
            "partition": str(self.source_partition),
            "offset": str(self.source_offset),
            "attempts": str(self.attempts),
            "traceid": self.trace_id,
        }
        return [(ERROR_PREFIX + name, value.encode()) for name, value in added.items()]
