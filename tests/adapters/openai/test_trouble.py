"""What the model port makes of trouble: retries, fallbacks, deadlines, and failures that say what to do."""

import asyncio
import json
import logging
import traceback

import pytest

from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest
from tests.adapters.openai.serving import model_at, serving
from tests.scripted_model import (
    Call,
    Reply,
    ScriptedModel,
    default_extraction,
    default_reply,
    drops,
    fails,
    gives,
    hangs,
    refuses,
    says,
    unreachable,
)

QUESTION = "I am a nurse, how do I plan night shifts?"
GOOD = default_extraction(QUESTION)


@pytest.mark.parametrize(
    "trouble",
    [fails(500), fails(503), fails(429), fails(408), drops(), Reply(body={"error": "x", "choices": []})],
)
async def test_passing_trouble_is_tried_again(trouble: Reply) -> None:
    """Server errors, rate limits and lost connections are tried again, and each try is on the bill."""
    async with serving(trouble, trouble, gives(GOOD)) as (model, server):
        proposal = await model.extract(QUESTION, [])
    assert proposal.content == GOOD
    assert proposal.cost.calls == len(server.calls) == 3


async def test_a_timeout_is_tried_again() -> None:
    """A call that took too long is given up and made anew."""
    async with serving(hangs(60), gives(GOOD), timeout=2) as (model, _):
        proposal = await model.extract(QUESTION, [])
    assert (proposal.content, proposal.cost.calls) == (GOOD, 2)


async def test_retries_come_to_an_end() -> None:
    """After the last try the failure says what happened; the deadline runs anew for each call."""
    async with serving(otherwise=lambda _: hangs(5), timeout=0.05, retries=1) as (model, server):
        with pytest.raises(ModelFailed, match=r"did not answer within 0\.05 s") as failure:
            await model.extract(QUESTION, [])
    assert failure.value.spent["calls"] == 2
    assert len(server.calls) <= 2  # a call may be given up before it has reached the server
    assert failure.value.spent["milliseconds"] >= 100


async def test_retry_after_is_honoured_and_not_counted() -> None:
    """The server's waits are kept to, and neither the deadline nor the bill includes them."""
    busy = fails(429, headers={"Retry-After": "1"})
    async with serving(busy, busy, gives(GOOD), timeout=1.99, longest_wait=1.5) as (model, _):
        started = asyncio.get_running_loop().time()
        cost = (await model.extract(QUESTION, [])).cost
        took = asyncio.get_running_loop().time() - started
    assert took - cost.milliseconds / 1000 >= 1.99


async def test_a_long_retry_after_is_bounded() -> None:
    """A server that asks for an hour gets the longest wait."""
    async with serving(fails(429, headers={"Retry-After": "3600"}), gives(GOOD)) as (model, _):
        async with asyncio.timeout(60):
            await model.extract(QUESTION, [])


async def test_a_server_that_is_not_there() -> None:
    """A refused connection is tried again, then the message says what to set."""
    with unreachable() as base_url:
        model = model_at(base_url)
        with pytest.raises(ModelFailed, match=r"cannot be reached: .*ROLESTREAM_MODEL__BASE_URL") as failure:
            await model.answer(AnswerRequest("q"))
        await model.aclose()
    assert failure.value.spent["calls"] == 3


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (fails(401, "Incorrect API key provided: sk-secret"), "ROLESTREAM_MODEL__API_KEY"),
        (fails(403), "ROLESTREAM_MODEL__API_KEY or ROLESTREAM_MODEL__NAME"),
        (fails(404, "The model `small` does not exist", code="model_not_found"), "ROLESTREAM_MODEL__NAME"),
        (Reply(status=404, body="<html>not found</html>"), "ROLESTREAM_MODEL__BASE_URL"),
        (fails(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"), "longer"),
        (fails(429, "You exceeded your quota", code="insufficient_quota"), "quota"),
        (Reply(body="<html>welcome</html>"), "no chat completion: check ROLESTREAM_MODEL__BASE_URL"),
        (Reply(body={"hello": "world"}), "no chat completion: check ROLESTREAM_MODEL__BASE_URL"),
    ],
)
async def test_lasting_trouble_is_not_tried_again(reply: Reply, said: str) -> None:
    """What will not pass fails at once, in one line that says what to set, without the key or the server's words."""
    async with serving(reply) as (model, server):
        with pytest.raises(ModelFailed) as failure:
            await model.extract(QUESTION, [])
    message = str(failure.value)
    assert said in message
    assert "\n" not in message
    assert "sk-secret" not in message
    assert failure.value.spent["calls"] == len(server.calls) == 1


@pytest.mark.parametrize("status", [400, 404, 422, 501])
async def test_the_response_format_falls_back(status: int) -> None:
    """Schema with bounds, schema without, JSON mode, plain text: what the server takes is remembered."""

    def only_text(call: Call) -> Reply:
        refused = fails(status, "response_format is not supported by this server")
        return default_reply(call) if call.format == "text" else refused

    async with serving(otherwise=only_text) as (model, server):
        first = await model.extract(QUESTION, [])
        second = await model.extract(QUESTION, [])
    assert [call.format for call in server.calls] == ["json_schema", "json_schema", "json_object", "text", "text"]
    bounded, plain = (json.dumps(call.body["response_format"]) for call in server.calls[:2])
    assert "maxLength" in bounded
    assert "max" not in plain
    assert first.content == second.content == GOOD
    assert (first.cost.calls, second.cost.calls) == (4, 1)


async def test_a_refusal_for_another_cause_changes_nothing() -> None:
    """A format is given up only for one that then succeeds."""
    script = [fails(400, "bad request")] * 4
    async with serving(*script) as (model, server):
        with pytest.raises(ModelFailed, match="status 400"):
            await model.extract(QUESTION, [])
        await model.extract(QUESTION, [])
    assert server.calls[-1].body == server.calls[0].body


async def test_parameters_that_a_model_refuses_are_left_out() -> None:
    """Reasoning models take another token limit and no temperature: learnt from the refusal, once."""

    def picky(call: Call) -> Reply:
        if "max_tokens" in call.body:
            return fails(400, "Unsupported parameter: use 'max_completion_tokens' instead.", param="max_tokens")
        if "temperature" in call.body:
            return fails(400, "Unsupported value: 'temperature' does not support 0.3.", param="temperature")
        return default_reply(call)

    async with serving(otherwise=picky) as (model, server):
        assert (await model.answer(AnswerRequest("q"))).cost.calls == 3
        assert (await model.answer(AnswerRequest("q"))).cost.calls == 1
        await model.report(AnswerRequest("q"))
    assert server.calls[-1].format == "json_schema"


async def test_cancelling_passes_through() -> None:
    """A cancelled call is cancelled, not failed, and not tried again."""
    async with serving(otherwise=lambda _: hangs(60)) as (model, server):
        task = asyncio.create_task(model.extract(QUESTION, []))
        await server.called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.calls) == 1


async def test_calls_run_at_once() -> None:
    """The adapter itself holds nothing back: sixteen calls are at the server together."""
    async with ScriptedModel(together=16) as server:
        model = model_at(server.base_url)
        await asyncio.gather(*(model.extract(QUESTION, []) for _ in range(16)))
        await model.aclose()
    assert len(server.calls) == server.most_running == 16


_BROKEN = '{"identities": ["nurse, "evidence": ["Ann"], "keyPoints": ["nurse, "overview": ["Ann"]}'


@pytest.mark.parametrize(
    "reply",
    [
        *(
            fails(status, QUESTION, code=QUESTION, type=QUESTION, param=QUESTION)
            for status in (400, 401, 403, 404, 500)
        ),
        *(fails(400, f"{QUESTION} {cause}") for cause in ("content_filter", "maximum context", "temperature")),
        *(fails(500, code=word) for word in ("nurse", "护士")),
        fails(429, QUESTION, code="insufficient_quota"),
        fails(422, QUESTION),
        Reply(status=404, body=QUESTION),
        Reply(body=QUESTION),
        Reply(body={"error": QUESTION, "choices": []}),
        Reply(QUESTION, finish_reason="content_filter"),
        refuses(QUESTION),
        says(QUESTION),
        gives({"nurse": QUESTION}),
        gives([QUESTION]),
        says(_BROKEN),
        says(_BROKEN, finish_reason="length"),
        says('{"nurse":' * 50),
        says("nurse" * 50_000),
        says("<think>a nurse"),
    ],
)
async def test_no_conversation_text_in_logs_or_failures(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    """Above DEBUG neither our loggers nor the client's nor a failure hold what was said, or the key, whoever asks."""
    caplog.set_level(logging.INFO)
    request = AnswerRequest(QUESTION)
    async with serving(otherwise=lambda _: reply) as (model, _):
        calls = (model.extract(QUESTION, [QUESTION]), model.answer(request), model.report(request))
        ends = await asyncio.gather(*calls, model.same_role("nurse", "doctor"), return_exceptions=True)
    failures = [end for end in ends if isinstance(end, BaseException)]
    assert failures
    assert all(isinstance(failure, ModelFailed) for failure in failures)
    text = caplog.text + "".join("".join(traceback.format_exception(failure)) for failure in failures)
    assert not any(word in text for word in ("nurse", "护士", "Ann", "sk-secret"))
