"""The topology: which processor reads which topics, and what it does now and then beside them."""

from datetime import timedelta
from typing import Literal

from pipeline.processing import Job, Processor
from pipeline.processors import (
    conversation_logging,
    feature_extraction,
    feature_memory,
    memory_commands,
    report_generation,
    role_extraction,
    summary,
    update_arbitration,
)
from schemas.topics import TopicName

NAMES = (
    "conversation-logging",
    "role-extraction",
    "update-arbitration",
    "report-generation",
    "feature-extraction",
    "feature-memory",
    "summary",
    "memory-commands",
)

_IDLE = Job("summarise-idle", timedelta(minutes=1), summary.summarise_idle)
#: A week's check is told by its week: that it is looked at every hour repeats nothing.
_WEEKLY = Job("check-stale", timedelta(hours=1), feature_memory.check_stale)


def topology(*, memory: bool, user_memory: bool, guidance: Literal["fresh", "latest"]) -> tuple[Processor, ...]:
    """The processors of a deployment; what each publishes is what its `handle` returns."""
    logging = Processor(
        "conversation-logging",
        ("questions", "answers"),
        conversation_logging.handle,
        concerns=conversation_logging.concerns,
    )
    extraction = Processor("role-extraction", ("turns",), role_extraction.handle)
    arbitration = Processor("update-arbitration", ("extractions",), update_arbitration.handle)
    # commands work whatever else is off
    commands = Processor("memory-commands", ("commands",), memory_commands.handle, sees_forgotten=True)
    jobs = (_WEEKLY,) if memory and user_memory else ()
    features = Processor("feature-memory", ("features",), feature_memory.handle, jobs=jobs)
    asked: TopicName = "turns" if not memory or guidance == "latest" else "guidance"
    answers = Processor("report-generation", (asked,), report_generation.handle, concerns=report_generation.concerns)
    if not memory:
        return (logging, commands, features, answers)
    if not user_memory:
        return (logging, extraction, arbitration, commands, features, answers)
    completed: tuple[TopicName, ...] = ("answers", "reports", "turns")
    return (
        logging,
        extraction,
        arbitration,
        commands,
        Processor("feature-extraction", completed, feature_extraction.handle, concerns=feature_extraction.concerns),
        features,
        Processor("summary", completed, summary.handle, concerns=summary.concerns, jobs=(_IDLE,)),
        answers,
    )
