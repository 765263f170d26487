"""The routes that ask: a question, what became of it, and the events of its conversation as they happen."""

from functools import partial
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, StreamingResponse

from pipeline.domain.ids import answer_id
from pipeline.errors import Outage
from pipeline.web.access import Caller, Reader, Writer
from pipeline.web.envelope import ApiError, Envelope, FieldError, no_question, ok, wrong_fields
from pipeline.web.items import answer_event
from pipeline.web.parts import PartsOf, WebParts
from pipeline.web.sessions import found_conversation, heard_names, name_for_asking, shown, stored_names
from pipeline.web.shapes import DEFAULT_CONVERSATION, Asked, ForUser, Named, Question, SessionId
from pipeline.web.streaming import EventStream
from schemas.documents import Conversation, Message
from schemas.events import AnswerReady, QuestionAsked, ReportReady, TurnLogged
from schemas.wire import UserId

router = APIRouter(prefix="/api", tags=["questions"], generate_unique_id_function=lambda route: route.name)


@router.post("/questions", summary="Ask a question", status_code=202)
async def ask(caller: Writer, parts: PartsOf, body: Question) -> Envelope[Asked]:
    """Published, and no more: what becomes of it is told by its events and its answer."""
    user_id = _asker(caller, body.user_id)
    question = QuestionAsked(
        **dict(body)
        | {
            "user_id": user_id,
            "conversation_id": await name_for_asking(caller, user_id, body.conversation_id, parts),
            "question_id": body.question_id or str(uuid4()),
            "asked_at": body.asked_at or parts.clock(),
        }
    )
    _check_metadata(question)
    asked = Asked.model_validate(question, from_attributes=True)
    parts.hub.note_asked(asked.question_id, asked.conversation_id, user_id)
    try:
        await parts.publisher.publish(question, {})
    except Outage as exc:
        message = f"Kafka is away; the question may still be taken: ask again with questionId {asked.question_id}"
        raise ApiError(503, message, headers={"Retry-After": "5"}) from exc
    return ok(shown(asked, caller), 202)


def _asker(caller: Caller, user_id: UserId | None) -> UserId:
    try:
        return caller.user(user_id)
    except ApiError as exc:
        if exc.code != 422:
            raise
        raise wrong_fields(FieldError(field="body.userId", message="say whose: the key is not one user's")) from exc


def _check_metadata(question: QuestionAsked) -> None:
    """Metadata is whatever JSON; some of what Python reads as such cannot be written: half a character, too deep."""
    try:
        question.to_json()
    except (ValueError, RecursionError) as exc:
        raise wrong_fields(FieldError(field="body.metadata", message="it cannot be written as JSON")) from exc


@router.get(
    "/answers/{question_id:path}",
    summary="Read the answer to a question",
    response_model=Envelope[ReportReady | AnswerReady | None],
    responses={202: {"model": Envelope[None], "description": "The question is known, and not answered yet."}},
)
async def read_answer(
    caller: Reader,
    parts: PartsOf,
    question_id: Annotated[Named, Path(description="The question.")],
    session_id: SessionId = DEFAULT_CONVERSATION,
    user_id: ForUser = None,
) -> Envelope[ReportReady | AnswerReady | None] | JSONResponse:
    """A failed answer is one, too: its status and reason say so. Null where the question was only learnt from."""
    conversation = await found_conversation(caller, session_id, parts, user_id)
    answer = await _said(conversation, answer_id(question_id), parts)
    if answer is not None:
        return ok(shown(answer_event(answer), caller))
    question = await _said(conversation, question_id, parts)
    if question is None:
        names = [conversation.conversation_id] if conversation else stored_names(caller, session_id, user_id)
        note = parts.hub.asked(question_id, names, partial(caller.may_see, wanted=user_id))
        if note is None:
            raise no_question()
        if note.refused is not None:
            raise ApiError(409, f"the question was refused: {note.refused}")
    elif question.event and TurnLogged.from_stored(question.event).mode == "log":
        return ok(None, message="it was only learnt from: no answer is written")
    pending = ok(None, 202, "not answered yet")
    return JSONResponse(pending.model_dump(mode="json"), 202)


async def _said(conversation: Conversation | None, message_id: str, parts: WebParts) -> Message | None:
    if conversation is None:
        return None
    return await parts.store.message(conversation.conversation_id, message_id)


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Server-sent events."}
}


@router.get(
    "/events", summary="Hear a conversation's events from now on", response_class=StreamingResponse, responses=_STREAM
)
async def hear_events(
    caller: Reader,
    parts: PartsOf,
    session_id: SessionId = DEFAULT_CONVERSATION,
    user_id: ForUser = None,
    within: Annotated[int, Query(ge=1, le=3600, description="Seconds until the stream ends.")] = 300,
) -> EventStream:
    """turn, extraction, guidance, answer, report, refused, each with its event as JSON; ended where hearing failed."""
    names = await heard_names(caller, session_id, parts, user_id)
    return EventStream(parts.hub, names, caller, within, user_id=user_id)
