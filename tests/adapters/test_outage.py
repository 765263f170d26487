"""Waiting out an outage: tries again, says so once, keeps to its limit."""

import logging

import pytest

from pipeline.adapters.outage import Patience
from pipeline.errors import Outage


async def test_an_outage_is_waited_out_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """However many attempts fail: one line when it begins, one when it ends, and the result."""
    attempts = iter([ConnectionError("refused\nmore"), ConnectionError("refused"), ConnectionError("refused")])

    async def attempt() -> str:
        for failure in attempts:
            raise failure
        return "done"

    with caplog.at_level(logging.WARNING):
        assert await Patience("Kafka", (ConnectionError,))(attempt) == "done"
    assert [record.getMessage() for record in caplog.records] == [
        "Kafka is away, waiting: refused",
        "Kafka is back",
    ]


async def test_patience_has_a_limit_where_one_is_set() -> None:
    """Beyond the limit the outage is an error that names the service and the reason."""

    async def attempt() -> None:
        raise ConnectionError("refused")

    with pytest.raises(Outage, match="Kafka cannot be reached: refused"):
        await Patience("Kafka", (ConnectionError,), limit=0.3)(attempt)


async def test_an_outage_is_said_once_however_many_give_up(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever gives up says nothing of its end; the next that succeeds does, be it at the first attempt."""
    patiently = Patience("Kafka", (ConnectionError,), limit=0)

    async def attempt() -> None:
        raise ConnectionError("refused")

    async def succeed() -> None: ...

    for _ in range(3):
        with pytest.raises(Outage):
            await patiently(attempt)
    assert (patiently.is_over, patiently.is_away) == (False, False)
    for _ in range(2):
        await patiently(succeed)
    assert patiently.is_over
    assert [record.getMessage() for record in caplog.records] == ["Kafka is away, waiting: refused", "Kafka is back"]


async def test_other_errors_pass_through() -> None:
    """Only what means that the service is away is tried again."""

    async def attempt() -> None:
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        await Patience("Kafka", (ConnectionError,))(attempt)
