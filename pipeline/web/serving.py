"""Serving an application inside our own loop, with uvicorn."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from pipeline.errors import SettingsInvalid

#: Seconds that answers under way get at a stop.
_STOP_GRACE = 2
_BACKLOG = 2048


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's."""
        yield


@asynccontextmanager
async def serving(app: ASGIApp, host: str, port: int) -> AsyncIterator[int]:
    """Serve while the context is open, and give the port; raises SettingsInvalid when the address cannot be had."""
    listening = await _listen(host, port)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # an address that its caller may choose limits nobody
        timeout_graceful_shutdown=_STOP_GRACE,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
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
