"""How fast a model server is called: its rate limits slow calls down, and its failures stop them for a while."""

import asyncio
import time
from collections.abc import Callable

Clock = Callable[[], float]


class Bucket:
    """An allowance a minute, used up to the full minute at once; what was overdrawn is waited for."""

    def __init__(self, per_minute: float | None, now: Clock = time.monotonic) -> None:
        self._rate = None if per_minute is None else per_minute / 60
        self._left = self._most = per_minute or 0.0
        self._now, self._at = now, now()

    def take(self, amount: float) -> None:
        """Use some of it up, more than is left if need be."""
        self._fill()
        self._left -= amount

    def wait(self) -> float:
        """Seconds until something is left; 0 where nothing is limited."""
        if self._rate is None:
            return 0.0
        self._fill()
        return max(0.0, (1 - self._left) / self._rate) if self._left < 1 else 0.0

    def _fill(self) -> None:
        now = self._now()
        self._left = min(self._most, self._left + (now - self._at) * (self._rate or 0))
        self._at = now


class Pace:
    """Holds calls back while the server wants no more, by our own allowance and by its word."""

    def __init__(
        self, requests_a_minute: float | None = None, tokens_a_minute: float | None = None, now: Clock = time.monotonic
    ) -> None:
        self._requests, self._tokens = Bucket(requests_a_minute, now), Bucket(tokens_a_minute, now)
        self._now, self._not_before = now, 0.0

    async def turn(self) -> None:
        """Wait until a call may be made; each caller looks again, for many wait at once."""
        while wait := max(0.0, self._requests.wait(), self._tokens.wait(), self._not_before - self._now()):  # noqa: ASYNC110 - no event tells that time has passed
            await asyncio.sleep(wait)
        self._requests.take(1)

    def spent(self, tokens: int) -> None:
        """Count the tokens of a call that was made."""
        self._tokens.take(tokens)

    def hold_off(self, seconds: float) -> None:
        """Make no call for so long: the server has turned one away."""
        self._not_before = max(self._not_before, self._now() + seconds)


class Breaker:
    """Opens after `limit` failures in a row; then one call every `pause` seconds finds out whether it is over."""

    def __init__(self, limit: int = 10, pause: float = 10.0, now: Clock = time.monotonic) -> None:
        self._limit, self._pause, self._now = limit, pause, now
        self._failures, self._until = 0, 0.0

    @property
    def is_open(self) -> bool:
        return self._failures >= self._limit

    def admits(self) -> bool:
        """Whether a call may be made now; where it is a probe, the next one comes after another pause."""
        if not self.is_open:
            return True
        if self._now() < self._until:
            return False
        self._until = self._now() + self._pause
        return True

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        if self._failures == self._limit:
            self._until = self._now() + self._pause
