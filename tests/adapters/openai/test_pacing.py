"""Rate limits slow calls down, and a server that fails is given a pause; by a clock that the test moves."""

import asyncio
import logging
from itertools import pairwise

import pytest

from pipeline.adapters.openai import OpenAIModel
from pipeline.adapters.openai.admission import Admission
from pipeline.adapters.openai.pacing import Breaker, Bucket, Pace, Spell
from pipeline.errors import ModelFailed
from pipeline.limits import Permits, Stage
from pipeline.ports import AnswerRequest
from tests.adapters.openai.moved_clock import Now
from tests.adapters.openai.serving import serving
from tests.scripted_model import Call, Reply, ScriptedModel, fails, says


async def turned(pace: Pace) -> float:
    """Wait for the next call's turn, and begin it."""
    await pace.opens()
    begun = pace.begins()
    assert begun is not None
    return begun


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
    now = Now()
    pace = Pace(now=now, sleep=now.sleep)
    pace.hold_off(5, begun=now())
    pace.hold_off(1, begun=now())
    assert pace.begins() is None
    assert await turned(pace) == 1005


async def test_after_a_rate_limit_calls_come_one_by_one() -> None:
    """Calls that began before a slowing down change nothing any more; each later one turned away makes a longer gap."""
    now = Now()
    pace = Pace(now=now, sleep=now.sleep)
    together = [await turned(pace) for _ in range(100)]
    now.at += 1
    for begun in together:
        pace.hold_off(1, begun)
        now.at += 0.1
    assert pace.gap == 0.05
    for _ in range(20):
        pace.hold_off(1, await turned(pace))
        now.at += 0.01
    assert pace.gap == 0.5
    first, second = await turned(pace), await turned(pace)
    assert second - first == pytest.approx(0.5)


async def test_only_answers_of_calls_begun_since_speed_up() -> None:
    """156 answers of calls in flight when another was turned away leave the gap; those of later ones end it."""
    now = Now()
    pace = Pace(now=now, sleep=now.sleep)
    in_flight = [await turned(pace) for _ in range(156)]
    now.at += 1
    pace.hold_off(5, in_flight[0])
    for begun in in_flight:
        pace.answered(begun)
    assert pace.gap == 0.05
    for _ in range(60):
        pace.answered(await turned(pace))
    assert pace.gap == 0


async def test_a_permit_is_given_back_while_the_server_wants_no_call() -> None:
    """One is turned away while 10 wait for 2 permits: none begins within the hold-off, or holds a permit in it."""
    now = Now()
    permits = Permits(2, ("role-extraction",))
    in_flight, idle = 0, list[int]()

    async def sleep(seconds: float) -> None:
        idle.append(permits.running["role-extraction"] - in_flight)
        await now.sleep(seconds)

    pace = Pace(now=now, sleep=sleep)
    admission, begun = Admission(pace, permits, Breaker()), list[float]()

    async def call(turned_away: bool) -> None:
        nonlocal in_flight
        async with admission.call("role-extraction", again=False) as at:
            assert at is not None
            begun.append(at)
            in_flight += 1
            await asyncio.sleep(0)
            in_flight -= 1
        if turned_away:
            pace.hold_off(0.5, at)

    await asyncio.gather(*(call(number == 1) for number in range(12)))
    assert begun[:2] == [1000, 1000]
    assert begun[2] == 1000.5
    assert all(later - earlier >= 0.0499 for earlier, later in pairwise(begun[2:]))
    assert set(idle) == {0}


async def test_an_allowance_holds_what_waited_for_a_permit() -> None:
    """60 calls a minute by one permit that was long taken: the allowance is counted where a call begins."""
    now = Now()
    permits = Permits(1, ("role-extraction",))
    admission, begun = Admission(Pace(60, now=now, sleep=now.sleep), permits, Breaker()), list[float]()

    async def call() -> None:
        async with admission.call("role-extraction", again=False) as at:
            assert at is not None
            begun.append(at)

    async with permits.hold("role-extraction"):
        calls = [asyncio.create_task(call()) for _ in range(180)]
        for _ in range(10):
            await asyncio.sleep(0)
        now.at += 600
    await asyncio.gather(*calls)
    assert begun[:60] == [1600] * 60
    assert all(later - earlier == pytest.approx(1) for earlier, later in pairwise(begun[59:]))


async def test_no_stage_and_no_call_that_was_turned_away_waits_for_all_others() -> None:
    """With a gap between calls the lines take turns, each in its own order, although one of them is far longer."""
    now = Now()
    pace = Pace(now=now, sleep=now.sleep)
    pace.hold_off(0, now())
    permits = Permits(4, ("role-extraction", "report-generation"))
    admission, order = Admission(pace, permits, Breaker()), list[str]()

    async def call(stage: Stage, again: bool, name: str) -> None:
        async with admission.call(stage, again=again):
            order.append(name)

    await asyncio.gather(
        *(call("role-extraction", False, f"new {number}") for number in range(100)),
        *(call("role-extraction", True, f"again {number}") for number in range(5)),
        *(call("report-generation", False, f"report {number}") for number in range(5)),
    )
    for kind in ("new", "again", "report"):
        numbers = [int(name.split()[1]) for name in order if name.startswith(kind)]
        assert numbers == sorted(numbers)
    assert {*order[:18]} >= {f"{kind} {number}" for kind in ("again", "report") for number in range(5)}


async def test_who_waits_in_line_leaves_it_when_the_server_is_given_a_pause() -> None:
    """At once, without a turn of its own; and one that is cancelled there holds nothing up."""
    now = Now()
    pace, breaker = Pace(60, now=now, sleep=now.sleep), Breaker(1, 10, now)
    permits = Permits(1, ("role-extraction",))
    admission, admitted = Admission(pace, permits, breaker), list[float | None]()

    async def call() -> None:
        async with admission.call("role-extraction", again=False) as at:
            admitted.append(at)

    async with permits.hold("role-extraction"):
        calls = [asyncio.create_task(call()) for _ in range(200)]
        for _ in range(10):
            await asyncio.sleep(0)
        calls[0].cancel()
        calls[1].cancel()
        breaker.failed("no")
    await asyncio.wait(calls)
    assert admitted == [None] * 198
    assert now() == 1000
    now.at += 10
    await call()
    assert admitted[-1] == 1010


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
        model = OpenAIModel(
            base_url=server.base_url, api_key="k", extraction_name="m", answer_name="m", timeout=60, retries=1
        )
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
            timeout=60,
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


async def test_what_a_server_takes_is_learnt_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred calls at once find out the same; it is said once."""
    caplog.set_level(logging.INFO, "pipeline")

    def without_temperature(call: Call) -> Reply:
        refused = fails(400, "Unsupported value: 'temperature' does not support 0.3.")
        return refused if "temperature" in call.body else says("hello")

    async with serving(otherwise=without_temperature) as (model, _):
        await asyncio.gather(*(model.answer(AnswerRequest("hello")) for _ in range(100)))
    assert [record.getMessage().partition("(")[0] for record in caplog.records] == ["the model server takes Dialect"]
