"""When a failed model call is tried again, as a table."""

from datetime import UTC, datetime

import pytest

from pipeline.adapters.openai.retrying import retried, retry_after, wait_before_retry

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "said", "again"),
    [
        (429, "slow down", True),
        (429, "insufficient_quota", False),
        (500, "", True),
        (503, "", True),
        (408, "", True),
        (400, "", False),
        (401, "", False),
        (403, "", False),
        (404, "", False),
        (501, "", False),
    ],
)
def test_what_is_tried_again(status: int, said: str, again: bool) -> None:
    """Only what may pass by itself is tried again."""
    assert retried(status, said) is again


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_what_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates are understood; anything else is no wish."""
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_waits_grow_and_are_bounded(chance: float) -> None:
    """Without a wish the wait doubles up to eight seconds, less up to half; a wish is kept to, up to the longest."""
    waits = [wait_before_retry(failures, None, 0.5, 60, chance) for failures in range(8)]
    assert waits == sorted(waits)
    assert waits[0] == 0.5 * (1 - chance / 2)
    assert waits[-1] == 8 * (1 - chance / 2)
    assert 10 <= wait_before_retry(0, 10, 0.5, 60, chance) <= 11
    assert wait_before_retry(0, 3_600, 0.5, 60, chance) == 60
