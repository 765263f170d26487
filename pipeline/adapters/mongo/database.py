"""A MongoDB database on motor: keyed writes that succeed once, reads as our models, outages waited out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import ASCENDING, InsertOne, ReadPreference
from pymongo.errors import ConfigurationError, ConnectionFailure, DuplicateKeyError, OperationFailure

from pipeline.adapters.mongo.group_commit import GroupCommit, Write
from pipeline.adapters.mongo.group_read import Document, GroupRead
from pipeline.adapters.outage import Patience
from pipeline.errors import AlreadyStored, SettingsInvalid
from schemas.wire import Wire

M = TypeVar("M", bound=Wire)
T = TypeVar("T")

Collection = AsyncIOMotorCollection[dict[str, Any]]

#: Unique indexes by collection, beside the `_id` that the code makes from the key.
_UNIQUE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "conversations": (("conversationId",),),
    "messages": (("conversationId", "messageId"),),
    "extractions": (("conversationId", "questionId"),),
    "role_tracks": (("conversationId", "turn"), ("conversationId", "questionId")),
    "user_features": (("userId", "slot"),),
    "user_profiles": (("userId",),),
    "tombstones": (("hash",),),
    "dead_letters": (("processor", "sourceTopic", "sourcePartition", "sourceOffset"),),
}
#: Other indexes: what is read in the order of turns, and what forgetting removes by.
_PLAIN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "conversations": (("userId", "lastActiveTime", "_id"), ("lastActiveTime", "_id"), ("awaitsSummary",)),
    "messages": (("conversationId", "turn"), ("userId",)),
    "extractions": (("userId",),),
    "role_tracks": (("userId",),),
    "user_features": (("lastSeenTime",),),
    "dead_letters": (("userId",), ("conversationId",), ("createTime",), ("sourceTopic",)),
}
_SELECTION_TIMEOUT_MS = 2000
#: Error codes: not authorized, authentication failed, and Atlas' word for both.
_REFUSED = {13, 18, 8000}
#: Error codes of a server that changes its role, shuts down, is overloaded or cannot replicate in time.
_PASSING = {6, 7, 50, 64, 89, 91, 112, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
_SOCKET_TIMEOUT_MS = 20_000


class Database:
    """While MongoDB is away a call waits: `patience` seconds, or for as long as it takes.

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
        self._group_reads: dict[str, GroupRead] = {}
        self._patiently = Patience("MongoDB", (ConnectionFailure,), patience)

    def collection(self, collection: str) -> Collection:
        """Kept, for motor makes a new object with every look-up."""
        if collection not in self._collections:
            self._collections[collection] = self._database[collection]
        return self._collections[collection]

    async def do(self, operation: Callable[[], Awaitable[T]]) -> T:
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
        for name, keys in _PLAIN.items():
            for key in keys:
                await self._index(name, key, unique=False)

    async def _index(self, collection: str, fields: tuple[str, ...], *, unique: bool) -> None:
        keys = [(field, ASCENDING) for field in fields]
        await self.do(lambda: self.collection(collection).create_index(keys, unique=unique))

    async def ping(self) -> None:
        """Raises Outage when MongoDB cannot be reached within the patience."""
        await self.do(lambda: self._database.command("ping"))

    async def aclose(self) -> None:
        self._client.close()

    async def one(self, model: type[M], collection: str, query: Mapping[str, Any]) -> M | None:
        document = await self.do(lambda: self.collection(collection).find_one(query))
        return None if document is None else _read(model, document)

    async def documents(self, collection: str, *keys: str) -> list[Document]:
        """Those of the keys that are there, in the keys' order."""

        async def read(keys: Sequence[str]) -> Sequence[Document]:
            query = {"_id": keys[0] if len(keys) == 1 else {"$in": keys}}
            return await self.do(lambda: self.collection(collection).find(query).to_list(None))

        if collection not in self._group_reads:
            self._group_reads[collection] = GroupRead(read)
        return await self._group_reads[collection].documents(keys)

    async def by_keys(self, model: type[M], collection: str, *keys: str) -> list[M]:
        return [_read(model, document) for document in await self.documents(collection, *keys)]

    async def by_key(self, model: type[M], collection: str, key: str) -> M | None:
        return next(iter(await self.by_keys(model, collection, key)), None)

    async def found(
        self, model: type[M], collection: str, query: Mapping[str, Any], limit: int, sort: list[tuple[str, int]]
    ) -> list[M]:
        documents = await self.do(
            lambda: self.collection(collection).find(query).sort(sort).limit(limit).to_list(limit)
        )
        return [_read(model, document) for document in documents]

    async def write(self, collection: str, write: Write) -> None:
        if collection not in self._groups:
            self._groups[collection] = GroupCommit(self.collection(collection))
        await self.do(lambda: self._groups[collection].write(write))

    async def add(self, collection: str, key: str, value: Wire) -> None:
        await self.write(collection, InsertOne({"_id": key, **value.model_dump(by_alias=True)}))

    async def replace(self, collection: str, query: Mapping[str, Any], value: Wire) -> bool:
        """Whether the document that the query means was there to be replaced."""
        document = value.model_dump(by_alias=True)
        result = await self.do(lambda: self.collection(collection).replace_one(query, document))
        return bool(result.matched_count)

    async def remove(self, collection: str, query: Mapping[str, Any]) -> int:
        """How many documents were removed."""
        result = await self.do(lambda: self.collection(collection).delete_many(query))
        return int(result.deleted_count)


def _read(model: type[M], document: dict[str, Any]) -> M:
    """A stored document as its model; fields of a newer writer are passed over."""
    return model.model_validate(document, extra="ignore")
