"""The conversations in MongoDB: messages, extractions, the role track and the dead letters."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne

from pipeline.adapters.mongo.database import Database
from pipeline.errors import AlreadyStored
from pipeline.ports import Wanted
from schemas.documents import Conversation, Erasure, Message, StoredExtraction
from schemas.events import DeadLetter
from schemas.features import Summary
from schemas.role import TrackEntry
from schemas.wire import ConversationId, UserId, Wire

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONG_AGO, _FAR = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_LAST_TURN = 2**31 - 1
_HIGHEST = "\U0010ffff"
#: What a dead letter in brief leaves out: it may be large, and many are listed at once.
_IN_FULL = {"value": 0, "headers": 0, "stackTrace": 0}


class MongoStore:
    """The `Store` port: few operations a turn, each read bounded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def is_away(self) -> bool:
        return self._database.is_away

    async def ping(self) -> None:
        await self._database.ping()

    async def log(self, conversation_id: ConversationId, before_turn: int, limit: int) -> list[Message]:
        found = await self._of_turns(conversation_id, before_turn - limit, before_turn - 1)
        return sorted(found, key=_place)

    async def first_questions(self, conversations: Sequence[ConversationId]) -> dict[str, str]:
        keys = [f"{conversation}:1:USER" for conversation in conversations]
        found = await self._database.by_keys(Message, "messages", *keys)
        return {message.conversation_id: message.text for message in found}

    async def question_at(self, conversation_id: ConversationId, turn: int) -> Message | None:
        return await self._database.by_key(Message, "messages", f"{conversation_id}:{turn}:USER")

    async def message(self, conversation_id: ConversationId, message_id: str) -> Message | None:
        return await self._database.one(
            Message, "messages", {"conversationId": conversation_id, "messageId": message_id}
        )

    async def messages(self, conversation_id: ConversationId, up_to_turn: int, limit: int) -> list[Message]:
        # each turn has its question, so that the last `limit` messages are of the last `limit` turns
        found = await self._of_turns(conversation_id, up_to_turn - limit + 1, up_to_turn)
        wanted = [message for message in found if message.status == "ok" or message.turn == up_to_turn]
        return sorted(wanted, key=_place)[-limit:]

    async def questions(
        self, conversation_id: ConversationId, before_turn: int, limit: int, *, after_turn: int = 0
    ) -> list[str]:
        first = max(before_turn - limit, after_turn + 1)
        if first >= before_turn:
            return []
        found = await self._of_turns(conversation_id, first, before_turn - 1)
        return [message.text for message in found if message.role == "USER"]

    async def _of_turns(self, conversation_id: ConversationId, first: int, last: int) -> list[Message]:
        """The messages of some turns, oldest first; both ends bound the search, so that a long log costs no more."""
        query = {"conversationId": conversation_id, "turn": {"$gte": first, "$lte": last}}
        return await self._database.found(Message, "messages", query, 2 * (last - first + 1), [("turn", ASCENDING)])

    async def add_message(self, message: Message) -> None:
        await self._database.add("messages", _message_key(message), message)

    async def replace_failed_message(self, message: Message) -> None:
        failed = {"_id": _message_key(message), "status": "failed"}
        await self._replace("messages", failed, message)

    async def conversation(self, conversation_id: ConversationId) -> Conversation | None:
        return await self._database.by_key(Conversation, "conversations", conversation_id)

    async def conversations(self, names: Sequence[ConversationId], users: Collection[str] | None) -> list[Conversation]:
        query: dict[str, Any] = {"_id": {"$in": [*names]}}
        if users is not None:
            query["userId"] = {"$in": [*users]}
        return await self._database.found(Conversation, "conversations", query, len(names), [("_id", ASCENDING)])

    async def conversations_like(self, prefix: str, rest: str, limit: int) -> list[Conversation]:
        bounds = {"$gte": prefix, "$lt": f"{prefix}{_HIGHEST}"}
        query = {"_id": bounds | {"$regex": f"^{re.escape(prefix)}{rest}$"}}
        return await self._database.found(Conversation, "conversations", query, limit, [("_id", ASCENDING)])

    async def touch_conversation(self, message: Message) -> None:
        key = message.conversation_id
        change = {
            "$setOnInsert": {"conversationId": key, "userId": message.user_id},
            "$max": {
                "turnCount": message.turn,
                "lastActiveTime": message.create_time,
                "lastRecordTime": message.record_time,
            },
            "$set": {"awaitsSummary": message.record_time},
        }
        await self._database.write("conversations", UpdateOne({"_id": key}, change, upsert=True))

    async def note_guided(self, conversation_id: ConversationId, turn: int) -> None:
        query = {"_id": conversation_id, "guidedTurn": None}
        await self._database.write("conversations", UpdateOne(query, {"$set": {"guidedTurn": turn}}))

    async def put_summary(self, conversation_id: ConversationId, summary: Summary, *, after: int) -> None:
        previous = {"summary": None} if after == 0 else {"summary.turn": after}
        query = {"_id": conversation_id, **previous}
        change = {"$set": {"summary": summary.model_dump(by_alias=True)}}
        await self._database.write("conversations", UpdateOne(query, change))
        covered = {"_id": conversation_id, "turnCount": summary.turn}
        await self._database.write("conversations", UpdateOne(covered, {"$set": {"awaitsSummary": None}}))

    async def idle_conversations(self, until: datetime, limit: int) -> list[Conversation]:
        query = {"awaitsSummary": {"$gte": _EPOCH, "$lt": until}}
        order = [("awaitsSummary", ASCENDING)]
        return await self._database.found(Conversation, "conversations", query, limit, order)

    async def claim_summary(self, conversation: Conversation, until: datetime) -> bool:
        query = {"_id": conversation.conversation_id, "awaitsSummary": conversation.awaits_summary}
        change = {"$set": {"awaitsSummary": until}}
        conversations = self._database.collection("conversations")
        result = await self._database.do(lambda: conversations.update_one(query, change))
        return bool(result.matched_count)

    async def conversations_of(
        self, users: Sequence[UserId] | None, before: datetime | None, limit: int, *, before_id: str | None = None
    ) -> list[Conversation]:
        whose: dict[str, Any] = {} if users is None else {"userId": {"$in": [*users]}}

        async def found(query: dict[str, Any], limit: int) -> list[Conversation]:
            order = [("lastActiveTime", DESCENDING), ("_id", DESCENDING)]
            return await self._database.found(Conversation, "conversations", whose | query, limit, order)

        end, tied = before or _FAR, list[Conversation]()
        if before is not None and before_id is not None:
            tied = await found({"lastActiveTime": before, "_id": {"$gte": "", "$lt": before_id}}, limit)
        left = limit - len(tied)
        return tied + (await found({"lastActiveTime": {"$gte": _LONG_AGO, "$lt": end}}, left) if left else [])

    async def note_observed(self, question: Message, event: str) -> None:
        query = {"_id": _message_key(question), "observed": None}
        await self._database.write("messages", UpdateOne(query, {"$set": {"observed": event}}))

    async def erase_role(self, conversation_id: ConversationId, up_to_turn: int) -> dict[str, int]:
        change = {"$max": {"epoch": up_to_turn}}
        await self._database.write("conversations", UpdateOne({"_id": conversation_id}, change))
        # an older version of us wrote no first turn
        query = {"conversationId": conversation_id, "since": {"$not": {"$gt": up_to_turn}}}
        return {name: await self._database.remove(name, query) for name in ("extractions", "role_tracks")}

    async def note_erased(
        self, conversation_id: ConversationId, command_id: str, removed: Mapping[str, int]
    ) -> dict[str, int]:
        of_another = {"_id": conversation_id, "erasure.commandId": {"$ne": command_id}}
        begun = Erasure(command_id=command_id).model_dump(by_alias=True)
        await self._database.write("conversations", UpdateOne(of_another, {"$set": {"erasure": begun}}))
        counts = {f"erasure.removed.{name}": count for name, count in removed.items()}
        await self._database.write("conversations", UpdateOne({"_id": conversation_id}, {"$inc": counts}))
        conversation = await self.conversation(conversation_id)
        return conversation.erasure.removed if conversation and conversation.erasure else dict(removed)

    async def replace_entry(self, entry: TrackEntry, was: TrackEntry) -> bool:
        return await self._database.replace("role_tracks", _version(was), entry)

    async def stands(self, entry: TrackEntry) -> bool:
        stored = await self._database.documents("role_tracks", f"{entry.conversation_id}:{entry.turn}")
        return any(_version(entry).items() <= one.items() for one in stored)

    async def extraction(self, conversation_id: ConversationId, turn: int) -> StoredExtraction | None:
        return await self._database.by_key(StoredExtraction, "extractions", f"{conversation_id}:{turn}")

    async def add_extraction(self, extraction: StoredExtraction) -> None:
        await self._database.add("extractions", f"{extraction.conversation_id}:{extraction.turn}", extraction)

    async def replace_failed_extraction(self, extraction: StoredExtraction) -> None:
        failed = {"_id": f"{extraction.conversation_id}:{extraction.turn}", "failure": {"$ne": None}}
        await self._replace("extractions", failed, extraction)

    async def track(self, conversation_id: ConversationId, up_to_turn: int | None, limit: int) -> list[TrackEntry]:
        query: dict[str, Any] = {"conversationId": conversation_id}
        if up_to_turn is not None:
            query["turn"] = {"$lte": up_to_turn}
        return await self._database.found(TrackEntry, "role_tracks", query, limit, [("turn", DESCENDING)])

    async def track_after(self, conversation_id: ConversationId, after_turn: int, limit: int) -> list[TrackEntry]:
        query = {"conversationId": conversation_id, "turn": {"$gt": after_turn, "$lte": _LAST_TURN}}
        return await self._database.found(TrackEntry, "role_tracks", query, limit, [("turn", ASCENDING)])

    async def last_entries(self, conversation_id: ConversationId, turn: int) -> list[TrackEntry]:
        keys = [f"{conversation_id}:{number}" for number in (turn, turn - 1)]
        entries = await self._database.by_keys(TrackEntry, "role_tracks", *keys)
        if turn == 1 or any(entry.turn < turn for entry in entries):
            return entries
        return [*entries, *await self.track(conversation_id, turn - 1, 1)]

    async def add_entry(self, entry: TrackEntry) -> None:
        await self._database.add("role_tracks", f"{entry.conversation_id}:{entry.turn}", entry)

    async def _replace(self, collection: str, query: Mapping[str, Any], value: Wire) -> None:
        await self._database.write(collection, ReplaceOne(query, value.model_dump(by_alias=True)))

    async def dead_letters(self, wanted: Wanted, limit: int | None, *, in_brief: bool = False) -> list[DeadLetter]:
        query: dict[str, Any] = {
            name: value for name, value in (("sourceTopic", wanted.topic), ("key", wanted.key)) if value is not None
        }
        if wanted.letter_ids is not None:
            query["_id"] = {"$in": [*wanted.letter_ids]}
        times = {"$gte": wanted.since, "$lt": wanted.until}
        if bounds := {operator: time for operator, time in times.items() if time is not None}:
            query["createTime"] = bounds
        letters, left_out = self._database.collection("dead_letters"), _IN_FULL if in_brief else None
        found = await self._database.do(
            lambda: letters.find(query, left_out).sort("createTime", ASCENDING).limit(limit or 0).to_list(None)
        )
        return [DeadLetter.model_validate(letter, extra="ignore") for letter in found]

    async def remove_dead_letters(self, topic: str, partition: int, offset: int) -> None:
        query = {"sourceTopic": topic, "sourcePartition": partition, "sourceOffset": offset}
        await self._database.remove("dead_letters", query)

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        try:
            await self._database.add("dead_letters", letter.letter_id, letter)
        except AlreadyStored:
            return


def _version(entry: TrackEntry) -> dict[str, Any]:
    """An entry as long as nobody has put another in its place."""
    return {"_id": f"{entry.conversation_id}:{entry.turn}", "updateTime": entry.update_time, "reason": entry.reason}


def _place(message: Message) -> tuple[int, bool]:
    return message.turn, message.role == "ASSISTANT"


def _message_key(message: Message) -> str:
    return f"{message.conversation_id}:{message.turn}:{message.role}"
