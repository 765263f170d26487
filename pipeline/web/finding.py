"""What a caller names, found where it is the caller's; what is not is told apart from nothing else that is missing."""

from pipeline.web.access import Caller
from pipeline.web.envelope import no_conversation, no_feature
from pipeline.web.parts import WebParts
from schemas.documents import Conversation
from schemas.features import UserFeature
from schemas.wire import ConversationId, UserId


async def conversation_of(
    caller: Caller, session_id: ConversationId, parts: WebParts, user_id: str | None = None
) -> Conversation:
    """The conversation, of that user where one is named; raises ApiError."""
    if user_id is not None:
        caller.user(user_id)
    found = await parts.store.conversation(session_id)
    if found is None or not caller.may_see(found.user_id) or user_id not in (None, found.user_id):
        raise no_conversation()
    return found


async def feature_of(user_id: UserId, feature_id: str, parts: WebParts) -> UserFeature:
    """One of the user's features that was not deleted; raises ApiError."""
    for feature in await parts.features.features(user_id):
        if feature.feature_id == feature_id and feature.status != "DELETED":
            return feature
    raise no_feature()
