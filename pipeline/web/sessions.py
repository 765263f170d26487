"""Conversations by the names that callers use.

A key that is bound to users shares names with nobody: what it begins under a name is stored as `NAME~TAG`, the tag its
user's, and shown as NAME, so that nobody can tell which names others have. What a user began elsewhere, as over Kafka,
has no tag.
"""

from hashlib import sha256
from typing import TypeVar, cast

from pipeline.web.access import Caller
from pipeline.web.envelope import FieldError, no_conversation, wrong_fields
from pipeline.web.parts import WebParts
from schemas.documents import Conversation
from schemas.wire import MAX_IDENTIFIER, ConversationId, UserId, Wire

W = TypeVar("W", bound=Wire)
_TAG_LENGTH = 25
#: How many conversations of a name a key of all users looks through for that of one user alone.
_MOST = 100
_NAMES = ("conversation_id", "source_conversation_id")


def _tag(user_id: str) -> str:
    return "~" + sha256(user_id.encode()).hexdigest()[: _TAG_LENGTH - 1]


def _tagged(session_id: str, user_id: str) -> ConversationId:
    return ConversationId(session_id + _tag(user_id))


def stored_names(caller: Caller, session_id: ConversationId, user_id: str | None = None) -> list[ConversationId]:
    """What the conversation may be stored as, of that user where one is named; raises ApiError."""
    users = sorted(caller.users or ()) if user_id is None else [caller.user(user_id)]
    return [*(_tagged(session_id, user) for user in users), session_id]


async def found_conversation(
    caller: Caller, session_id: ConversationId, parts: WebParts, user_id: str | None = None
) -> Conversation | None:
    """The conversation, of that user where one is named; raises ApiError where it could be of several."""
    names = stored_names(caller, session_id, user_id)
    users = caller.users if user_id is None else [user_id]
    found = await parts.store.conversations(names, users)
    if not found and users is None:
        alike = await parts.store.conversations_like(f"{session_id}~", "[0-9a-f]{24}", _MOST)
        found = [one for one in alike if one.conversation_id == _tagged(session_id, one.user_id)]
    if len({one.user_id for one in found}) > 1:
        several = "several users have a conversation of this name: say whose"
        raise wrong_fields(FieldError(field="query.user_id", message=several))
    return max(found, key=lambda one: len(one.conversation_id), default=None)  # with a tag, where one has both


async def heard_names(
    caller: Caller, session_id: ConversationId, parts: WebParts, user_id: str | None = None
) -> list[ConversationId]:
    """What the conversation is or will be stored as; raises ApiError as `found_conversation`."""
    names = stored_names(caller, session_id, user_id)
    if caller.users is None and user_id is None:
        found = await found_conversation(caller, session_id, parts)
        return [found.conversation_id] if found else names
    return names


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
    known = await found_conversation(caller, session_id, parts, user_id)
    if known is not None or caller.users is None:
        return known.conversation_id if known else session_id
    tagged = _tagged(session_id, user_id)
    if len(tagged) > MAX_IDENTIFIER:
        most = MAX_IDENTIFIER - _TAG_LENGTH
        raise wrong_fields(FieldError(field="body.conversationId", message=f"take at most {most} characters"))
    return tagged


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
