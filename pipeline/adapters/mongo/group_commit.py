"""Group commit: writes that arrive while others are under way go to MongoDB together, each with its own outcome."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from motor.motor_asyncio import AsyncIOMotorCollection
from pymongo import InsertOne, ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, DocumentTooLarge, DuplicateKeyError, OperationFailure, PyMongoError

Write = InsertOne[dict[str, Any]] | ReplaceOne[dict[str, Any]] | UpdateOne

#: The most writes of one group; a longer one keeps the first waiting for the last.
_MOST = 100
_DUPLICATE_KEY = 11000


class GroupCommit:
    """Writes to one collection. A lone write goes at once, so that grouping costs no time where there is no load."""

    def __init__(self, collection: AsyncIOMotorCollection[dict[str, Any]]) -> None:
        self._collection = collection
        self._waiting: list[tuple[Write, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, write: Write) -> None:
        """Return when MongoDB has confirmed; raises what pymongo raises for this write alone."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((write, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await done

    async def _write_all(self) -> None:
        try:
            while wanted := [one for one in self._waiting if not one[1].done()]:  # without who gave up
                group, self._waiting = wanted[:_MOST], wanted[_MOST:]
                outcomes = await self._outcomes([write for write, _ in group])
                for (_, done), outcome in zip(group, outcomes, strict=True):
                    if done.done():
                        continue  # given up meanwhile
                    if outcome is None:
                        done.set_result(None)
                    else:
                        done.set_exception(outcome)
        finally:
            self._writing = None

    async def _outcomes(self, writes: Sequence[Write]) -> Sequence[Exception | None]:
        """What became of each write: None where it was made."""
        try:
            await self._collection.bulk_write(writes, ordered=False)
        except BulkWriteError as exc:
            return _by_write(len(writes), exc.details or {})
        except PyMongoError as exc:
            if isinstance(exc, DocumentTooLarge) and len(writes) > 1:
                return await self._one_by_one(writes)
            return [exc] * len(writes)
        except Exception as exc:  # BSON cannot hold it
            return [exc] if len(writes) == 1 else await self._one_by_one(writes)
        return [None] * len(writes)

    async def _one_by_one(self, writes: Sequence[Write]) -> Sequence[Exception | None]:
        """What cannot be sent takes none of the others with it."""
        return [(await self._outcomes([write]))[0] for write in writes]


def _by_write(count: int, details: Mapping[str, Any]) -> Sequence[Exception | None]:
    unconfirmed = details.get("writeConcernErrors") or []
    outcomes: list[PyMongoError | None] = [_failure(unconfirmed[0]) if unconfirmed else None] * count
    for error in details.get("writeErrors", []):
        outcomes[error["index"]] = _failure(error)
    return outcomes


def _failure(error: Mapping[str, Any]) -> PyMongoError:
    kind = DuplicateKeyError if error.get("code") == _DUPLICATE_KEY else OperationFailure
    return kind(str(error.get("errmsg")), error.get("code"), error)
