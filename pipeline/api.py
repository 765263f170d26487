"""Puts the HTTP API together from the settings, and serves it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pipeline.bootstrap import Listen, client_parts, first_of, kafka_connection, wait_for_topics
from pipeline.errors import Outage, SettingsInvalid
from pipeline.settings import ApiSettings, Settings

if TYPE_CHECKING:  # the web packages are an extra, and other commands do without
    from pipeline.web import Access, Hub, WebParts

log = logging.getLogger(__name__)

#: Seconds for which a request waits for a service that does not answer.
_PATIENCE = 5.0
#: Seconds between looks at whether the brokers answer, and before a listener is started again.
_PAUSE = 2.0
#: Seconds for the end of hearing; without a broker it takes longer.
_STOP_TIMEOUT = 1.0


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
                await asyncio.shield(hearing)
            finally:
                parts.hub.hear_no_more(Outage("the server is stopping"))
                hearing.cancel()


@asynccontextmanager
async def web_parts(settings: Settings) -> AsyncIterator[tuple["WebParts", asyncio.Future[None]]]:
    """What the routes work with, and the hearing of events, which ends by a failure alone."""
    from pipeline.web import Hub, WebParts  # noqa: PLC0415

    await wait_for_topics(settings)
    async with client_parts(settings, _PATIENCE) as (publisher, store, features, listen):
        hub, begun = Hub(), asyncio.Event()
        hearing = asyncio.ensure_future(keep_hearing(listen, hub, begun, kafka_connection(settings).check))
        try:
            await first_of(begun.wait(), asyncio.shield(hearing))
            yield WebParts(store, features, publisher, hub, lambda: datetime.now(UTC)), hearing
        finally:
            hearing.cancel()
            await asyncio.wait({hearing}, timeout=_STOP_TIMEOUT)


async def keep_hearing(
    listen: Listen, hub: "Hub", begun: asyncio.Event, check: Callable[[], Awaitable[None]], pause: float = _PAUSE
) -> None:
    """Hear until cancelled: a listener that failed, or whose brokers are gone, is started again until it can be.

    Both the end of hearing and its going on are logged once.
    """
    is_lost = False

    def lose(failure: Exception) -> None:
        nonlocal is_lost
        if not is_lost:
            hub.hear_no_more(failure)
            log.warning("events are heard no more: %s", failure, extra={"action": "hearing_ended"})
        is_lost = True

    while True:
        failed = asyncio.get_running_loop().create_future()
        try:
            async with listen(hub.hear, failed.set_result):
                if is_lost:
                    hub.hear_again()
                    log.warning("events are heard again", extra={"action": "hearing_began"})
                    is_lost = False
                begun.set()
                lose(await _end_of_hearing(failed, check, pause))
        except Outage as exc:
            lose(exc)
        await asyncio.sleep(pause)


async def _end_of_hearing(
    failed: asyncio.Future[Exception], check: Callable[[], Awaitable[None]], pause: float
) -> Exception:
    """What the listener fails of, or what `check` has against the brokers: a listener waits for them in silence."""
    while not (await asyncio.wait({failed}, timeout=pause))[0]:
        try:
            async with asyncio.timeout(_PATIENCE):
                await check()
        except Outage as exc:
            return exc
        except TimeoutError:
            return Outage("no broker answers")
    return failed.result()


def _access(api: ApiSettings) -> "Access":
    from pipeline.web import Access, Key  # noqa: PLC0415

    keys = [Key.of(granted.key.get_secret_value(), granted.scopes, granted.users) for granted in api.granted]
    return Access(keys, origins=api.origins)
