"""Ids that derive from the input, so that a replay finds what the first delivery stored."""

from datetime import datetime

from schemas.events import QuestionAsked, derived_id
from schemas.wire import QuestionId


def question_id_of(event: QuestionAsked, record_time: datetime) -> QuestionId:
    """The client's id, or one derived so that a second "ok" is a second turn and a redelivery is not."""
    if event.question_id is not None:
        return event.question_id
    asked = event.asked_at or record_time
    return QuestionId(derived_id("question", event.conversation_id, event.text, asked.isoformat()))


def answer_id(question_id: str) -> str:
    """The message id of the answer to a question."""
    return derived_id("answer", question_id)
