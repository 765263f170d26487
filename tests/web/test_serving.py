"""Serving inside a loop that is ours: the address, a quick end, nothing said of the server."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from pipeline.errors import SettingsInvalid
from pipeline.web import serving

#: How finely time is counted, in seconds.
TICK = 0.02


@asynccontextmanager
async def timed() -> AsyncIterator[Callable[[], float]]:
    """Counts the seconds that the loop was there for; those in which a busy machine stood still are not its own."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(TICK)
            ticks += 1

    ticking = asyncio.create_task(tick())
    try:
        yield lambda: ticks * TICK
    finally:
        ticking.cancel()


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def test_it_can_be_called_at_the_port_that_it_gives(caplog: pytest.LogCaptureFixture) -> None:
    """Port 0 takes a free one; no header names the server, and no line is logged for a request."""
    caplog.set_level(logging.DEBUG)
    async with serving(hello, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}/?key=very-secret", headers={"Connection": "close"})
    assert answer.text == "hello"
    assert "server" not in answer.headers
    assert "very-secret" not in "".join(record.getMessage() for record in caplog.records if "uvicorn" in record.name)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize("host", ["127.0.0.1", "203.0.113.1", "no such host"])
async def test_an_address_that_cannot_be_had_is_a_wrong_setting(host: str) -> None:
    """A port that is taken, an address that is not ours and a name that is none are told by the settings' names."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsInvalid, match="ROLESTREAM_API__HOST and …__PORT"):
            async with serving(hello, host, port):
                pass


async def test_a_stop_ends_a_request_that_hangs(caplog: pytest.LogCaptureFixture) -> None:
    """It is answered with 503 within two seconds, and no error is logged."""
    begun = asyncio.Event()

    async def hang(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with httpx.AsyncClient(timeout=None) as client, timed() as seconds:
        async with serving(hang, "127.0.0.1", 0) as port:
            asking = asyncio.create_task(client.get(f"http://127.0.0.1:{port}/"))
            await begun.wait()
            stopped_at = seconds()
        assert seconds() - stopped_at < 2
        answer = await asking
    assert (answer.status_code, answer.json()["message"]) == (503, "the server is stopping: ask again later")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_request_may_run_out_of_its_own_time(caplog: pytest.LogCaptureFixture) -> None:
    """A TimeoutError of the application's is not taken for the end of the server."""

    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        raise TimeoutError("its own")

    async with serving(fail, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).status_code == 500
    assert "its own" in caplog.text


async def test_a_stop_ends_a_stream_within_two_seconds() -> None:
    """A stream that would never end does not keep the server."""
    begun = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        async def lines() -> object:
            yield b"one\n"
            begun.set()
            await asyncio.Event().wait()

        await StreamingResponse(lines())(scope, receive, send)  # type: ignore[arg-type]  # an async generator

    async def read(port: int) -> None:
        async with (
            httpx.AsyncClient(timeout=None) as client,
            client.stream("GET", f"http://127.0.0.1:{port}/") as answer,
        ):
            async for _ in answer.aiter_bytes():
                pass

    async with timed() as seconds:
        async with serving(endless, "127.0.0.1", 0) as port:
            reading = asyncio.create_task(read(port))
            await begun.wait()
            stopped_at = seconds()
        assert seconds() - stopped_at < 3
    await asyncio.wait({reading})
    assert reading.exception() is None or isinstance(reading.exception(), httpx.TransportError)
