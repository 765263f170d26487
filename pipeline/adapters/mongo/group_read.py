"""Group read: documents that are asked for by their keys while others are being read are read together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Document = dict[str, Any]
#: Reads the documents with some keys, in any order, without those that are not there.
Read = Callable[[Sequence[str]], Awaitable[Sequence[Document]]]
#: The keys of one who waits, and what is found.
_Asked = tuple[Sequence[str], asyncio.Future[list[Document]]]

#: The most keys of one read, but for one that asks for more: a database may take the square of their number.
_MOST = 32


class GroupRead:
    """Reads from one collection. A lone read goes at once; none is answered by one that began before it was asked."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._waiting: list[_Asked] = []
        self._reading: asyncio.Task[None] | None = None

    async def documents(self, keys: Sequence[str]) -> list[Document]:
        """Those that are there, in the order of the keys; raises what the read of its group raises."""
        found: asyncio.Future[list[Document]] = asyncio.get_running_loop().create_future()
        self._waiting.append((keys, found))
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        return await found

    async def _read_all(self) -> None:
        try:
            while self._waiting:
                await self._answer(self._next())
        finally:
            self._reading = None

    async def _answer(self, group: Sequence[_Asked]) -> None:
        try:
            read = await self._read(list(dict.fromkeys(key for keys, _ in group for key in keys)))
        except Exception as exc:
            if isinstance(exc, ValueError) and len(group) > 1:  # BSON cannot hold a key: it takes no other read with it
                for asked in group:
                    await self._answer([asked])
                return
            for _, found in group:
                if not found.done():
                    found.set_exception(exc)
            return
        by_key = {document["_id"]: document for document in read}
        for keys, found in group:
            if not found.done():  # else given up meanwhile
                found.set_result([by_key[key] for key in keys if key in by_key])

    def _next(self) -> Sequence[_Asked]:
        """The first that wait, as far as their keys fit."""
        count = taken = 0
        for keys, _ in self._waiting:
            count += len(keys)
            if taken and count > _MOST:
                break
            taken += 1
        group, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return group
