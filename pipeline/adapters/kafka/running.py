"""Running the apps of one worker side by side, from the first connection to an orderly or a forced end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.adapters.outage import Patience
from pipeline.errors import Outage, Stuck

#: How long an app may take to stop beyond its drain deadline, in seconds.
_STOP_GRACE = 2.5


async def run_apps(
    apps: Sequence[ProcessorApp], stop: Callable[[], Awaitable[object]], started: Callable[[], None]
) -> None:
    """Run the apps side by side until `stop` returns; raises what it raises, or why an app cannot go on."""
    connection = apps[0].connection
    await Patience("Kafka", (Outage,))(connection.check)
    starting: asyncio.Future[Any] = asyncio.gather(*(app.start() for app in apps))
    stopping = asyncio.ensure_future(stop())
    crashes = [asyncio.create_task(app._crashed.wait()) for app in apps]
    ends: list[asyncio.Future[Any]] = [stopping, *crashes, *(app.failure for app in apps)]
    try:
        async with connection.explained():
            await asyncio.wait([starting, *ends], return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                started()
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if stopping.done():
                stopping.result()
            for app in apps:
                if app.failure.done():
                    app.failure.result()
                if app.crashed:
                    raise app.crash_reason or RuntimeError(f"{app.conf.id} crashed")
    finally:
        for task in (starting, stopping, *crashes):
            task.cancel()
        await _stop(apps)


async def _stop(apps: Sequence[ProcessorApp]) -> None:
    """Stop in order, but not for ever: without a broker Faust waits for one. Raises Stuck when it does."""
    stops = [asyncio.create_task(app.stop()) for app in apps]
    _, late = await asyncio.wait(stops, timeout=max(app.drain_timeout for app in apps) + _STOP_GRACE)
    if late:
        raise Stuck("Kafka does not answer: ended without it, what was not committed will be delivered again")
    await asyncio.gather(*stops)
