"""Serving an application inside our own loop, with uvicorn."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.errors import SettingsInvalid
from pipeline.web.envelope import ApiError
from pipeline.web.limits import HEADERS

#: Seconds that answers under way get at a stop.
_STOP_GRACE = 1
_BACKLOG = 2048


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's."""
        yield


class _Endable:
    """An application whose requests under way can be given an end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._limits: set[asyncio.Timeout] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def noting(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        limit = asyncio.timeout(None)
        self._limits.add(limit)
        try:
            async with limit:
                await self._app(scope, receive, noting)
        except TimeoutError:
            if not limit.expired():
                raise
            if not has_begun:
                headers = HEADERS | {"Cache-Control": "no-store", "Retry-After": "5"}
                stopping = ApiError(503, "the server is stopping: ask again later", headers=headers)
                await stopping.response()(scope, receive, send)
        finally:
            self._limits.discard(limit)

    def end(self, when: float) -> None:
        """At this time of the loop's."""
        for limit in self._limits:
            limit.reschedule(when)


@asynccontextmanager
async def serving(app: ASGIApp, host: str, port: int) -> AsyncIterator[int]:
    """Serve while the context is open, and give the port; raises SettingsInvalid when the address cannot be had."""
    listening = await _listen(host, port)
    endable = _Endable(app)
    config = uvicorn.Config(
        endable,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # an address that its caller may choose limits nobody
        timeout_graceful_shutdown=_STOP_GRACE + 1,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        endable.end(asyncio.get_running_loop().time() + _STOP_GRACE)
        await running


async def _listen(host: str, port: int) -> socket.socket:
    """Bound and listening, so that whoever is told the port can connect at once."""
    listening = None
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as exc:
        if listening is not None:
            listening.close()
        raise SettingsInvalid(f"ROLESTREAM_API__HOST and …__PORT: {exc}") from exc
    return listening
