"""How the HTTP API is put together: it goes on hearing, and its end is orderly."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from pipeline import api
from pipeline.errors import Outage, SettingsInvalid
from pipeline.web import Hub
from schemas.wire import Wire


class Ears:
    """A listener that can be told to fail, or that it cannot be started."""

    def __init__(self, *wont_start: Exception) -> None:
        self.starts, self.ends, self._wont_start = 0, 0, list(wont_start)
        self.fail: Callable[[Exception], None] = lambda failure: None

    @asynccontextmanager
    async def listen(self, heard: Callable[[Wire], None], failed: Callable[[Exception], None]) -> AsyncIterator[None]:
        self.starts += 1
        if self._wont_start:
            raise self._wont_start.pop(0)
        self.fail = failed
        try:
            yield
        finally:
            self.ends += 1


class Witness(Hub):
    """A hub that writes down what it is told of hearing."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.hears_again = asyncio.Event()

    def hear_no_more(self, failure: Exception) -> None:
        self.told.append(str(failure))

    def hear_again(self) -> None:
        self.told.append("again")
        self.hears_again.set()


async def test_a_listener_that_failed_is_started_again() -> None:
    """The hub is told of the failure and that it is over; while Kafka is away the start is tried again."""
    ears, hub, begun = Ears(), Witness(), asyncio.Event()
    hearing = asyncio.create_task(api.keep_hearing(ears.listen, hub, begun, 0))
    await begun.wait()
    ears._wont_start.append(Outage("no broker answers"))
    ears.fail(RuntimeError("it broke"))
    await hub.hears_again.wait()
    assert (ears.starts, ears.ends, hub.told) == (3, 1, ["it broke", "again"])
    hearing.cancel()
    await asyncio.wait({hearing})
    assert ears.ends == 2


async def test_what_no_waiting_would_mend_ends_the_hearing() -> None:
    """A broker that refuses us is a wrong setting, at the start and later."""
    hearing = api.keep_hearing(Ears(SettingsInvalid("refused")).listen, Witness(), asyncio.Event())
    with pytest.raises(SettingsInvalid, match="refused"):
        await hearing
