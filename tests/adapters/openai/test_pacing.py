"""Rate limits slow calls down, and a server that fails is given a pause; by a clock that the test moves."""

import asyncio
import logging
import time
from dataclasses import dataclass

import pytest

from pipeline.adapters.openai import OpenAIModel
from pipeline.adapters.openai.pacing import Breaker, Bucket, Pace, Spell
from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest
from tests.adapters.openai.serving import serving
from tests.scripted_model import Call, Reply, ScriptedModel, fails, says


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


async def test_after_a_rate_limit_calls_come_one_by_one() -> None:
    """Those that are turned away together make one gap, each later one a longer one, and each answer a shorter one."""
    now = Now()
    pace = Pace(now=now)
    for _ in range(100):
        pace.hold_off(1)
    assert pace.gap == 0.05
    now.at += 1
    pace.hold_off(1)
    assert pace.gap == pytest.approx(0.075)
    now.at += 1
    await pace.turn()
    assert pace._wait() == pytest.approx(0.075)
    for _ in range(100):
        pace.hold_off(1)
        now.at += 1
    assert pace.gap == 0.5
    for _ in range(400):
        pace.answered()
    assert pace.gap == 0


def test_the_breaker_opens_probes_and_closes() -> None:
    """After three failures in a row nothing is admitted but one probe a pause; a success closes it."""
    now = Now()
    breaker = Breaker(3, 10, now)
    for _ in range(2):
        assert not breaker.failed("no")
    assert not breaker.succeeded()
    opened = [breaker.admits() and breaker.failed("no") for _ in range(3)]
    assert opened == [False, False, True]
    assert not breaker.admits()
    now.at += 10
    assert [breaker.admits(), breaker.admits()] == [True, False]
    assert not breaker.failed("still no")
    assert breaker.reason == "still no"
    now.at += 10
    assert breaker.admits()
    assert breaker.succeeded()
    assert [breaker.admits(), breaker.admits()] == [True, True]


def test_a_spell_begins_once_and_ends_when_it_has_been_quiet() -> None:
    """However often it happens within a minute of the last time, it is told twice: at the first, and at the end."""
    now = Now()
    spell = Spell(60, now)
    assert spell.ended() == 0
    began = []
    for _ in range(5):
        began.append(spell.happened())
        now.at += 59
        assert spell.ended() == 0
    assert began == [True, False, False, False, False]
    now.at += 1
    assert [spell.ended(), spell.ended()] == [5, 0]
    assert spell.happened()


async def test_a_rate_limit_fails_no_call() -> None:
    """Turned away more often than there are retries, the call still succeeds."""
    turned_away = [fails(429, headers={"retry-after": "0.01"})] * 4
    async with ScriptedModel([*turned_away, says("at last")]) as server:
        model = OpenAIModel(base_url=server.base_url, api_key="k", extraction_name="m", answer_name="m", retries=1)
        reply = await model.answer(AnswerRequest("hello"))
        assert (reply.text, reply.cost.calls) == ("at last", 5)
        await model.aclose()


async def test_a_dead_server_is_soon_left_alone() -> None:
    """After ten failures in a row a call fails without a request, and without waiting for its turn."""
    async with ScriptedModel(otherwise=lambda call: fails(500)) as server:
        model = OpenAIModel(
            base_url=server.base_url,
            api_key="k",
            extraction_name="m",
            answer_name="m",
            retries=0,
            requests_a_minute=10,
        )
        for _ in range(12):
            with pytest.raises(ModelFailed) as failure:
                await model.answer(AnswerRequest("hello"))
        assert len(server.calls) == 10
        assert failure.value.spent["calls"] == 0
        assert str(failure.value).endswith("given a pause, for every call fails: the model server failed (status 500)")
        await model.aclose()


async def test_a_failing_server_is_a_line_when_it_fails_and_one_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A hundred calls with three tries each fail at once: the breaker says so once, with the reason, and its end."""
    caplog.set_level(logging.INFO, "pipeline")
    async with serving(otherwise=lambda _: fails(500)) as (model, server):
        calls = [model.answer(AnswerRequest("hello")) for _ in range(100)]
        assert all(isinstance(end, ModelFailed) for end in await asyncio.gather(*calls, return_exceptions=True))
        server.otherwise = lambda _: says("hello")
        model._chat._breaker.pause = model._chat._breaker._until = 0
        await asyncio.gather(*(model.answer(AnswerRequest("hello")) for _ in range(100)))
    assert [record.getMessage() for record in caplog.records] == [
        "the model server fails every call, trying one every 10 s: the model server failed (status 500)",
        "the model server is back",
    ]


async def test_a_rate_limit_slows_down_and_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """300 calls at once where 100 a second are taken: all are answered, few are turned away, and it is said once."""
    caplog.set_level(logging.INFO, "pipeline")
    allowance = Bucket(100 * 60)
    allowance.take(100 * 60 - 20)

    def limited(_: Call) -> Reply:
        if allowance.wait():
            return fails(429, headers={"retry-after": "0.05"})
        allowance.take(1)
        return says("hello")

    async with serving(otherwise=limited) as (model, server):
        await asyncio.gather(*(model.answer(AnswerRequest("hello")) for _ in range(300)))
        turned_away = len(server.calls) - 300
        assert caplog.messages == ["the model server wants fewer calls: slowing down"]
        model._chat._rate_limit._quiet = 0
        await model.answer(AnswerRequest("hello"))
    assert caplog.messages[1:] == [f"the model server takes every call again, after it turned away {turned_away}"]
    assert turned_away < 400


async def test_what_a_server_takes_is_learnt_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred calls at once find out the same; it is said once."""
    caplog.set_level(logging.INFO, "pipeline")

    def without_temperature(call: Call) -> Reply:
        refused = fails(400, "Unsupported value: 'temperature' does not support 0.3.")
        return refused if "temperature" in call.body else says("hello")

    async with serving(otherwise=without_temperature) as (model, _):
        await asyncio.gather(*(model.answer(AnswerRequest("hello")) for _ in range(100)))
    assert [record.getMessage().partition("(")[0] for record in caplog.records] == ["the model server takes Dialect"]
