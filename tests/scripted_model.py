"""A scripted OpenAI-compatible server on a free loopback port; also a program of its own for load and kill tests."""

import argparse
import asyncio
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from aiohttp import web

from tests.scripted_replies import (
    Call,
    Reply,
    Script,
    default_extraction,
    default_reply,
    default_report,
    drops,
    fails,
    gives,
    hangs,
    refuses,
    response_of,
    says,
)

__all__ = [
    "Call",
    "Reply",
    "Script",
    "ScriptedModel",
    "default_extraction",
    "default_reply",
    "default_report",
    "drops",
    "fails",
    "gives",
    "hangs",
    "refuses",
    "says",
    "unreachable",
]


class ScriptedModel:
    """Replies from the script, then from `otherwise`; records every call and how many ran at once.

    Before the first reply to a call that is `held`, it waits until `together` calls have run at once.
    `async with ScriptedModel([fails(500), says("hello")]) as server:` serves at `server.base_url`.
    """

    def __init__(
        self,
        script: Iterable[Reply] = (),
        *,
        otherwise: Script = default_reply,
        latency: float = 0.0,
        port: int = 0,
        together: int = 1,
        held: Callable[[Call], bool] = lambda call: True,
    ) -> None:
        self.script: list[Reply] = list(script)
        self.otherwise, self.latency = otherwise, latency
        self.calls: list[Call] = []
        self.called = asyncio.Event()
        self.running = self.most_running = 0
        self._together, self._held, self._enough = together, held, asyncio.Event()
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/calls", self._report_calls)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        call = Call(await request.json(), dict(request.headers))
        self.calls.append(call)
        self.called.set()
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        if self.running >= self._together:
            self._enough.set()
        try:
            if self._held(call):
                await self._enough.wait()
            reply = self.script.pop(0) if self.script else self.otherwise(call)
            latency = self.latency if reply.latency is None else reply.latency
            if latency:
                await asyncio.sleep(latency)
        finally:
            self.running -= 1
        if reply.dropped and request.transport is not None:
            request.transport.close()
        return response_of(call, reply)

    async def _report_calls(self, _: web.Request) -> web.Response:
        return web.json_response({"calls": len(self.calls), "running": self.running, "mostRunning": self.most_running})


@contextmanager
def unreachable() -> Iterator[str]:
    """The base URL of a port that refuses connections: bound, so that nobody else takes it, and not listening."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


async def _serve(port: int, latency: float) -> None:
    async with ScriptedModel(port=port, latency=latency) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve default replies until interrupted; GET /calls tells how many calls came and how many ran at once."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 for a free one; the base URL is printed")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    arguments = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(arguments.port, arguments.latency))


if __name__ == "__main__":
    main()
