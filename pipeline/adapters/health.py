"""/live, /ready and /metrics over HTTP, for orchestrators and Prometheus."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web

from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.errors import SettingsInvalid
from pipeline.limits import Permits
from pipeline.metrics import Metrics, Reading
from pipeline.ports import Publisher, Store

#: How long the database may take to answer that it is there, in seconds.
_PING_TIMEOUT = 2.0


class Outside(Protocol):
    """The services that a worker depends on."""

    @property
    def publisher(self) -> Publisher: ...

    @property
    def store(self) -> Store: ...


async def live(apps: Sequence[ProcessorApp], outside: Outside, stall_after: float) -> str | None:
    """What is stuck: records are in work, none is finished, and no outage explains it."""
    if outside.publisher.is_away or outside.store.is_away:
        return None
    for app in apps:
        silent = time.monotonic() - app.dispatcher.progressed_at
        if app.dispatcher.unacked and silent > stall_after:
            return f"{app.processor.name} has finished nothing for {silent:.0f} s"
    return None


async def ready(apps: Sequence[ProcessorApp], outside: Outside) -> str | None:
    """What is missing: partitions dealt, work taken in, a database that answers."""
    for app in apps:
        if not app.is_assigned:
            return f"{app.processor.name} has no partitions yet"
        if app.dispatcher.draining:
            return f"{app.processor.name} is draining"
    try:
        await asyncio.wait_for(outside.store.ping(), _PING_TIMEOUT)
    except TimeoutError:
        return "MongoDB does not answer"
    return None


def observe(apps: Sequence[ProcessorApp], permits: Permits, metrics: Metrics) -> None:
    """Add the gauges that are read from the processors themselves."""

    def of_each(read: Callable[[ProcessorApp], float]) -> Callable[[], Iterable[Reading]]:
        return lambda: [((app.processor.name,), read(app)) for app in apps]

    def lag() -> Iterable[Reading]:
        return [((app.processor.name, topic), float(lag)) for app in apps for topic, lag in app.lag().items()]

    label = ("processor",)
    metrics.gauge("lag", "Records of our partitions that are not committed.", ("processor", "topic"), lag)
    metrics.gauge(
        "oldest_unacked_seconds",
        "Age of the oldest record taken in and not acknowledged.",
        label,
        of_each(lambda app: app.dispatcher.oldest_unacked()),
    )
    metrics.gauge(
        "model_running",
        "Model calls under way.",
        ("stage",),
        lambda: [((stage,), running) for stage, running in permits.running.items()],
    )
    metrics.gauge("running", "Keys in work.", label, of_each(lambda app: app.dispatcher.running))
    metrics.gauge(
        "window_fill",
        "Share of the records that may be held unacknowledged, 0 to 1.",
        label,
        of_each(lambda app: app.dispatcher.unacked / app.dispatcher.max_unacked),
    )


#: Says what is wrong in one line, or None.
Check = Callable[[], Awaitable[str | None]]


@asynccontextmanager
async def health_server(
    host: str, port: int, *, live: Check, ready: Check, metrics: Callable[[], bytes]
) -> AsyncIterator[int]:
    """Serve while the context is open, and give the port; a check that fails answers 503 and says why.

    Raises SettingsInvalid when the address cannot be had.
    """

    def answer(check: Check) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(_: web.Request) -> web.Response:
            wrong = await check()
            return web.Response(text=f"{wrong or 'ok'}\n", status=503 if wrong else 200)

        return handle

    async def figures(_: web.Request) -> web.Response:
        return web.Response(body=metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    app = web.Application()
    app.add_routes([web.get("/live", answer(live)), web.get("/ready", answer(ready)), web.get("/metrics", figures)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as exc:
            raise SettingsInvalid(f"ROLESTREAM_HEALTH__HOST and …__PORT: {exc}") from exc
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
