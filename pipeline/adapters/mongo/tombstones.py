"""What was forgotten, as keyed hashes, and the removal of everything that stems from it.

Whoever writes looks for a tombstone afterwards, and whoever forgets leaves the tombstone before anything is removed:
one of the two sees the other.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from pymongo import DESCENDING, UpdateOne

from pipeline.adapters.mongo.database import Database
from pipeline.adapters.mongo.features import MongoFeatures
from pipeline.adapters.mongo.letters import letters_naming
from pipeline.domain.forgetting import without_all, without_conversation
from pipeline.ports import Origin
from schemas.documents import Message
from schemas.features import Tombstone, UserFeature
from schemas.wire import ConversationId, UserId

#: What is removed by the time of the question that it stems from, and where each keeps that time. A conversation goes
#: last, for the others are found by it.
_REMOVED: Mapping[str, str] = {
    "messages": "recordTime",
    "extractions": "recordTime",
    "role_tracks": "recordTime",
    "dead_letters": "questionTime",
    "conversations": "lastRecordTime",
}
#: The most conversations that one removal names.
_MOST = 200

Removed = dict[str, int]
#: Removes what is not later than a time.
Removal = Callable[[datetime], Awaitable[Removed]]
Query = dict[str, Any]


class MongoTombstones:
    """The `Tombstones` port. What is to be removed at the same time is removed together."""

    def __init__(self, database: Database, key: str) -> None:
        self._database, self._features, self._key = database, MongoFeatures(database), key.encode()
        self._removals: dict[str, asyncio.Task[Removed]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def covers(self, origin: Origin) -> bool:
        until = await self._until(*self._marks(origin))
        return until is not None and (origin.time is None or _milliseconds(origin.time) <= until)

    async def add(self, origin: Origin) -> None:
        own: Query = {"userId": origin.user_id}
        if origin.conversation_id is not None:
            own["conversationId"] = origin.conversation_id
        # a record that says nothing but its key is known by the conversation alone
        conversations = await self._distinct("conversationId", "conversations", own)
        marks = [self._marks(origin)[-1], *(self._mark("conversation", name) for name in conversations)]
        await asyncio.gather(*(self._add(mark, origin.time) for mark in marks))

    async def _add(self, mark: str, time: datetime | None) -> None:
        """A later time begins a new count of what is removed."""
        new: Query = {"hash": mark, "time": time, "removed": {}}
        await self._database.write("tombstones", UpdateOne({"_id": mark}, {"$setOnInsert": new}, upsert=True))
        moved_on = {"_id": mark, "time": {"$not": {"$gte": time}}}
        await self._database.write("tombstones", UpdateOne(moved_on, {"$set": {"time": time, "removed": {}}}))

    async def removed(self, origin: Origin) -> Removed:
        mark = self._marks(origin)[-1]
        stone = await self._database.by_key(Tombstone, "tombstones", mark)
        return stone.removed if stone else {}

    async def erase(self, origin: Origin) -> Removed:
        user_id, conversation_id = origin.user_id, origin.conversation_id
        removed: Removed = {}
        if user_id is not None:
            mark = self._mark("user", user_id)
            _count(removed, await self._together(mark, partial(self._of_user, UserId(user_id))))
        if conversation_id is not None:
            name = ConversationId(conversation_id)
            if user_id is not None:
                own = self._mark("conversation", user_id, conversation_id)
                _count(removed, await self._together(own, partial(self._of_conversation, UserId(user_id), name)))
            _count(removed, await self._of_others(user_id, name))
        return removed

    async def _of_user(self, user_id: UserId, until: datetime) -> Removed:
        own = {"userId": user_id}
        begun = await self._distinct("conversationId", "messages", own | _up_to("recordTime", until))
        afresh = await asyncio.gather(*(self._start_afresh(user_id, ConversationId(name), until) for name in begun))
        unnamed = 0
        for group in _groups(await self._distinct("conversationId", "conversations", own)):
            nobodys = _nobodys({"conversationId": {"$in": group}}, until)
            unnamed += await self._database.remove("dead_letters", nobodys)
        for group in _groups(await letters_naming(self._database, user_id, _up_to("questionTime", until))):
            unnamed += await self._database.remove("dead_letters", {"_id": {"$in": group}})
        removed = await self._remove(own, until)
        for more in afresh:
            _count(removed, more)
        removed["dead_letters"] += unnamed
        removed["user_features"], profiles = await self._strip(user_id, lambda feature: without_all(feature, until))
        # without a feature there is nothing that a profile could be of
        rendered = _up_to("recordTime", until) if await self._features.features(user_id) else {}
        profiles += await self._database.remove("user_profiles", own | rendered)
        return removed | {"user_profiles": profiles}

    async def _of_conversation(self, user_id: UserId, conversation_id: ConversationId, until: datetime) -> Removed:
        afresh = await self._start_afresh(user_id, conversation_id, until)
        removed = await self._remove({"userId": user_id, "conversationId": conversation_id}, until)
        _count(removed, afresh)
        removed["user_features"], _ = await self._strip(
            user_id, lambda feature: without_conversation(feature, conversation_id, until)
        )
        return removed

    async def _of_others(self, user_id: str | None, conversation_id: ConversationId) -> Removed:
        """What is left, in a conversation, of those who were forgotten there, and dead letters that name no user."""
        if (until := await self._until(self._mark("conversation", conversation_id))) is None:
            return {}
        here: Query = {"conversationId": conversation_id}
        removed = {"dead_letters": await self._database.remove("dead_letters", _nobodys(here, until))}
        left = [await self._distinct("userId", name, here) for name in ("messages", "conversations")]
        for other in {user for users in left for user in users} - {user_id}:
            if (forgotten := await self._until(*self._marks(Origin(other, conversation_id)))) is not None:
                _count(removed, await self._remove(here | {"userId": other}, forgotten))
        return removed

    async def _remove(self, query: Query, until: datetime) -> Removed:
        return {name: await self._database.remove(name, query | _up_to(time, until)) for name, time in _REMOVED.items()}

    async def _strip(self, user_id: UserId, left_of: Callable[[UserFeature], UserFeature | None]) -> tuple[int, int]:
        """Take out of each feature what is forgotten: how many features that concerned, and how many profiles."""
        count = profiles = 0
        while changes := [
            (feature, left)
            for feature in await self._features.features(user_id)
            if (left := left_of(feature)) is not feature
        ]:
            profiles += await self._database.remove("user_profiles", {"userId": user_id})
            for feature, left in changes:  # where feature memory was faster, once more
                if left is None:
                    count += await self._features.remove_feature(feature)
                else:
                    count += await self._features.replace_feature(left, feature.version)
        return count, profiles

    async def _start_afresh(self, user_id: UserId, conversation_id: ConversationId, until: datetime) -> Removed:
        """A conversation that goes on keeps nothing that was made of what is forgotten, not of later turns either.

        It comes before the messages go, for they tell which turns are forgotten.
        """
        own: Query = {"conversationId": conversation_id, "userId": user_id}
        forgotten = own | _up_to("recordTime", until)
        last = await self._database.found(Message, "messages", forgotten, 1, [("turn", DESCENDING)])
        epoch = last[0].turn if last else 0
        anew = {"$set": {"summary": None, "guidedTurn": None}, "$max": {"epoch": epoch}}
        await self._database.write("conversations", UpdateOne({"_id": conversation_id, "userId": user_id}, anew))
        if not last:
            return {}
        made_of_it = own | _up_to("since", epoch)
        return {name: await self._database.remove(name, made_of_it) for name in ("extractions", "role_tracks")}

    async def _together(self, mark: str, removal: Removal) -> Removed:
        """Whoever asks while a removal is under way shares the one after it."""
        if mark not in self._removals:
            self._removals[mark] = asyncio.create_task(self._in_turn(mark, removal))
        return await asyncio.shield(self._removals[mark])

    async def _in_turn(self, mark: str, removal: Removal) -> Removed:
        """Up to the tombstone's time, where there is one, and counted there."""
        lock = self._locks.setdefault(mark, asyncio.Lock())
        async with lock:
            del self._removals[mark]  # what is written from now on may escape this one
            if (until := await self._until(mark)) is None:
                return {}
            removed = await removal(until)
            counts = {f"removed.{name}": count for name, count in removed.items()}
            await self._database.write("tombstones", UpdateOne({"_id": mark}, {"$inc": counts}))
            return removed

    async def _distinct(self, field: str, collection: str, query: Query) -> list[str]:
        """What a field is in some documents."""
        found = await self._database.do(lambda: self._database.collection(collection).distinct(field, query))
        return [str(name) for name in found]

    def _marks(self, origin: Origin) -> list[str]:
        """By what an origin may have been forgotten, the narrowest last."""
        user_id, conversation_id = origin.user_id, origin.conversation_id
        if user_id is None:
            return [] if conversation_id is None else [self._mark("conversation", conversation_id)]
        whole = [self._mark("user", user_id)]
        return whole if conversation_id is None else [*whole, self._mark("conversation", user_id, conversation_id)]

    def _mark(self, *names: str) -> str:
        """A keyed hash, so that a list of tombstones tells nobody who was forgotten."""
        return hmac.new(self._key, json.dumps(names).encode(), hashlib.sha256).hexdigest()

    async def _until(self, *marks: str) -> datetime | None:
        """The latest time up to which one of them is forgotten."""
        if not marks:
            return None
        stones = await self._database.documents("tombstones", *marks)
        return max((stone["time"] for stone in stones), default=None)


def _up_to(field: str, until: datetime | int) -> Query:
    """What is not later, and what an older version of us wrote without that field."""
    return {field: {"$not": {"$gt": until}}}


def _nobodys(query: Query, until: datetime) -> Query:
    """Of some dead letters those that name no user."""
    return query | {"userId": None} | _up_to("questionTime", until)


def _groups(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[start : start + _MOST] for start in range(0, len(names), _MOST)]


def _count(removed: Removed, more: Removed) -> None:
    for name, count in more.items():
        removed[name] = removed.get(name, 0) + count


def _milliseconds(time: datetime) -> datetime:
    """As MongoDB and Kafka keep it."""
    return time.replace(microsecond=time.microsecond // 1000 * 1000)
