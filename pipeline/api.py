"""Puts the HTTP API together from the settings, and serves it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from pipeline.adapters.outage import Patience
from pipeline.bootstrap import Listen, client_parts, first_of, wait_for_topics
from pipeline.errors import Outage, SettingsInvalid
from pipeline.settings import ApiSettings, Settings

if TYPE_CHECKING:  # the web packages are an extra, and other commands do without
    from pipeline.web import Access, Hub, WebParts

#: Seconds for which a request waits for a service that does not answer.
_PATIENCE = 5.0


async def serve_api(
    settings: Settings,
    stop: Callable[[], Awaitable[object]],
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until `stop` returns, be it before it has begun; `started` is told the address.

    Waits at the start while Kafka is away; raises SettingsInvalid for what no waiting would mend.
    """
    serving = asyncio.ensure_future(_serve(settings, started))
    try:
        await first_of(stop(), asyncio.shield(serving))
    finally:
        serving.cancel()
        await asyncio.wait({serving})


async def _serve(settings: Settings, started: Callable[[str], None]) -> None:
    try:
        from pipeline.web import application, serving  # noqa: PLC0415
    except ImportError as exc:
        raise SettingsInvalid(f"the HTTP API needs the extra: pip install 'rolestream[api]' ({exc})") from exc
    host = settings.api.host
    async with web_parts(settings) as (parts, hearing):
        app = application(parts, _access(settings.api), requests_a_minute=settings.api.requests_a_minute)
        async with serving(app, host, settings.api.port) as port:
            started(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
            try:
                await hearing
            finally:
                parts.hub.hear_no_more(Outage("the server is stopping"))


@asynccontextmanager
async def web_parts(settings: Settings) -> AsyncIterator[tuple["WebParts", asyncio.Future[None]]]:
    """What the routes work with, and the hearing of events, which ends by a failure alone."""
    from pipeline.web import Hub, WebParts  # noqa: PLC0415

    await wait_for_topics(settings)
    async with client_parts(settings, _PATIENCE) as (publisher, store, features, listen):
        hub, begun = Hub(), asyncio.Event()
        hearing = asyncio.ensure_future(keep_hearing(listen, hub, begun))
        try:
            await first_of(begun.wait(), asyncio.shield(hearing))
            yield WebParts(store, features, publisher, hub, lambda: datetime.now(UTC)), hearing
        finally:
            hearing.cancel()
            await asyncio.wait({hearing})


async def keep_hearing(listen: Listen, hub: "Hub", begun: asyncio.Event, pause: float = 1.0) -> None:
    """Hear until cancelled: a listener that failed is started again, after so many seconds and once Kafka is there."""
    patiently = Patience("Kafka", (Outage,))
    while True:
        failed = asyncio.Event()
        async with await patiently(partial(_opened, listen, hub, failed)):
            if begun.is_set():
                hub.hear_again()
            begun.set()
            await failed.wait()
        await asyncio.sleep(pause)


async def _opened(listen: Listen, hub: "Hub", failed: asyncio.Event) -> AsyncExitStack:
    def end(failure: Exception) -> None:
        hub.hear_no_more(failure)
        failed.set()

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(listen(hub.hear, end))
        return stack.pop_all()


def _access(api: ApiSettings) -> "Access":
    from pipeline.web import Access, Key  # noqa: PLC0415

    keys = [Key.of(granted.key.get_secret_value(), granted.scopes, granted.users) for granted in api.granted]
    return Access(keys, origins=api.origins)
