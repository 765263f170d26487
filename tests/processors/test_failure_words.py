"""No failure of a processor says a word of the conversation: neither its reason nor what is logged of it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from pipeline.adapters.embedded import Services
from pipeline.errors import BadEvent
from pipeline.processing import Failure, Output
from pipeline.processors import conversation_logging, report_generation, role_extraction, update_arbitration
from pipeline.runner import decode
from pipeline.telemetry import _Faults
from schemas.events import AnswerReady, RoleExtracted
from schemas.role import Extraction, Quote
from schemas.topics import TopicName
from tests.conftest import Names
from tests.processors.factories import COST, Here, asked, database_of, guidance, record, turn

IDS = {"conversationId": "c", "questionId": "q1"}
SECRET = "I am a nurse with Ann's diagnosis"


class Faulty(dict[str, Any]):
    """A proposal at which the rules that read it stumble, with a quote of it."""

    def get(self, *_: object) -> Any:
        raise ValueError(SECRET)


def stumbles(*_: str) -> float:
    raise ValueError(SECRET)


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


def reasons(outputs: Sequence[Output]) -> str:
    """What the failures and the failed events among the outputs say."""
    said = [str(output.exception) for output in outputs if isinstance(output, Failure)]
    said += [str(getattr(output, name, None) or "") for output in outputs for name in ("reason", "failure")]
    assert any(said)
    return "\n".join(said)


async def test_questions_and_answers_that_cannot_be_logged(here: Here) -> None:
    """Another user's conversation, more than a broker takes, and an answer to another's question."""
    await conversation_logging.handle(asked(SECRET), record("questions"), here.worker())
    large = [{"id": str(number), "title": SECRET, "url": "护" * 2000, "snippet": "护" * 4000} for number in range(50)]
    for event, topic in (
        (asked(SECRET, userId="v"), "questions"),
        (asked(SECRET, userId="v", questionId="q2"), "questions"),
        (asked(SECRET, questionId="q3", sources=large), "questions"),
        (AnswerReady.model_validate({**IDS, "userId": "v", "text": SECRET}), "answers"),
    ):
        with pytest.raises(BadEvent) as failure:
            await conversation_logging.handle(event, record(cast(TopicName, topic)), here.worker())
        assert "Ann" not in str(failure.value)


@pytest.mark.parametrize(
    "text", ["null", "7", '"%s"', '{"%s": 1}', '{"text": ["%s"], "metadata": {"%s": NaN}}', "{%s}"]
)
def test_records_that_cannot_be_decoded(text: str) -> None:
    """The field and what is wrong with it, as the reader of dead letters needs it."""
    with pytest.raises(BadEvent) as failure:
        decode(replace(record("questions"), value=text.replace("%s", SECRET).encode()))
    assert "Ann" not in str(failure.value)


@pytest.mark.parametrize("said", [Faulty(), [SECRET], SECRET])
async def test_extractions_that_fail(here: Here, said: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the rules, and what is no object; the fault is logged by its kind alone."""
    caplog.handler.addFilter(_Faults())
    here.model.script = [said]
    outputs = await role_extraction.handle(turn(text=SECRET), record("turns"), here.worker())
    assert "Ann" not in reasons(outputs) + caplog.text


async def test_arbitration_that_fails(here: Here, caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the rules, and a track that holds another question's turn."""
    caplog.handler.addFilter(_Faults())
    for number in (1, 2):
        role = f"{SECRET} {number}"
        learnt = Extraction(identities=[role], evidence=[Quote(quote=role, supports=[role])], score=0.6)
        event = RoleExtracted(**turn(number).turn_fields(), text=role, mode="answer", extraction=learnt, cost=COST)
        outputs = await update_arbitration.handle(event, record("extractions"), here.worker(similarity=stumbles))
    assert "Ann" not in reasons(outputs) + caplog.text
    assert "ValueError" in caplog.text
    other = event.model_copy(update={"question_id": "q9"})
    with pytest.raises(BadEvent) as failure:
        await update_arbitration.handle(other, record("extractions"), here.worker())
    assert "Ann" not in str(failure.value)


@pytest.mark.parametrize(("mode", "said"), [("answer", " \x00"), ("report", {"title": SECRET}), ("report", SECRET)])
async def test_answers_and_reports_that_fail(here: Here, mode: str, said: Any) -> None:
    """An empty answer, and a report without a text."""
    here.model.script = [said]
    await here.logged(1, SECRET, mode=mode)
    outputs = await report_generation.handle(guidance(1, mode=mode), record("guidance"), here.worker())
    assert "Ann" not in reasons(outputs)


async def test_a_question_that_is_not_there(here: Here) -> None:
    """Guidance for a question that no log holds."""
    with pytest.raises(BadEvent) as failure:
        await report_generation.handle(guidance(1, SECRET), record("guidance"), here.worker())
    assert "Ann" not in str(failure.value)
