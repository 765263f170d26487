"""Feature extraction: learns what lasts about a user from each completed turn, off the path of the answer."""

import logging
from collections.abc import Sequence

from pipeline.domain.gate import says_nothing_lasting
from pipeline.domain.ids import answer_id
from pipeline.domain.injected import without_injected
from pipeline.domain.observing import Observed, read_changes, with_plain_facts
from pipeline.domain.relevance import as_known, by_relevance
from pipeline.errors import BadEvent, ModelFailed
from pipeline.ports import Said
from pipeline.processing import Failure, Output, Record, Services
from schemas.documents import Message
from schemas.events import AnswerReady, Cost, TurnLogged
from schemas.features import KnownFeature
from schemas.memory_events import FeaturesObserved
from schemas.wire import QuestionId, UserId

log = logging.getLogger(__name__)

#: How many messages are looked at, both roles together, the turn's own among them.
LOOKED_AT = 6
#: How many features go into the call as known, so that it takes their slots again.
MOST_KNOWN = 30


async def handle(event: AnswerReady | TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Observe a turn once: when it is answered, or at once where it is only logged.

    What was observed is kept with the question, and a second delivery passes on the same. A turn whose model could
    not be used goes to the dead letters, and a replay of it tries anew.
    """
    question = await services.store.message(event.conversation_id, event.question_id)
    if question is None:
        raise BadEvent("questionId: no such question in this conversation")
    if question.observed is None:
        try:
            observed = await _observed(question, services)
        except ModelFailed as exc:
            return [Failure(exc)]
        await services.store.note_observed(question, observed.to_json().decode())
        question = await services.store.message(event.conversation_id, event.question_id) or question
    observed = FeaturesObserved.from_stored(question.observed or observed.to_json().decode())
    return [observed] if observed.changes else []


def concerns(event: AnswerReady | TurnLogged, record: Record) -> bool:
    """A turn is complete with its answer, or at once where it is only logged."""
    return not isinstance(event, TurnLogged) or event.mode == "log"


async def _observed(question: Message, services: Services) -> FeaturesObserved:
    """Without a call where the question can hold nothing that lasts."""
    text, cost = without_injected(question.text), Cost()
    changes = []
    if not says_nothing_lasting(text):
        known = await _known(question, services)
        messages = await _messages(question, services)
        proposal = await services.model.extract_features(messages, known)
        cost = proposal.cost
        read = read_changes(proposal.content, text, known)
        if read is None:
            raise ModelFailed("the model's reply holds no object that could be read", cost.model_dump())
        _tell(read)
        changes = with_plain_facts(read.changes, text, _before(messages, text), known)
    return FeaturesObserved(
        user_id=UserId(question.user_id),
        observed_by="feature-extraction",
        source="CHAT_EXTRACT",
        record_time=question.record_time or question.create_time,
        said_at=TurnLogged.from_stored(question.event).said_at if question.event else None,
        conversation_id=question.conversation_id,
        question_id=QuestionId(question.question_id),
        turn=question.turn,
        changes=changes,
        cost=cost,
    )


async def _messages(question: Message, services: Services) -> list[Said]:
    """The last messages up to the question, oldest first, and its answer where there is one."""
    recent = await services.store.messages(question.conversation_id, question.turn, LOOKED_AT)
    if not any(message.message_id == question.message_id for message in recent):
        recent = [*recent, question]
    own = answer_id(question.question_id)
    said = [message for message in recent if message.status == "ok" or message.message_id == own]
    return [
        Said("user" if message.role == "USER" else "assistant", text)
        for message in said
        if (text := without_injected(message.text).strip())
    ]


def _before(messages: Sequence[Said], text: str) -> list[str]:
    """What was said before the question, by which its "it" is understood."""
    said = [message.text for message in messages]
    return said[: said.index(text.strip())] if text.strip() in said else []


async def _known(question: Message, services: Services) -> list[KnownFeature]:
    """The features of the user that hold and have most to do with the question."""
    stored = await services.features.features(UserId(question.user_id))
    holding = [feature for feature in stored if feature.status == "ACTIVE"]
    return [as_known(feature) for feature in by_relevance(holding, question.text)[:MOST_KNOWN]]


def _tell(read: Observed) -> None:
    if read.dropped:
        told = {"action": "changes_dropped", "count": read.dropped}
        log.info("%s proposed changes of features are not borne out by the message", read.dropped, extra=told)
