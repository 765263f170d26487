"""The topology: which processor reads which topics."""

from typing import Literal

from pipeline.ports import Processor
from pipeline.processors import conversation_logging, report_generation, role_extraction, update_arbitration

NAMES = ("conversation-logging", "role-extraction", "update-arbitration", "report-generation")


def topology(*, memory: bool, guidance: Literal["fresh", "latest"]) -> tuple[Processor, ...]:
    """The processors of a deployment; what each publishes is what its `handle` returns."""
    logging = Processor("conversation-logging", ("questions", "answers"), conversation_logging.handle)
    extraction = Processor("role-extraction", ("turns",), role_extraction.handle)
    arbitration = Processor("update-arbitration", ("extractions",), update_arbitration.handle)
    if not memory:
        return (logging, Processor("report-generation", ("turns",), report_generation.handle))
    if guidance == "latest":
        return (logging, extraction, arbitration, Processor("report-generation", ("turns",), report_generation.handle))
    return (logging, extraction, arbitration, Processor("report-generation", ("guidance",), report_generation.handle))
