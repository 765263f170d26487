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


async def answers() -> None:
    """A broker that is there."""


async def test_a_listener_that_failed_is_started_again(caplog: pytest.LogCaptureFixture) -> None:
    """The hub and the log are told once of the failure and once that it is over, however often the start is tried."""
    ears, hub, begun = Ears(), Witness(), asyncio.Event()
    hearing = asyncio.create_task(api.keep_hearing(ears.listen, hub, begun, answers, 0))
    await begun.wait()
    ears._wont_start += [Outage("no broker answers"), Outage("no broker answers")]
    ears.fail(RuntimeError("it broke"))
    await hub.hears_again.wait()
    assert (ears.starts, ears.ends, hub.told) == (4, 1, ["it broke", "again"])
    assert [record.getMessage() for record in caplog.records] == [
        "events are heard no more: it broke",
        "events are heard again",
    ]
    hearing.cancel()
    await asyncio.wait({hearing})
    assert ears.ends == 2


async def test_hearing_ends_where_no_broker_answers() -> None:
    """A listener waits for its broker in silence, so the brokers are asked beside it."""
    ears, hub, begun = Ears(), Witness(), asyncio.Event()
    replies = iter([None, Outage("no broker at b:9092 answers")])

    async def check() -> None:
        if failure := next(replies, None):
            assert hub.told == []
            raise failure

    hearing = asyncio.create_task(api.keep_hearing(ears.listen, hub, begun, check, 0))
    await hub.hears_again.wait()
    assert (ears.starts, ears.ends, hub.told) == (2, 1, ["no broker at b:9092 answers", "again"])
    hearing.cancel()
    await asyncio.wait({hearing})


async def test_a_broker_that_takes_too_long_to_answer_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped takes connections and says nothing."""
    monkeypatch.setattr(api, "_PATIENCE", 0.01)
    ears, hub = Ears(), Witness()
    waits = iter([asyncio.Event().wait()])

    async def check() -> None:
        for wait in waits:
            await wait

    hearing = asyncio.create_task(api.keep_hearing(ears.listen, hub, asyncio.Event(), check, 0))
    await hub.hears_again.wait()
    assert hub.told == ["no broker answers", "again"]
    hearing.cancel()
    await asyncio.wait({hearing})


async def test_what_no_waiting_would_mend_ends_the_hearing() -> None:
    """A broker that refuses us is a wrong setting, at the start and later."""
    hearing = api.keep_hearing(Ears(SettingsInvalid("refused")).listen, Witness(), asyncio.Event(), answers)
    with pytest.raises(SettingsInvalid, match="refused"):
        await hearing
