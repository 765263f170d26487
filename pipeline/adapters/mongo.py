"""The MongoDB store on motor: keyed writes that succeed once, few operations a turn."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import ASCENDING, DESCENDING, InsertOne, ReadPreference, ReplaceOne, UpdateOne
from pymongo.errors import ConfigurationError, ConnectionFailure, DuplicateKeyError, OperationFailure

from pipeline.adapters.group_commit import GroupCommit, Write
from pipeline.adapters.outage import Patience
from pipeline.errors import AlreadyStored, SettingsInvalid
from pipeline.ports import Wanted
from schemas.documents import Conversation, Message, StoredExtraction
from schemas.events import DeadLetter
from schemas.role import TrackEntry
from schemas.wire import ConversationId, QuestionId, Wire

M = TypeVar("M", bound=Wire)
T = TypeVar("T")

Collection = AsyncIOMotorCollection[dict[str, Any]]

#: Unique indexes by collection, beside the `_id` that the code makes from the key.
_UNIQUE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "conversations": (("conversationId",),),
    "messages": (("conversationId", "messageId"),),
    "extractions": (("conversationId", "questionId"),),
    "role_tracks": (("conversationId", "turn"), ("conversationId", "questionId")),
    "dead_letters": (("processor", "sourceTopic", "sourcePartition", "sourceOffset"),),
}
_SELECTION_TIMEOUT_MS = 2000
#: Error codes: not authorized, authentication failed, and Atlas' word for both.
_REFUSED = {13, 18, 8000}
#: Error codes of a server that changes its role, shuts down, is overloaded or cannot replicate in time.
_PASSING = {6, 7, 50, 64, 89, 91, 112, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
_SOCKET_TIMEOUT_MS = 20_000


class MongoStore:
    """The `Store` port. While MongoDB is away a call waits: `patience` seconds, or for as long as it takes.

    Built inside a running event loop, which it belongs to.
    """

    def __init__(self, url: str, database: str, *, patience: float | None = None) -> None:
        try:
            self._client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(
                url,
                tz_aware=True,
                serverSelectionTimeoutMS=_SELECTION_TIMEOUT_MS,
                socketTimeoutMS=_SOCKET_TIMEOUT_MS,
                appname="rolestream",
            )
        except (ConfigurationError, ValueError) as exc:
            raise SettingsInvalid(f"ROLESTREAM_MONGO__URL is no MongoDB connection string: {exc}") from exc
        # whoever numbers a turn must see the last one, whatever the URL says of secondaries
        self._database = self._client.get_database(database, read_preference=ReadPreference.PRIMARY)
        self._collections: dict[str, Collection] = {}
        self._groups: dict[str, GroupCommit] = {}
        self._patiently = Patience("MongoDB", (ConnectionFailure,), patience)

    def _in(self, collection: str) -> Collection:
        """Kept, for motor makes a new object with every look-up."""
        if collection not in self._collections:
            self._collections[collection] = self._database[collection]
        return self._collections[collection]

    async def _do(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Wait out outages; raises AlreadyStored, SettingsInvalid where it refuses us, else what it has against it."""

        async def attempt() -> T:
            try:
                return await operation()
            except DuplicateKeyError as exc:
                raise AlreadyStored("the key is taken") from exc
            except OperationFailure as exc:
                if exc.code in _REFUSED:
                    raise SettingsInvalid(f"MongoDB refuses us: check ROLESTREAM_MONGO__URL (code {exc.code})") from exc
                if exc.code in _PASSING or exc.has_error_label("RetryableWriteError"):
                    raise ConnectionFailure(str(exc)) from exc
                raise

        return await self._patiently(attempt)

    @property
    def is_away(self) -> bool:
        return self._patiently.is_away

    async def prepare(self) -> None:
        """Create the indexes that are missing."""
        for name, keys in _UNIQUE.items():
            for key in keys:
                await self._index(name, key, unique=True)
        await self._index("messages", ("conversationId", "turn"), unique=False)

    async def _index(self, collection: str, fields: tuple[str, ...], *, unique: bool) -> None:
        keys = [(field, ASCENDING) for field in fields]
        await self._do(lambda: self._in(collection).create_index(keys, unique=unique))

    async def ping(self) -> None:
        """Raises Outage when MongoDB cannot be reached within the patience."""
        await self._do(lambda: self._database.command("ping"))

    async def aclose(self) -> None:
        self._client.close()

    async def _one(self, model: type[M], collection: str, query: Mapping[str, Any]) -> M | None:
        document = await self._do(lambda: self._in(collection).find_one(query))
        return None if document is None else _read(model, document)

    async def _found(
        self, model: type[M], collection: str, query: Mapping[str, Any], limit: int, sort: list[tuple[str, int]]
    ) -> list[M]:
        documents = await self._do(lambda: self._in(collection).find(query).sort(sort).limit(limit).to_list(limit))
        return [_read(model, document) for document in documents]

    async def _write(self, collection: str, write: Write) -> None:
        if collection not in self._groups:
            self._groups[collection] = GroupCommit(self._in(collection))
        await self._do(lambda: self._groups[collection].write(write))

    async def _add(self, collection: str, key: str, value: Wire) -> None:
        await self._write(collection, InsertOne({"_id": key, **value.model_dump(by_alias=True)}))

    async def question_at(self, conversation_id: ConversationId, turn: int) -> Message | None:
        return await self._one(Message, "messages", {"_id": f"{conversation_id}:{turn}:USER"})

    async def message(self, conversation_id: ConversationId, message_id: str) -> Message | None:
        return await self._one(Message, "messages", {"conversationId": conversation_id, "messageId": message_id})

    async def messages(self, conversation_id: ConversationId, up_to_turn: int, limit: int) -> list[Message]:
        # each turn has its question, so that the last `limit` messages are of the last `limit` turns
        found = await self._of_turns(conversation_id, up_to_turn - limit + 1, up_to_turn)
        wanted = [message for message in found if message.status == "ok" or message.turn == up_to_turn]
        return sorted(wanted, key=lambda message: (message.turn, message.role == "ASSISTANT"))[-limit:]

    async def questions(self, conversation_id: ConversationId, before_turn: int, limit: int) -> list[str]:
        if limit == 0 or before_turn <= 1:
            return []
        found = await self._of_turns(conversation_id, before_turn - limit, before_turn - 1)
        return [message.text for message in found if message.role == "USER"]

    async def _of_turns(self, conversation_id: ConversationId, first: int, last: int) -> list[Message]:
        """The messages of some turns, oldest first; both ends bound the search, so that a long log costs no more."""
        query = {"conversationId": conversation_id, "turn": {"$gte": first, "$lte": last}}
        return await self._found(Message, "messages", query, 2 * (last - first + 1), [("turn", ASCENDING)])

    async def add_message(self, message: Message) -> None:
        await self._add("messages", _message_key(message), message)

    async def replace_failed_message(self, message: Message) -> None:
        failed = {"_id": _message_key(message), "status": "failed"}
        await self._replace("messages", failed, message)

    async def conversation(self, conversation_id: ConversationId) -> Conversation | None:
        return await self._one(Conversation, "conversations", {"_id": conversation_id})

    async def touch_conversation(self, message: Message) -> None:
        key = message.conversation_id
        change = {
            "$setOnInsert": {"conversationId": key, "userId": message.user_id},
            "$max": {"turnCount": message.turn, "lastActiveTime": message.create_time},
        }
        await self._write("conversations", UpdateOne({"_id": key}, change, upsert=True))

    async def note_guided(self, conversation_id: ConversationId, turn: int) -> None:
        query = {"_id": conversation_id, "guidedTurn": None}
        await self._write("conversations", UpdateOne(query, {"$set": {"guidedTurn": turn}}))

    async def extraction(self, conversation_id: ConversationId, question_id: QuestionId) -> StoredExtraction | None:
        query = {"conversationId": conversation_id, "questionId": question_id}
        return await self._one(StoredExtraction, "extractions", query)

    async def add_extraction(self, extraction: StoredExtraction) -> None:
        await self._add("extractions", f"{extraction.conversation_id}:{extraction.turn}", extraction)

    async def replace_failed_extraction(self, extraction: StoredExtraction) -> None:
        failed = {"_id": f"{extraction.conversation_id}:{extraction.turn}", "failure": {"$ne": None}}
        await self._replace("extractions", failed, extraction)

    async def track(self, conversation_id: ConversationId, up_to_turn: int | None, limit: int) -> list[TrackEntry]:
        query: dict[str, Any] = {"conversationId": conversation_id}
        if up_to_turn is not None:
            query["turn"] = {"$lte": up_to_turn}
        return await self._found(TrackEntry, "role_tracks", query, limit, [("turn", DESCENDING)])

    async def last_entries(self, conversation_id: ConversationId, turn: int) -> list[TrackEntry]:
        near = {"conversationId": conversation_id, "turn": {"$gte": turn - 1, "$lte": turn}}
        entries = await self._found(TrackEntry, "role_tracks", near, 2, [("turn", DESCENDING)])
        if turn == 1 or any(entry.turn < turn for entry in entries):
            return entries
        return [*entries, *await self.track(conversation_id, turn - 1, 1)]

    async def add_entry(self, entry: TrackEntry) -> None:
        await self._add("role_tracks", f"{entry.conversation_id}:{entry.turn}", entry)

    async def replace_failed_entry(self, entry: TrackEntry) -> None:
        failed = {"_id": f"{entry.conversation_id}:{entry.turn}", "decision": "FAILED"}
        await self._replace("role_tracks", failed, entry)

    async def _replace(self, collection: str, query: Mapping[str, Any], value: Wire) -> None:
        await self._write(collection, ReplaceOne(query, value.model_dump(by_alias=True)))

    async def dead_letters(self, wanted: Wanted, limit: int) -> list[DeadLetter]:
        query: dict[str, Any] = {
            name: value
            for name, value in (("_id", wanted.letter_id), ("sourceTopic", wanted.topic), ("key", wanted.key))
            if value is not None
        }
        times = {"$gte": wanted.since, "$lt": wanted.until}
        if bounds := {operator: time for operator, time in times.items() if time is not None}:
            query["createTime"] = bounds
        return await self._found(DeadLetter, "dead_letters", query, limit, [("createTime", ASCENDING)])

    async def add_dead_letter(self, letter: DeadLetter) -> None:
        try:
            await self._add("dead_letters", letter.letter_id, letter)
        except AlreadyStored:
            return


def _message_key(message: Message) -> str:
    return f"{message.conversation_id}:{message.turn}:{message.role}"


def _read(model: type[M], document: dict[str, Any]) -> M:
    """A stored document as its model; fields of a newer writer are passed over."""
    return model.model_validate(document, extra="ignore")
