"""Rate limits slow calls down, and a server that fails is given a pause; by a clock that the test moves."""

import time
from dataclasses import dataclass

import pytest

from pipeline.adapters.openai import OpenAIModel
from pipeline.adapters.openai.pacing import Breaker, Bucket, Pace
from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest
from tests.scripted_model import ScriptedModel, fails, says


@dataclass
class Now:
    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


def test_an_allowance_is_used_at_once_and_then_waited_for() -> None:
    """60 a minute: 60 at once, then one a second; what is overdrawn is waited for whole."""
    now = Now()
    bucket = Bucket(60, now)
    bucket.take(59)
    assert bucket.wait() == 0
    bucket.take(1)
    assert bucket.wait() == pytest.approx(1)
    bucket.take(9)
    assert bucket.wait() == pytest.approx(10)
    now.at += 10
    assert bucket.wait() == pytest.approx(0)
    now.at += 10_000
    bucket.take(60)
    assert bucket.wait() == pytest.approx(1)


def test_without_a_limit_nothing_waits() -> None:
    """However much is taken."""
    bucket = Bucket(None)
    bucket.take(10**9)
    assert bucket.wait() == 0


async def test_a_server_that_turns_a_call_away_holds_all_calls_off() -> None:
    """Until its word is over; an earlier word does not shorten a later one."""
    pace = Pace()
    pace.hold_off(0.1)
    pace.hold_off(0.01)
    begun = time.monotonic()
    await pace.turn()
    assert time.monotonic() - begun >= 0.09


def test_the_breaker_opens_probes_and_closes() -> None:
    """After three failures in a row nothing is admitted but one probe a pause; a success closes it."""
    now = Now()
    breaker = Breaker(3, 10, now)
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(3):
        assert breaker.admits()
        breaker.failed()
    assert not breaker.admits()
    now.at += 10
    assert [breaker.admits(), breaker.admits()] == [True, False]
    breaker.failed()
    now.at += 10
    assert breaker.admits()
    breaker.succeeded()
    assert [breaker.admits(), breaker.admits()] == [True, True]


async def test_a_rate_limit_fails_no_call() -> None:
    """Turned away more often than there are retries, the call still succeeds."""
    turned_away = [fails(429, headers={"retry-after": "0.01"})] * 4
    async with ScriptedModel([*turned_away, says("at last")]) as server:
        model = OpenAIModel(base_url=server.base_url, api_key="k", extraction_name="m", answer_name="m", retries=1)
        reply = await model.answer(AnswerRequest("hello"))
        assert (reply.text, reply.cost.calls) == ("at last", 5)
        await model.aclose()


async def test_a_dead_server_is_soon_left_alone() -> None:
    """After ten failures in a row a call fails without a request."""
    async with ScriptedModel(otherwise=lambda call: fails(500)) as server:
        model = OpenAIModel(base_url=server.base_url, api_key="k", extraction_name="m", answer_name="m", retries=0)
        for _ in range(12):
            with pytest.raises(ModelFailed) as failure:
                await model.answer(AnswerRequest("hello"))
        assert len(server.calls) == 10
        assert (failure.value.spent["calls"], "given a pause" in str(failure.value)) == (0, True)
        await model.aclose()
