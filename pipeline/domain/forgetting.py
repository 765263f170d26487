"""What is left of a feature once a conversation, or a user, is forgotten, and whom an unreadable record names."""

import json
import re
from datetime import datetime, timedelta

from schemas.features import UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.topics import TOPICS
from schemas.wire import ConversationId, UserId

#: The topics whose records are keyed by their user.
KEYED_BY_USER = tuple(topic.name for topic in TOPICS if topic.key == "user_id")
_LEAST = timedelta(milliseconds=1)
#: How much of a text is looked at for names, in characters, and the most names of one.
_READ, _MOST_NAMES = 100_000, 1000
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.){1,300}"')
_WORD = re.compile(r"""[^\s"'`{}\[\](),;:=<>|\\&/#\ufffd]+""")


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
    late = [heard for heard in feature.heard if conversation_id is None and heard.record_time <= until]
    if not gone and not late and feature.create_time > until:
        return feature
    came_from_there = is_there(feature.source_conversation_id)
    if not stays and feature.source == "CHAT_EXTRACT" and (gone or came_from_there):
        return None
    left: dict[str, object] = {
        "evidence": stays,
        "history": [earlier for earlier in feature.history if not is_there(earlier.conversation_id)],
        "heard": [heard for heard in feature.heard if heard.source not in gone and heard not in late],
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


def users_named(topic: str, key: bytes | None, value: bytes | None) -> list[str]:
    """By what a record that is no event may name its user: its key, and where its JSON does not say, any word of it."""
    said = _user_in(value)
    if said is None:
        return list(dict.fromkeys([*_names_in(key), *_names_in(value)]))
    return [said, *_names_in(key)[:1]] if topic in KEYED_BY_USER else [said]


def _user_in(value: bytes | None) -> str | None:
    try:
        content = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    said = content.get("userId") if isinstance(content, dict) else None
    return said if isinstance(said, str) else None


def _names_in(data: bytes | None) -> list[str]:
    """The whole of a text, its quoted strings and its words."""
    text = (data or b"").decode(errors="replace").replace("\x00", "")[:_READ].strip()
    quoted = [_unquoted(match.group()) for match in _QUOTED.finditer(text)]
    words = [word for match in _WORD.finditer(text) for word in (match.group(), match.group().rstrip(".!?"))]
    return list(dict.fromkeys(filter(None, (text, *quoted, *words))))[:_MOST_NAMES]


def _unquoted(quoted: str) -> str:
    """A JSON string's content, its escapes read where they can be."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def to_render(user_id: UserId, after: datetime) -> FeaturesObserved:
    """Tells feature memory, as of just after `after`, to render a user's profile anew: it changes no feature."""
    return FeaturesObserved(
        user_id=user_id, observed_by="memory-commands", source="SYSTEM", record_time=after + _LEAST, changes=[]
    )
