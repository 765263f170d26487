"""How fast a model server is called: its rate limits slow calls down, and its failures stop them for a while."""

import asyncio
import time
from collections.abc import Awaitable, Callable

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[object]]

#: Seconds between calls once one was turned away, at first and at most; how a call that was turned away and one that
#: was answered change it. A server may count what it turns away: to come back with all calls at once would never end.
_FIRST_GAP, _LONGEST_GAP = 0.05, 0.5
_TURNED_AWAY, _ANSWERED = 1.5, 0.93


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
    """Holds calls back while the server wants no more, by our own allowance and by its word.

    What became of a call that began before the last slowing down says nothing of the pace since.
    """

    def __init__(
        self,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
        now: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._requests, self._tokens = Bucket(requests_a_minute, now), Bucket(tokens_a_minute, now)
        self._now, self._sleep = now, sleep
        self._not_before, self._last = 0.0, 0.0
        self._slowed_at = float("-inf")
        self.gap = 0.0
        """Seconds between two calls."""
        self._queue = asyncio.Lock()

    async def opens(self) -> None:
        """Wait until a call may begin: first come, first served."""
        async with self._queue:
            while wait := self._wait():
                await self._sleep(wait)

    def begins(self) -> float | None:
        """Count a call, and give the moment it begins; None, and nothing counted, where none may begin now."""
        if self._wait():
            return None
        self._requests.take(1)
        self._last = self._now()
        return self._last

    def _wait(self) -> float:
        earliest = max(self._not_before, self._last + self.gap)
        return max(0.0, self._requests.wait(), self._tokens.wait(), earliest - self._now())

    def spent(self, tokens: int) -> None:
        """Count the tokens of a call that was made."""
        self._tokens.take(tokens)

    def hold_off(self, seconds: float, begun: float) -> None:
        """Begin no call for so long, and then fewer: the server has turned one away."""
        now = self._now()
        if begun > self._slowed_at:
            self.gap = min(max(_FIRST_GAP, self.gap * _TURNED_AWAY), _LONGEST_GAP)
            self._slowed_at = now
        self._not_before = max(self._not_before, now + seconds)

    def answered(self, begun: float) -> None:
        """Begin more calls again, little by little."""
        if begun > self._slowed_at:
            self.gap = self.gap * _ANSWERED if self.gap > 0.001 else 0.0


class Spell:
    """Something that keeps happening, told when it begins and when it has not happened for `quiet` seconds."""

    def __init__(self, quiet: float = 60.0, now: Clock = time.monotonic) -> None:
        self._quiet, self._now = quiet, now
        self._count, self._last = 0, 0.0

    def happened(self) -> bool:
        """Whether this is the first time."""
        self._count += 1
        self._last = self._now()
        return self._count == 1

    def ended(self) -> int:
        """How often it happened, once it is over; else 0."""
        if not self._count or self._now() - self._last < self._quiet:
            return 0
        count, self._count = self._count, 0
        return count


class Breaker:
    """Opens after `limit` failures in a row; then one call every `pause` seconds finds out whether it is over."""

    def __init__(self, limit: int = 10, pause: float = 10.0, now: Clock = time.monotonic) -> None:
        self._limit, self.pause, self._now = limit, pause, now
        self._failures, self._until = 0, 0.0
        self.reason = ""
        """What the last failure was."""

    @property
    def is_open(self) -> bool:
        return self._failures >= self._limit

    @property
    def pauses(self) -> bool:
        """Whether no call may be made now."""
        return self.is_open and self._now() < self._until

    def admits(self) -> bool:
        """Whether a call may be made now; where it is a probe, the next one comes after another pause."""
        if self.pauses:
            return False
        if self.is_open:
            self._until = self._now() + self.pause
        return True

    def succeeded(self) -> bool:
        """Whether this closes it."""
        closes, self._failures = self.is_open, 0
        return closes

    def failed(self, reason: str) -> bool:
        """Whether this opens it."""
        self.reason = reason
        self._failures += 1
        opens = self._failures == self._limit
        if opens:
            self._until = self._now() + self.pause
        return opens
