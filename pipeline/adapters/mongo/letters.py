"""The dead letters that name a user though they could not be read as theirs."""

from collections.abc import Mapping
from typing import Any

from pipeline.adapters.mongo.database import Database
from pipeline.domain.forgetting import KEYED_BY_USER, users_named

_READ = {"sourceTopic": 1, "key": 1, "value": 1}


async def letters_naming(database: Database, user_id: str, query: Mapping[str, Any]) -> list[str]:
    """The ids of those that a query means, and that could not be read, or came under another's key."""
    doubtful = {"$or": [{"userId": None}, {"sourceTopic": {"$in": KEYED_BY_USER}}]}

    async def read() -> list[str]:
        return [
            letter["_id"]
            async for letter in database.collection("dead_letters").find({**query, **doubtful}, _READ)
            if user_id in users_named(letter["sourceTopic"], letter.get("key"), letter.get("value"))
        ]

    return await database.do(read)
