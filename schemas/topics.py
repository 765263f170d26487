"""The topic table: which event is on which topic, and the key that decides its order."""

from dataclasses import dataclass
from typing import Literal

from schemas.events import (
    AnswerReady,
    DeadLetter,
    GuidanceIssued,
    QuestionAsked,
    ReportReady,
    RoleExtracted,
    TurnLogged,
)
from schemas.memory_events import CommandDone, FeaturesObserved, MemoryCommand
from schemas.wire import Wire

TopicName = Literal[
    "questions",
    "turns",
    "extractions",
    "guidance",
    "answers",
    "reports",
    "features",
    "commands",
    "receipts",
    "dead-letters",
]


@dataclass(frozen=True)
class Topic:
    """A topic without its prefix; `key` is the field of the event that keys it."""

    name: TopicName
    event: type[Wire]
    key: str | None
    """None where a record keeps the key of its source."""


TOPICS = (
    Topic("questions", QuestionAsked, "conversation_id"),
    Topic("turns", TurnLogged, "conversation_id"),
    Topic("extractions", RoleExtracted, "conversation_id"),
    Topic("guidance", GuidanceIssued, "conversation_id"),
    Topic("answers", AnswerReady, "conversation_id"),
    Topic("reports", ReportReady, "conversation_id"),
    Topic("features", FeaturesObserved, "user_id"),
    Topic("commands", MemoryCommand, "user_id"),
    Topic("receipts", CommandDone, "user_id"),
    Topic("dead-letters", DeadLetter, None),
)

BY_NAME: dict[str, Topic] = {topic.name: topic for topic in TOPICS}
BY_EVENT: dict[type[Wire], Topic] = {topic.event: topic for topic in TOPICS}
