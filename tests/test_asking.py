"""What `ask` says while a question is on its way."""

from typing import Any

from pipeline.cli.asking import told
from schemas.events import Cost, RoleExtracted
from schemas.role import Extraction
from tests.processors.factories import guidance, turn


def extracted(**changes: Any) -> RoleExtracted:
    fields: dict[str, Any] = {"text": "hi", "mode": "answer", "extraction": Extraction()}
    return RoleExtracted(**turn().turn_fields(), **(fields | changes))


def test_each_stage_is_told_in_plain_words() -> None:
    """With the model that was asked, and the reason of the decision."""
    assert told(turn(3)) == "turn 3 logged, mode answer"
    assert told(extracted(cost=Cost(model="rules", calls=1))) == "extracted by rules"
    assert told(extracted(extraction=None, failure="the server is away")) == "not extracted: the server is away"
    assert told(guidance(3)) == f"{guidance(3).decision}: {guidance(3).reason}"


def test_a_question_that_no_model_was_asked_about_says_so() -> None:
    """Chit-chat costs no call."""
    assert told(extracted()) == "nothing to learn: no model was asked"
