"""What one chat makes of a server that turns calls away; by a clock that the test moves, without a server."""

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx2 as httpx
import openai
import pytest
from openai.types.chat import ChatCompletion

from pipeline.adapters.openai import OpenAIModel
from pipeline.adapters.openai.chat import PATIENCE_WITH_RATE_LIMITS, Ask, Bill, Chat, Completion, Message
from pipeline.adapters.openai.judging import judging_ask
from pipeline.adapters.openai.pacing import Bucket, Pace
from pipeline.bootstrap import chosen_model
from pipeline.errors import ModelFailed
from pipeline.limits import Permits
from pipeline.settings import HealthSettings, ModelSettings, Settings
from tests.adapters.openai.moved_clock import Now

ASK = Ask("role-extraction", "m", (Message("user", "q"),), 0.0, 10)
JUDGING = judging_ask("m", "one", "other")
URL = httpx.URL("http://127.0.0.1")


def hello() -> ChatCompletion:
    message = {"role": "assistant", "content": "hi"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    completion = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return ChatCompletion.model_validate(completion)


def turned_away(after: str | None = None, status: int = 429) -> openai.APIStatusError:
    headers = {} if after is None else {"retry-after": after}
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", URL))
    return openai.APIStatusError("no", response=response, body=None)


class Server:
    """Answers each call by what `reply` says of it, and knows when each came."""

    def __init__(self, now: Now, reply: Callable[[int], ChatCompletion | Exception], *, lasts: float = 0) -> None:
        self.now, self.reply, self.lasts = now, reply, lasts
        self.calls: list[float] = []

    def chat(
        self,
        permits: int = 1000,
        timeout: float = 60,
        retries: int = 3,
        patience: float = PATIENCE_WITH_RATE_LIMITS,
    ) -> Chat:
        create = SimpleNamespace(create=self._create)
        client: Any = SimpleNamespace(chat=SimpleNamespace(completions=create), base_url=URL)
        return Chat(
            client,
            timeout=timeout,
            retries=retries,
            first_wait=0,
            patience=patience,
            pace=Pace(now=self.now, sleep=self.now.sleep),
            permits=Permits(permits, ("role-extraction",)),
            now=self.now,
        )

    async def _create(self, **_: object) -> ChatCompletion:
        self.calls.append(self.now())
        reply = self.reply(len(self.calls))
        for _turn in range(10):
            await asyncio.sleep(0)
        self.now.at += self.lasts
        if isinstance(reply, Exception):
            raise reply
        return reply


async def ends(chat: Chat, count: int, ask: Ask = ASK) -> list[Completion | BaseException]:
    return await asyncio.gather(*(chat.complete(ask, Bill("m")) for _ in range(count)), return_exceptions=True)


async def test_what_waits_for_a_permit_is_held_off_too() -> None:
    """Twelve calls, two permits, the first is turned away for half a second: no other call begins within it."""
    server = Server(Now(), lambda number: turned_away("0.5") if number == 1 else hello())
    assert all(isinstance(end, Completion) for end in await ends(server.chat(permits=2), 12))
    assert server.calls[:2] == [1000, 1000]
    assert server.calls[2] >= 1000.5
    assert len(server.calls) == 13


async def test_a_rate_limit_slows_down_and_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """300 calls at once where 100 a second are taken: of those that came one by one few are turned away again."""
    caplog.set_level(logging.INFO, "pipeline")
    now = Now()
    allowance = Bucket(100 * 60, now)
    allowance.take(100 * 60 - 20)

    def limited(_: int) -> ChatCompletion | Exception:
        if allowance.wait():
            return turned_away("0.05")
        allowance.take(1)
        return hello()

    server = Server(now, limited)
    chat = server.chat()
    assert all(isinstance(end, Completion) for end in await ends(chat, 300))
    turned = len(server.calls) - 300
    assert caplog.messages == ["the model server wants fewer calls: slowing down"]
    now.at += 60
    await ends(chat, 1)
    assert caplog.messages[1:] == [f"the model server takes every call again, after it turned away {turned}"]
    again = turned - (300 - 20)  # 300 began before the first was turned away, and 20 of them were taken
    assert 0 <= again < 50


@pytest.mark.parametrize("after", ["0", "20", "86400", None])
async def test_patience_with_rate_limits_is_measured_by_the_clock(after: str | None) -> None:
    """Whatever the server asks for, a call that is turned away fails so long after the first time, or a wait later."""
    now = Now()
    with pytest.raises(ModelFailed, match="turns calls away"):
        await Server(now, lambda _: turned_away(after), lasts=0.1).chat().complete(ASK, Bill("m"))
    assert PATIENCE_WITH_RATE_LIMITS <= now() - 1000 <= PATIENCE_WITH_RATE_LIMITS + 61


async def test_a_rate_limit_that_does_not_end_is_no_stall() -> None:
    """A quota that is used up by 500 calls at once: all have failed before a worker would pass for stuck."""
    now = Now()
    assert all(isinstance(end, ModelFailed) for end in await ends(Server(now, lambda _: turned_away()).chat(), 500))
    assert now() - 1000 < HealthSettings().stall_after * 0.75


@pytest.mark.parametrize(("stall_after", "patience"), [(3600, 300), (600, 300), (120, 60), (30, 15)])
async def test_a_worker_that_waits_for_a_rate_limit_is_live(stall_after: float, patience: float) -> None:
    """However soon a worker is to pass for stuck, a call that is turned away has failed before, its last wait too."""
    health, server = HealthSettings(stall_after=stall_after), ModelSettings(base_url=f"{URL}/v1")
    model = chosen_model(Settings(_env_file=None, health=health, model=server), Permits(1, ("role-extraction",)))
    assert isinstance(model, OpenAIModel)
    assert model._chat._patience == patience
    await model.aclose()
    for after in ("86400", "1", None):
        now = Now()
        chat = Server(now, lambda _, after=after: turned_away(after)).chat(patience=patience)  # type: ignore[misc]  # bound
        with pytest.raises(ModelFailed, match="turns calls away"):
            await chat.complete(ASK, Bill("m"))
        assert patience <= now() - 1000 <= 0.75 * stall_after + 1


async def test_a_model_that_is_used_up_fails_its_calls_together() -> None:
    """Calls that come while others are turned away are tried beside them, and do not wait for their end."""
    now = Now()
    server = Server(now, lambda _: turned_away("0"), lasts=0.1)
    chat = server.chat(permits=2)
    await ends(chat, 9)
    assert now() - 1000 < 1.5 * PATIENCE_WITH_RATE_LIMITS


@pytest.mark.parametrize("status", [429, 500])
async def test_an_optional_request_is_tried_once(status: int) -> None:
    """Neither a failure nor a rate limit is waited for; the rate limit holds all others off."""
    now = Now()
    server = Server(now, lambda number: turned_away("5", status) if number <= 1 else hello())
    chat = server.chat()
    with pytest.raises(ModelFailed, match=f"status {status}") as failure:
        await chat.complete(JUDGING, Bill("m"))
    assert failure.value.spent["calls"] == len(server.calls) == 1
    await chat.complete(ASK, Bill("m"))
    assert server.calls[1] - server.calls[0] >= (5 if status == 429 else 0)
    assert chat._breaker._failures == 0


async def test_optional_requests_that_are_turned_away_open_no_breaker() -> None:
    """However many: the server works, it only wants fewer calls."""
    chat = Server(Now(), lambda _: turned_away("0")).chat()
    await ends(chat, 30, JUDGING)
    assert not chat._breaker.is_open


async def test_an_optional_request_ends_soon_where_the_server_hangs() -> None:
    """After a quarter of a call's deadline, with what it cost; no other request is made."""
    server = Server(Now(), lambda _: hello())
    never = asyncio.Event()

    async def hang(**_: object) -> None:
        server.calls.append(0)
        await never.wait()

    chat = server.chat(timeout=0.2)
    chat._client.chat.completions.create = hang  # type: ignore[method-assign, assignment]  # it is no client of openai's
    with pytest.raises(ModelFailed, match=r"within 0\.05 s") as failure:
        await chat.complete(JUDGING, Bill("m"))
    assert failure.value.spent["calls"] == len(server.calls) == 1
    assert failure.value.spent["milliseconds"] >= 50


async def test_an_optional_request_does_not_wait_long_for_a_permit() -> None:
    """Nor for anything else: what waits for it is worth more."""
    server = Server(Now(), lambda _: hello())
    chat = server.chat(permits=1, timeout=0.2)
    async with chat._permits.hold("role-extraction"):
        with pytest.raises(ModelFailed) as failure:
            await chat.complete(JUDGING, Bill("m"))
    assert failure.value.spent["calls"] == len(server.calls) == 0
    await chat.complete(JUDGING, Bill("m"))
