"""Whether and when a failed model call is tried again; pure, so that a table can test it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Statuses after which the same request may succeed; 409 is a lock that somebody else holds.
RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529})

_LONGEST_BACKOFF = 8.0


def retried(status: int, said: str) -> bool:
    """An exhausted quota comes as 429 as well, and waiting does not fill it."""
    return status in RETRIED and "insufficient_quota" not in said


def wait_before_retry(failures: int, asked: float | None, first: float, longest: float, chance: float) -> float:
    """Seconds to wait after that many failures: what the server asked for, else exponential with jitter.

    `chance` is uniform in 0 to 1; the jitter takes up to half away, or adds up to a tenth to what was asked for, so
    that callers that were turned away together do not come back together. Never more than `longest`.
    """
    if asked is not None:
        return min(asked + chance * 0.1 * asked, longest)
    return min(first * 2.0**failures, _LONGEST_BACKOFF, longest) * (1 - chance / 2)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a server asks to wait, given as milliseconds, seconds or a date (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _number(text: str | None) -> float | None:
    """A finite number from zero on, else None."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
