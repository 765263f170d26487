"""Kafka and MongoDB without installing either: the Tansu broker and SecantusDB, run beside us and ended with us."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pipeline.adapters.embedded.child import Child
from pipeline.adapters.embedded.programs import find_broker, find_database, mongo_url

__all__ = ["Services", "embedded_services"]


@dataclass(frozen=True)
class Services:
    """Where the two listen."""

    brokers: str
    mongo_url: str
    children: tuple[Child, ...]

    async def watch(self) -> NoReturn:
        """Wait until one of the two ends by itself, and raise Unavailable that says which and why."""
        waits = [asyncio.ensure_future(child.wait()) for child in self.children]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for wait in waits:
                wait.cancel()
        raise next(failure for wait in waits if not wait.cancelled() and (failure := wait.exception()))


@asynccontextmanager
async def embedded_services(data_dir: Path | None = None) -> AsyncIterator[Services]:
    """A broker and a database on free loopback ports, answering; both are ended on the way out and never outlive us.

    The database's data is kept in `data_dir`, or removed at the end where that is None; the broker's is never kept.
    Raises Unavailable.
    """
    broker, database = children = Child(find_broker()), Child(find_database(data_dir))
    try:
        # Not a task group: where one fails, the other's start must be over too before both are ended.
        for failure in await asyncio.gather(*(child.start() for child in children), return_exceptions=True):
            if failure:
                raise failure
        yield Services(f"127.0.0.1:{broker.port}", mongo_url(database.port), children)
    finally:
        await asyncio.gather(*(child.stop() for child in children))
