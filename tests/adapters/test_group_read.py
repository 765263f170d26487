"""Reads by key in groups: fewer commands under load, and each reader's own documents."""

import asyncio
from collections.abc import Sequence

import pytest
from pymongo.errors import ConnectionFailure

from pipeline.adapters.mongo.group_read import Document, GroupRead


class Counted:
    """A collection of the documents a to e that counts what it is asked for; no read ends before it is `free`."""

    def __init__(self, failure: Exception | None = None) -> None:
        self._failure = failure
        self.groups: list[Sequence[str]] = []
        self.free = asyncio.Event()
        self.free.set()

    async def read(self, keys: Sequence[str]) -> Sequence[Document]:
        self.groups.append(keys)
        await self.free.wait()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return [{"_id": key} for key in "edcba" if key in keys]


def names(documents: Sequence[Document]) -> list[str]:
    return [document["_id"] for document in documents]


async def waiting(group: GroupRead, *asked: Sequence[str]) -> list[asyncio.Task[list[Document]]]:
    """Readers that have asked and are not answered."""
    tasks = [asyncio.create_task(group.documents(keys)) for keys in asked]
    while len(group._waiting) < len(tasks):
        await asyncio.sleep(0)
    return tasks


async def test_reads_that_wait_go_together() -> None:
    """The first goes at once and alone; those that came meanwhile are one read of each key once, in their own order."""
    counted = Counted()
    counted.free.clear()
    group = GroupRead(counted.read)
    first = asyncio.create_task(group.documents(["a"]))
    while not counted.groups:
        await asyncio.sleep(0)
    others = await waiting(group, ["b", "a"], ["nobody"], ["b", "nobody", "c"], [])
    counted.free.set()
    assert names(await first) == ["a"]
    assert [names(await other) for other in others] == [["b", "a"], [], ["b", "c"], []]
    assert counted.groups == [["a"], ["b", "a", "nobody", "c"]]


async def test_a_read_is_bounded() -> None:
    """Readers whose keys do not fit into one read wait for the next; one that asks for more has a read of its own."""
    counted = Counted()
    group, many = GroupRead(counted.read), [str(number) for number in range(50)]
    await asyncio.gather(*(group.documents([f"{number}", f"{number}+"]) for number in range(20)), group.documents(many))
    assert [len(keys) for keys in counted.groups] == [32, 8, 50]


async def test_a_failed_read_is_the_trouble_of_its_group_alone() -> None:
    """Whoever asks after it is read for."""
    group = GroupRead(Counted(ConnectionFailure("gone")).read)
    failed = await asyncio.gather(group.documents(["a"]), group.documents(["b"]), return_exceptions=True)
    assert all(isinstance(outcome, ConnectionFailure) for outcome in failed)
    assert names(await group.documents(["a"])) == ["a"]


async def test_a_key_that_cannot_be_sent_takes_no_other_read_with_it() -> None:
    """As of half an emoji: who asks for it is told, and the others of its group have theirs."""

    async def read(keys: Sequence[str]) -> Sequence[Document]:
        return [{"_id": key} for key in keys if key.encode()]

    bad, good = await waiting(GroupRead(read), ["\ud83d"], ["a"])
    with pytest.raises(UnicodeEncodeError):
        await bad
    assert names(await good) == ["a"]


async def test_a_reader_that_gives_up_leaves_the_others_theirs() -> None:
    """Cancelling one of a group cancels no other."""
    counted = Counted()
    counted.free.clear()
    group = GroupRead(counted.read)
    given_up, kept = asyncio.create_task(group.documents(["a"])), asyncio.create_task(group.documents(["b"]))
    while not counted.groups:
        await asyncio.sleep(0)
    given_up.cancel()
    counted.free.set()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert names(await kept) == ["b"]
