"""Conversations by the names that callers use.

A key that is bound to users shares names with nobody: where a conversation of that name is another user's, theirs is
stored as `NAME~TAG` and shown as NAME, so that nobody can tell whether a name is taken.
"""

import re
from hashlib import sha256
from typing import TypeVar, cast

from pipeline.web.access import Caller
from pipeline.web.envelope import FieldError, no_conversation, wrong_fields
from pipeline.web.parts import WebParts
from schemas.documents import Conversation
from schemas.wire import MAX_IDENTIFIER, ConversationId, UserId, Wire

W = TypeVar("W", bound=Wire)
_TAG = re.compile(r"~[0-9a-f]{24}$")
_TAG_LENGTH = 25
_NAMES = ("conversation_id", "source_conversation_id")


def _tag(user_id: str) -> str:
    return "~" + sha256(user_id.encode()).hexdigest()[: _TAG_LENGTH - 1]


def _tagged(session_id: str, user_id: str) -> ConversationId:
    return ConversationId(session_id + _tag(user_id))


def stored_names(caller: Caller, session_id: ConversationId, user_id: str | None = None) -> list[ConversationId]:
    """What the conversation may be stored as, of that user where one is named; raises ApiError."""
    if user_id is not None:
        caller.user(user_id)
    if caller.users is None:
        return [session_id]
    plain = [] if any(session_id.endswith(_tag(user)) for user in caller.users) else [session_id]
    return [*plain, *(_tagged(session_id, user) for user in sorted(caller.users) if user_id in (None, user))]


async def found_conversation(
    caller: Caller, session_id: ConversationId, parts: WebParts, user_id: str | None = None
) -> Conversation | None:
    names = stored_names(caller, session_id, user_id)
    found = {one.conversation_id: one for one in await parts.store.conversations(names)}
    theirs = (found[name] for name in names if name in found)
    return next((one for one in theirs if caller.may_see(one.user_id, user_id)), None)


async def conversation_of(
    caller: Caller, session_id: ConversationId, parts: WebParts, user_id: str | None = None
) -> Conversation:
    """The conversation, of that user where one is named; raises ApiError."""
    found = await found_conversation(caller, session_id, parts, user_id)
    if found is None:
        raise no_conversation()
    return found


async def name_for_asking(
    caller: Caller, user_id: UserId, session_id: ConversationId, parts: WebParts
) -> ConversationId:
    """What a question of the user is published under; raises ApiError where there is no room for a tag."""
    if caller.users is None:
        return session_id
    if (known := await found_conversation(caller, session_id, parts, user_id)) is not None:
        return known.conversation_id
    tagged = _tagged(session_id, user_id)
    if len(tagged) > MAX_IDENTIFIER:
        most = MAX_IDENTIFIER - _TAG_LENGTH
        raise wrong_fields(FieldError(field="body.conversationId", message=f"take at most {most} characters"))
    is_free = not _TAG.search(session_id) and not await parts.store.conversations([session_id])
    return session_id if is_free else tagged


def shown(value: W, caller: Caller) -> W:
    """The same, with conversations by the names that the caller knows."""
    return value if caller.users is None else cast(W, _without_tag(value, _tag(getattr(value, "user_id", ""))))


def _without_tag(value: object, tag: str) -> object:
    if isinstance(value, list):
        return [_without_tag(item, tag) for item in value]
    if not isinstance(value, Wire):
        return value
    changes = {name: _without_tag(part, tag) for name, part in value if isinstance(part, list | Wire)}
    names = {name: part.removesuffix(tag) for name, part in value if name in _NAMES and isinstance(part, str)}
    return value.model_copy(update=changes | names)
