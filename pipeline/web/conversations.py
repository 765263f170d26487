"""The routes that show conversations: the list, the talk, and what is believed in each."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from pipeline.domain.track import standing
from pipeline.web.access import Reader
from pipeline.web.envelope import Envelope, ok
from pipeline.web.items import conversation_item, message_item, track_item
from pipeline.web.paging import LINK, next_page
from pipeline.web.parts import PartsOf
from pipeline.web.sessions import conversation_of, found_conversation, shown
from pipeline.web.shapes import (
    DEFAULT_CONVERSATION,
    LAST_TURN,
    AssistantMessage,
    ConversationItem,
    ForUser,
    Limit,
    Named,
    SessionId,
    Time,
    TrackItem,
    UserMessage,
)
from schemas.documents import Conversation
from schemas.events import GuidanceIssued
from schemas.features import Summary
from schemas.role import TrackEntry
from schemas.wire import ConversationId, Identifier, UserId

router = APIRouter(tags=["conversations"], generate_unique_id_function=lambda route: route.name)

_LIST: dict[int | str, dict[str, Any]] = {200: {"headers": LINK}}


@router.get("/api/conversations", summary="List the conversations, the last active first", responses=_LIST)
async def list_conversations(
    caller: Reader,
    parts: PartsOf,
    *,
    request: Request,
    response: Response,
    user_id: ForUser = None,
    limit: Limit = 100,
    before: Annotated[Time | None, Query(description="Only those last active before, or then.")] = None,
    before_id: Annotated[
        ConversationId | None, Identifier, Query(description="Of those last active then: only those after it.")
    ] = None,
    before_user: Annotated[Named | None, Query(description="Whose that one is.")] = None,
) -> Envelope[list[ConversationItem]]:
    users = caller.users if user_id is None else {caller.user(user_id)}
    wanted = None if users is None else [UserId(user) for user in sorted(users)]
    if before_id is not None:
        last = await found_conversation(caller, before_id, parts, before_user or user_id)
        before_id = last.conversation_id if last else before_id
    found = await parts.store.conversations_of(wanted, before, limit + 1, before_id=before_id)
    page = found[:limit]
    firsts = await parts.store.first_questions([one.conversation_id for one in page])
    items = [shown(conversation_item(one, firsts.get(one.conversation_id, "")), caller) for one in page]
    if len(found) > limit:
        end, name, user = page[-1].last_active_time.isoformat(), items[-1].conversation_id, page[-1].user_id
        next_page(request, response, before=end, before_id=name, before_user=user)
    return ok(items)


@router.get("/api/user/memory/conversation", summary="Read what was said, oldest first", responses=_LIST)
async def read_conversation(
    caller: Reader,
    parts: PartsOf,
    *,
    request: Request,
    response: Response,
    session_id: SessionId = DEFAULT_CONVERSATION,
    user_id: ForUser = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="The most turns of a page.")] = 100,
    before: Annotated[int | None, Query(ge=1, le=LAST_TURN, description="Only turns before this one.")] = None,
) -> Envelope[list[UserMessage | AssistantMessage]]:
    """The last turns, or those before the one named; each with its question, then its answer."""
    conversation = await conversation_of(caller, session_id, parts, user_id)
    end = min(before or LAST_TURN, conversation.turn_count + 1)
    found = await parts.store.log(conversation.conversation_id, end, limit)
    if end - limit > 1:
        next_page(request, response, before=end - limit)
    return ok([message_item(message) for message in found])


@router.get("/api/user/memory/track", summary="Read how the role evolved, oldest first", responses=_LIST)
async def read_track(
    caller: Reader,
    parts: PartsOf,
    *,
    request: Request,
    response: Response,
    session_id: SessionId = DEFAULT_CONVERSATION,
    user_id: ForUser = None,
    limit: Limit = 100,
    after: Annotated[int, Query(ge=0, le=LAST_TURN, description="Only turns after this one.")] = 0,
) -> Envelope[list[TrackItem]]:
    conversation = await conversation_of(caller, session_id, parts, user_id)
    found = await parts.store.track_after(conversation.conversation_id, after, limit + 1)
    if len(found) > limit:
        next_page(request, response, after=found[limit - 1].turn)
    return ok([track_item(shown(entry, caller)) for entry in found[:limit] if entry.since > conversation.epoch])


async def _believed(conversation: Conversation, parts: PartsOf) -> TrackEntry | None:
    """The newest entry, unless what it builds on was erased."""
    newest = await parts.store.track(conversation.conversation_id, None, 1)
    return standing(newest, conversation.epoch)


@router.get("/api/user/memory/latest", summary="Read what is believed now; null before anything is")
async def read_latest(
    caller: Reader, parts: PartsOf, session_id: SessionId = DEFAULT_CONVERSATION, user_id: ForUser = None
) -> Envelope[TrackItem | None]:
    entry = await _believed(await conversation_of(caller, session_id, parts, user_id), parts)
    return ok(track_item(shown(entry, caller)) if entry else None)


@router.get("/api/user/memory/guidance", summary="Read what an answer was last told of the user; null before it was")
async def read_guidance(
    caller: Reader, parts: PartsOf, session_id: SessionId = DEFAULT_CONVERSATION, user_id: ForUser = None
) -> Envelope[GuidanceIssued | None]:
    entry = await _believed(await conversation_of(caller, session_id, parts, user_id), parts)
    return ok(shown(GuidanceIssued.from_stored(entry.event), caller) if entry and entry.event else None)


@router.get("/api/user/memory/summary", summary="Read where the conversation stands; null before it is summarised")
async def read_summary(
    caller: Reader, parts: PartsOf, session_id: SessionId = DEFAULT_CONVERSATION, user_id: ForUser = None
) -> Envelope[Summary | None]:
    return ok((await conversation_of(caller, session_id, parts, user_id)).summary)
