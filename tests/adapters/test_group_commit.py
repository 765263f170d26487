"""Writes in groups, on a real server: fewer commands under load, and each write's own outcome."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, ConnectionFailure, DuplicateKeyError, OperationFailure

from pipeline.adapters.embedded import Services
from pipeline.adapters.mongo.group_commit import GroupCommit, Write
from tests.conftest import Names

Documents = AsyncIOMotorCollection[dict[str, Any]]


@pytest.fixture
async def documents(services: Services, names: Names) -> AsyncIterator[Documents]:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(services.mongo_url)
    yield client[names.database]["documents"]
    client.close()


class Counted:
    """A collection that counts its commands, and raises once what it is told to; none ends before it is `free`."""

    def __init__(self, documents: Documents | None, failure: Exception | None = None) -> None:
        self._documents, self._failure = documents, failure
        self.groups: list[int] = []
        self.free = asyncio.Event()
        self.free.set()

    async def bulk_write(self, writes: Sequence[Write], *, ordered: bool) -> None:
        self.groups.append(len(writes))
        await self.free.wait()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._documents is not None:
            await self._documents.bulk_write(writes, ordered=ordered)


def insert(number: int, **fields: Any) -> InsertOne[dict[str, Any]]:
    return InsertOne({"_id": number, **fields})


async def outcomes(group: GroupCommit, *writes: Write) -> list[BaseException | None]:
    return list(await asyncio.gather(*(group.write(write) for write in writes), return_exceptions=True))


async def test_writes_that_wait_go_together(documents: Documents) -> None:
    """The first goes at once and alone; the 120 that came meanwhile need two commands, and all are there."""
    counted = Counted(documents)
    counted.free.clear()
    group = GroupCommit(counted)  # type: ignore[arg-type]
    first = asyncio.create_task(group.write(insert(0)))
    while not counted.groups:
        await asyncio.sleep(0)
    others = asyncio.create_task(outcomes(group, *map(insert, range(1, 121))))
    while len(group._waiting) < 120:
        await asyncio.sleep(0)
    counted.free.set()
    assert await others == [None] * 120
    await first
    assert counted.groups == [1, 100, 20]
    assert await documents.count_documents({}) == 121


async def test_each_write_has_its_own_outcome(documents: Documents) -> None:
    """A taken key, a command that the server refuses and a good write in one group fail and succeed apart."""
    await documents.insert_one({"_id": 1})
    refused = UpdateOne({"_id": 1}, {"$nonsense": {"a": 1}})
    taken, bad, good = await outcomes(GroupCommit(documents), insert(1), refused, insert(2))
    assert isinstance(taken, DuplicateKeyError)
    assert isinstance(bad, OperationFailure)
    assert good is None
    assert await documents.count_documents({}) == 2


async def test_what_cannot_be_sent_takes_nothing_with_it(documents: Documents) -> None:
    """A document that BSON cannot hold fails alone; the others of its group are written."""
    first, bad, last = await outcomes(GroupCommit(documents), insert(1), insert(2, value=2**80), insert(3))
    assert (first, last) == (None, None)
    assert isinstance(bad, OverflowError)
    assert {document["_id"] async for document in documents.find()} == {1, 3}


async def test_a_lost_connection_is_every_writers_trouble() -> None:
    """Nobody is told that a write was made when nobody knows; what is tried again goes through."""
    group = GroupCommit(Counted(None, ConnectionFailure("gone")))  # type: ignore[arg-type]
    assert all(isinstance(outcome, ConnectionFailure) for outcome in await outcomes(group, insert(1), insert(2)))
    assert await outcomes(group, insert(1), insert(2)) == [None, None]


async def test_a_write_that_was_not_replicated_is_not_confirmed() -> None:
    """Where a replica set cannot confirm, every write of the group fails with the server's word for it."""
    unconfirmed = {"writeConcernErrors": [{"code": 64, "errmsg": "waiting for replication timed out"}]}
    group = GroupCommit(Counted(None, BulkWriteError(unconfirmed)))  # type: ignore[arg-type]
    for outcome in await outcomes(group, insert(1), insert(2)):
        assert isinstance(outcome, OperationFailure)
        assert outcome.code == 64


async def test_a_writer_that_gives_up_leaves_the_others_theirs(documents: Documents) -> None:
    """Cancelling one of a group cancels no other, and what was not sent by then is not sent later."""
    group = GroupCommit(documents)
    given_up, kept = (asyncio.create_task(group.write(insert(number))) for number in (1, 2))
    await asyncio.sleep(0)
    given_up.cancel()
    await kept
    assert {document["_id"] async for document in documents.find()} == {2}


async def test_a_refusal_of_the_whole_group_is_not_tried_one_by_one() -> None:
    """A server that refuses us is asked once, not once a write."""
    counted = Counted(None, OperationFailure("not authorized", 13))
    group = GroupCommit(counted)  # type: ignore[arg-type]
    assert all(isinstance(outcome, OperationFailure) for outcome in await outcomes(group, insert(1), insert(2)))
    assert counted.groups == [2]
