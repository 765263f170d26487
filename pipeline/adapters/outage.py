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
        self._waiting = 0
        self._is_said = False

    @property
    def is_away(self) -> bool:
        """Whether a call is waiting for the service."""
        return self._waiting > 0

    @property
    def is_over(self) -> bool:
        """Whether the last outage that was said has ended; an attempt that succeeds ends it."""
        return not self._is_said

    async def __call__(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            result = await attempt()
        except self._away as exc:
            result = await self._wait_out(attempt, exc)
        if self._is_said and not self._waiting:
            log.warning("%s is back", self._service, extra={"action": "outage_ended"})
            self._is_said = False
        return result

    async def _wait_out(self, attempt: Callable[[], Awaitable[T]], failure: BaseException) -> T:
        self._say_once(failure)
        self._waiting += 1
        try:
            return await self._try_again(attempt, failure)
        finally:
            self._waiting -= 1

    async def _try_again(self, attempt: Callable[[], Awaitable[T]], failure: BaseException) -> T:
        pause, begun = _FIRST_PAUSE, time.monotonic()
        while True:
            if self._limit is not None and time.monotonic() - begun + pause > self._limit:
                raise Outage(f"{self._service} cannot be reached: {_first_line(failure)}") from failure
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, _LONGEST_PAUSE)
            try:
                return await attempt()
            except self._away as exc:
                failure = exc

    def _say_once(self, exc: BaseException) -> None:
        """However many calls wait, and give up."""
        if not self._is_said:
            log.warning("%s is away, waiting: %s", self._service, _first_line(exc), extra={"action": "outage_began"})
        self._is_said = True


def _first_line(exc: BaseException) -> str:
    return (str(exc) or type(exc).__name__).splitlines()[0].partition(" (configured timeouts")[0][:300]
