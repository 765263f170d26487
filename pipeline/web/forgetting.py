"""The routes that correct what is believed and erase what is kept; each answers with the command's receipt."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from pipeline.web.access import Writer
from pipeline.web.commands import SENT, command_of, receipt
from pipeline.web.envelope import ApiError, Envelope
from pipeline.web.parts import PartsOf
from pipeline.web.sessions import conversation_of
from pipeline.web.shapes import DEFAULT_CONVERSATION, Correction, ForUser, SessionId
from schemas.memory_events import CommandDone
from schemas.wire import ConversationId, Identifier

router = APIRouter(prefix="/api/user/memory", tags=["memory"], generate_unique_id_function=lambda route: route.name)


@router.post(
    "/correct", summary="Say who the user is, and is not", responses=SENT, response_model=Envelope[CommandDone]
)
async def correct_role(
    caller: Writer,
    parts: PartsOf,
    body: Correction,
    session_id: SessionId = DEFAULT_CONVERSATION,
    user_id: ForUser = None,
) -> Envelope[CommandDone] | JSONResponse:
    conversation = await conversation_of(caller, session_id, parts, user_id)
    command = command_of(
        "CORRECT_ROLE",
        user_id=conversation.user_id,
        conversation_id=conversation.conversation_id,
        version=body.turn,
        corrections=body.corrections,
        identities=body.identities,
        denies=body.denies,
    )
    return await receipt(command, caller, parts)


@router.post("/delete", summary="Erase the role and its track", responses=SENT, response_model=Envelope[CommandDone])
async def forget_role(
    caller: Writer, parts: PartsOf, session_id: SessionId = DEFAULT_CONVERSATION, user_id: ForUser = None
) -> Envelope[CommandDone] | JSONResponse:
    """The talk stays, and is no evidence any more."""
    conversation = await conversation_of(caller, session_id, parts, user_id)
    whose = {"user_id": conversation.user_id, "conversation_id": conversation.conversation_id}
    return await receipt(command_of("FORGET_ROLE", **whose), caller, parts)


@router.post(
    "/forget", summary="Forget a conversation, or all of a user", responses=SENT, response_model=Envelope[CommandDone]
)
async def forget(
    caller: Writer,
    parts: PartsOf,
    user_id: ForUser = None,
    session_id: Annotated[
        ConversationId | None, Identifier, Query(description="The conversation; all of the user without one.")
    ] = None,
) -> Envelope[CommandDone] | JSONResponse:
    """All of a user takes the scope admin."""
    if session_id is None and "admin" not in caller.scopes:
        raise ApiError(403, "this key has no scope admin: name a session_id, or use another key")
    if session_id is None:
        return await receipt(command_of("FORGET_USER", user_id=caller.user(user_id)), caller, parts)
    conversation = await conversation_of(caller, session_id, parts, user_id)
    wish = {"user_id": conversation.user_id, "conversation_id": conversation.conversation_id}
    return await receipt(command_of("FORGET_CONVERSATION", **wish), caller, parts)
