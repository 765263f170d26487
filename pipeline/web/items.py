"""What is stored, as the API shows it."""

from pipeline.web.shapes import (
    AssistantMessage,
    ConversationItem,
    Feature,
    MessageMetadata,
    TrackItem,
    TrackMetadata,
    UserMessage,
)
from schemas.documents import Conversation, Message
from schemas.events import AnswerReady, Cost, GuidanceIssued, ReportReady, stored_answer
from schemas.features import UserFeature
from schemas.role import TrackEntry
from schemas.wire import QuestionId, UserId

#: How much of the first question is a conversation's title, in characters.
MAX_TITLE = 80


def message_item(message: Message) -> UserMessage | AssistantMessage:
    is_answer = message.role == "ASSISTANT"
    metadata = MessageMetadata(
        message_id=message.message_id,
        question_id=message.question_id,
        turn=message.turn,
        create_time=message.create_time,
        status=message.status,
        cost=AnswerReady.from_stored(message.event).cost if is_answer and message.event else None,
    )
    kind = AssistantMessage if is_answer else UserMessage
    return kind(metadata=metadata, text=message.text)


def answer_event(message: Message) -> AnswerReady | ReportReady:
    """What was published; of a client's own answer what it says."""
    if message.event is None:
        return AnswerReady(
            conversation_id=message.conversation_id,
            user_id=UserId(message.user_id),
            question_id=QuestionId(message.question_id),
            text=message.text,
            status=message.status,
            turn=message.turn,
        )
    return stored_answer(message.event)


def track_item(entry: TrackEntry) -> TrackItem:
    metadata = TrackMetadata(
        turn=entry.turn,
        question_id=entry.question_id,
        decision=entry.decision,
        create_time=entry.create_time,
        update_time=entry.update_time,
        cost=GuidanceIssued.from_stored(entry.event).cost if entry.event else Cost(),
    )
    return TrackItem(metadata=metadata, text=entry.model_dump_json(by_alias=True, exclude={"event", "observed"}))


def feature_item(feature: UserFeature) -> Feature:
    return Feature.model_validate({name: getattr(feature, name) for name in Feature.model_fields})


def conversation_item(conversation: Conversation, first_question: str) -> ConversationItem:
    return ConversationItem(
        conversation_id=conversation.conversation_id,
        user_id=conversation.user_id,
        turn_count=conversation.turn_count,
        last_active_time=conversation.last_active_time,
        title=" ".join(first_question[: 4 * MAX_TITLE].split())[:MAX_TITLE],
    )
