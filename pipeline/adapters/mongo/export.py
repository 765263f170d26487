"""All that is held about a user, read as it is stored."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from pipeline.adapters.mongo.database import Database
from pipeline.adapters.mongo.letters import letters_naming
from pipeline.ports import Json

#: The name of each part, and the collection that it is kept in.
_PARTS: Mapping[str, str] = {
    "conversations": "conversations",
    "messages": "messages",
    "extractions": "extractions",
    "track": "role_tracks",
    "features": "user_features",
    "profiles": "user_profiles",
}


async def held_about(database: Database, user_id: str) -> dict[str, Json]:
    """Every document of the user by part, and the ids of their dead letters, whose bytes `dead-letters show` shows."""
    query, held = {"userId": user_id}, dict[str, Any]()
    for part, name in _PARTS.items():
        found = await database.do(partial(_all, database, name, query))
        held[part] = [_shown(document) for document in found]
    letters = await _letters(database, query)
    unnamed = {"userId": None, "conversationId": {"$in": [kept["conversationId"] for kept in held["conversations"]]}}
    letters += [*await _letters(database, unnamed), *await letters_naming(database, user_id, {})]
    profiles = held.pop("profiles")
    summaries = {
        conversation["conversationId"]: summary
        for conversation in held["conversations"]
        if (summary := conversation.pop("summary", None))
    }
    profile = profiles[0] if profiles else None
    return {"userId": user_id, **held, "profile": profile, "summaries": summaries, "deadLetters": sorted(set(letters))}


async def _letters(database: Database, query: Mapping[str, Any]) -> list[str]:
    found = await database.do(lambda: database.collection("dead_letters").distinct("_id", query))
    return [str(name) for name in found]


async def _all(database: Database, collection: str, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    return await database.collection(collection).find(query).to_list(None)


def _shown(value: Any) -> Any:
    """A stored value as JSON, without the keys that the code makes."""
    if isinstance(value, dict):
        return {name: _shown(field) for name, field in value.items() if name != "_id"}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value
