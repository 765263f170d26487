"""What is left of a feature once a conversation, or all that a user said up to a time, is forgotten."""

from datetime import datetime, timedelta

from schemas.features import UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.wire import ConversationId, UserId

_LEAST = timedelta(milliseconds=1)


def without_conversation(feature: UserFeature, conversation_id: ConversationId, until: datetime) -> UserFeature | None:
    """The feature without what the conversation taught up to `until`; None where nothing else had taught it."""
    return _without(feature, conversation_id, until)


def without_all(feature: UserFeature, until: datetime) -> UserFeature | None:
    """The feature without what anything taught up to `until`; None where nothing has said it since."""
    said_since = feature.record_time > until or any(seen.record_time > until for seen in feature.evidence)
    return _without(feature, None, until) if said_since else None


def _without(feature: UserFeature, conversation_id: ConversationId | None, until: datetime) -> UserFeature | None:
    def is_there(conversation: ConversationId | None) -> bool:
        return conversation_id is None or conversation == conversation_id

    stays = [seen for seen in feature.evidence if seen.record_time > until or not is_there(seen.conversation_id)]
    gone = {seen.question_id for seen in feature.evidence if seen not in stays}
    if not gone and feature.create_time > until:
        return feature
    came_from_there = is_there(feature.source_conversation_id)
    if not stays and feature.source == "CHAT_EXTRACT" and (gone or came_from_there):
        return None
    left: dict[str, object] = {
        "evidence": stays,
        "history": [earlier for earlier in feature.history if not is_there(earlier.conversation_id)],
        "heard": [heard for heard in feature.heard if heard.source not in gone],
        "confidence": max(1, feature.confidence - len(gone)),
    }
    if conversation_id is None:
        left["create_time"] = max(feature.create_time, until + _LEAST)  # nothing that is older is left of it
    if gone and stays and came_from_there and feature.source == "CHAT_EXTRACT":
        # the sentence may be of what is forgotten: the words that still bear it out say it as well
        left |= {"source_conversation_id": stays[0].conversation_id, "content": stays[0].quote}
    elif came_from_there and not stays:
        left["source_conversation_id"] = None
    changed = feature.model_copy(update=left)
    return feature if changed == feature else changed.model_copy(update={"version": feature.version + 1})


def to_render(user_id: UserId, after: datetime) -> FeaturesObserved:
    """Tells feature memory, as of just after `after`, to render a user's profile anew: it changes no feature."""
    return FeaturesObserved(
        user_id=user_id, observed_by="memory-commands", source="SYSTEM", record_time=after + _LEAST, changes=[]
    )
