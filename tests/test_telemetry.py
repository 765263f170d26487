"""Logs: what floods from a failing model is two lines, and every other dead letter has its own."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.domain.similarity import lexical
from pipeline.errors import BadEvent, ModelFailed
from pipeline.metrics import Metrics
from pipeline.processing import Failure, Processor, Record, Services
from pipeline.runner import Runner
from pipeline.telemetry import _FailingModel, _Faults, _JsonLines
from pipeline.tracing import NoSpans

QUESTION = b'{"conversationId": "c", "userId": "u", "text": "hello"}'


class Lines(logging.Handler):
    """What is logged, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.came = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self.came.set()


class Anywhere:
    """A store and a publisher that take every dead letter, and nothing is forgotten."""

    async def add_dead_letter(self, *_: Any) -> None: ...

    async def publish_dead_letter(self, *_: Any) -> None: ...

    async def covers(self, *_: Any) -> bool:
        return False


@pytest.fixture
def failing() -> _FailingModel:
    return _FailingModel(quiet=0.05)


@pytest.fixture
async def lines(failing: _FailingModel) -> AsyncIterator[Lines]:
    """A worker's log, where failing is over soon."""
    handler, logger = Lines(), logging.getLogger("pipeline")
    handler.addFilter(failing)
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


async def fail(*reasons: Exception) -> None:
    """Run records whose handler fails for these reasons, one each."""
    failures = iter(reasons)

    async def handle(*_: Any) -> list[Failure]:
        return [Failure(next(failures))]

    anywhere: Any = Anywhere()
    services = Services(anywhere, anywhere, lexical, lambda: datetime.now(UTC), anywhere, anywhere)
    runner = Runner(Processor("p", ("questions",), handle), services, anywhere, Metrics(), NoSpans())
    for offset in range(len(reasons)):
        await runner.run(Record("questions", 0, offset, b"c", QUESTION, datetime.now(UTC)))


async def test_a_failing_model_is_a_line_when_it_begins_and_one_when_it_is_over(lines: Lines) -> None:
    """A thousand turns that fail for one reason: the first is said, then how many more there were."""
    await fail(*[ModelFailed("cannot be reached")] * 1000)
    (first,) = lines.lines
    assert first.endswith("ModelFailed: cannot be reached")
    lines.came.clear()
    await asyncio.wait_for(lines.came.wait(), 10)
    assert lines.lines[1:] == ["999 more dead letters: cannot be reached"]

    await fail(ModelFailed("cannot be reached"))
    assert lines.lines[2].endswith("ModelFailed: cannot be reached")


async def test_failing_that_goes_on_is_not_over(lines: Lines, failing: _FailingModel) -> None:
    """Where more have come since it was last looked, it is looked again later, and nothing is said yet."""
    await fail(*[ModelFailed("slow")] * 3)
    failing._look("pipeline.runner", "slow", before=1)
    assert len(lines.lines) == 1
    failing._look("pipeline.runner", "slow", before=2)
    assert lines.lines[1:] == ["2 more dead letters: slow"]


async def test_each_reason_is_said(lines: Lines) -> None:
    """A second reason is not hidden behind the first."""
    await fail(ModelFailed("slow"), ModelFailed("no key"), ModelFailed("slow"))
    assert [line.rpartition(": ")[2] for line in lines.lines] == ["slow", "no key"]


async def test_reasons_that_differ_in_a_place_are_one(lines: Lines) -> None:
    """A model whose replies are damaged here and there is a line, and one for how many more there were."""
    said = "could not be read, twice: the reply is damaged JSON: a string"
    await fail(*(ModelFailed(f"{said} near character {number}") for number in range(100)))
    (first,) = lines.lines
    assert first.endswith("a string near character 0")
    lines.came.clear()
    await asyncio.wait_for(lines.came.wait(), 10)
    assert lines.lines[1:] == [f"99 more dead letters: {said}"]


@pytest.mark.parametrize("form", [_JsonLines(), logging.Formatter("%(message)s")])
@pytest.mark.parametrize(
    ("logger", "quoted"),
    [("pipeline.processors.p", False), ("pipeline.schedule", False), ("pipeline.bootstrap", True)],
)
def test_a_fault_where_conversations_are_read_is_not_quoted(logger: str, quoted: bool, form: logging.Formatter) -> None:
    """Its line names the exception and where it happened, and leaves out what it says, that of its cause included."""
    said = "I am a nurse".upper()
    try:
        try:
            int(said)
        except ValueError as exc:
            raise RuntimeError(said) from exc
    except RuntimeError:
        record = logging.getLogger(logger).makeRecord(logger, logging.ERROR, "", 0, "failed", (), sys.exc_info())
    assert _Faults().filter(record)
    line = form.format(record)
    assert "RuntimeError" in line
    assert "test_telemetry.py" in line
    assert ("I AM A NURSE" in line) is quoted


async def test_every_other_dead_letter_has_its_line(lines: Lines) -> None:
    """Poison is the record's own: a line each, also where they are alike."""
    await fail(BadEvent("no text"), BadEvent("no text"))
    assert len(lines.lines) == 2
