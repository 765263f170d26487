"""Waiting out an outage of Kafka or MongoDB: backoff, one log line a state, never a flood."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pipeline.errors import Outage

log = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class Patience:
    """Tries again while a service is away: for `limit` seconds, or for as long as it takes.

    Raises Outage when the limit is over.
    """

    def __init__(self, service: str, away: tuple[type[BaseException], ...], limit: float | None = None) -> None:
        self._service, self._away, self._limit = service, away, limit
        self.is_away = False
        """Whether the service was away when it was last tried."""

    async def __call__(self, attempt: Callable[[], Awaitable[T]]) -> T:
        pause, begun = _FIRST_PAUSE, time.monotonic()
        while True:
            try:
                result = await attempt()
            except self._away as exc:
                self._lost(exc)
                if self._limit is not None and time.monotonic() - begun + pause > self._limit:
                    raise Outage(f"{self._service} cannot be reached: {_first_line(exc)}") from exc
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                self._found()
                return result

    def _lost(self, exc: BaseException) -> None:
        if not self.is_away:
            self.is_away = True
            log.warning("%s is away, waiting: %s", self._service, _first_line(exc), extra={"action": "outage_began"})

    def _found(self) -> None:
        if self.is_away:
            self.is_away = False
            log.warning("%s is back", self._service, extra={"action": "outage_ended"})


def _first_line(exc: BaseException) -> str:
    return (str(exc) or type(exc).__name__).splitlines()[0][:300]
