"""The language model of any OpenAI-compatible server, behind the Model port."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import openai

from pipeline.adapters.openai.chat import (
    FIRST_WAIT,
    LONGEST_WAIT,
    PATIENCE_WITH_RATE_LIMITS,
    Ask,
    Bill,
    Chat,
    Completion,
    Message,
)
from pipeline.adapters.openai.json_reading import read_json, storable, without_reasoning
from pipeline.adapters.openai.judging import judging_ask, read_judgement
from pipeline.adapters.openai.mending import amended
from pipeline.adapters.openai.pacing import Pace
from pipeline.adapters.openai.prompting import (
    answer_messages,
    checking_messages,
    extraction_messages,
    feature_messages,
    reask_messages,
    report_messages,
    summary_messages,
)
from pipeline.adapters.openai.reply_schemas import (
    ReplyShape,
    extraction_shape,
    features_shape,
    holding_shape,
    report_shape,
    summary_shape,
)
from pipeline.domain.observing import listed
from pipeline.limits import Permits, Stage
from pipeline.ports import AnswerRequest, Json, Judgement, Proposal, Reply, Said
from schemas.features import KnownFeature, Summary

log = logging.getLogger(__name__)

EXTRACTION_TEMPERATURE = 0.1
ANSWER_TEMPERATURE = 0.3
EXTRACTION_TOKENS = 800
ANSWER_TOKENS = 1_500
REPORT_TOKENS = 3_000
_ANSWERING: Stage = "report-generation"
_UNLIMITED = 1_000_000
#: From this many characters of a question on, the loop is not kept waiting while a proposal is mended.
_MENDED_ASIDE = 2_000


@dataclass(frozen=True)
class _Reading:
    """What a reply gave: a usable object, or what was wrong with it."""

    content: Json = None
    problem: str = ""


class OpenAIModel:
    """`timeout` is the deadline of one call in seconds, from its start; waits between tries do not count."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        extraction_name: str,
        answer_name: str,
        timeout: float,
        retries: int,
        first_wait: float = FIRST_WAIT,
        longest_wait: float = LONGEST_WAIT,
        patience: float = PATIENCE_WITH_RATE_LIMITS,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
        permits: Permits | None = None,
    ) -> None:
        # The client refuses to be built without a key, which a server of one's own does not need.
        self._client = openai.AsyncOpenAI(
            base_url=base_url or None, api_key=(api_key or "").strip() or "none", timeout=timeout, max_retries=0
        )
        self._chat = Chat(
            self._client,
            timeout=timeout,
            retries=retries,
            first_wait=first_wait,
            longest_wait=longest_wait,
            patience=patience,
            pace=Pace(requests_a_minute, tokens_a_minute),
            permits=permits or Permits(_UNLIMITED, get_args(Stage)),
        )
        self._extraction_name, self._answer_name = extraction_name, answer_name
        self._extraction_shape = extraction_shape()

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        messages = extraction_messages(question, history)
        ask = Ask(
            "role-extraction",
            self._extraction_name,
            messages,
            EXTRACTION_TEMPERATURE,
            EXTRACTION_TOKENS,
            shape=self._extraction_shape,
        )
        proposal = await self._object(ask, self._extraction_shape)
        mend = partial(mended, proposal.content, question, history)
        content = mend() if len(question) < _MENDED_ASIDE else await asyncio.to_thread(mend)
        return replace(proposal, content=content, said=proposal.content)

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        return await self._asked("feature-extraction", feature_messages(messages, known), features_shape())

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        return await self._asked("summary", summary_messages(previous, messages), summary_shape())

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        shape = holding_shape([feature.slot for feature in features])
        return await self._asked("feature-memory", checking_messages(features, days), shape)

    async def _asked(self, stage: Stage, messages: tuple[Message, ...], shape: ReplyShape) -> Proposal:
        """An object that is learnt from, off the path of the answer."""
        name = self._extraction_name
        return await self._object(Ask(stage, name, messages, EXTRACTION_TEMPERATURE, EXTRACTION_TOKENS, shape), shape)

    async def report(self, request: AnswerRequest) -> Proposal:
        shape = report_shape(request.sources)
        messages = report_messages(request)
        ask = Ask(_ANSWERING, self._answer_name, messages, ANSWER_TEMPERATURE, REPORT_TOKENS, shape=shape)
        return await self._object(ask, shape)

    async def answer(self, request: AnswerRequest) -> Reply:
        ask = Ask(_ANSWERING, self._answer_name, answer_messages(request), ANSWER_TEMPERATURE, ANSWER_TOKENS)
        bill = Bill(ask.model)
        for tokens in (ask.max_tokens, 2 * ask.max_tokens):
            completion = await self._chat.complete(replace(ask, max_tokens=tokens), bill)
            text = _answer_text(completion)
            if text:
                return Reply(text, bill.cost())
        raise bill.failed("the model gave an empty answer twice")

    async def same_role(self, one: str, other: str) -> Judgement:
        """Whether two descriptions mean the same role, in one request; raises ModelFailed."""
        ask = judging_ask(self._extraction_name, one, other)
        bill = Bill(ask.model)
        completion = await self._chat.complete(ask, bill)
        return Judgement(read_judgement(completion.text), bill.cost())

    async def aclose(self) -> None:
        await self._client.close()

    async def _object(self, ask: Ask, shape: ReplyShape) -> Proposal:
        """The object asked for, asking once more where the first reply gives none."""
        bill = Bill(ask.model)
        completion = await self._chat.complete(ask, bill)
        first = _read(completion, shape)
        if not first.problem:
            return Proposal(first.content, bill.cost())
        again = reask_messages(completion.text, first.problem, shape.keys)
        tokens = ask.max_tokens * 2 if completion.cut else ask.max_tokens
        completion = await self._chat.complete(replace(ask, messages=ask.messages + again, max_tokens=tokens), bill)
        second = _read(completion, shape)
        best = second if second.content is not None else first
        if best.content is None:
            raise bill.failed(f"the model's reply could not be read, twice: {second.problem}")
        return Proposal(best.content, bill.cost())


def mended(content: Json, question: str, history: Sequence[str]) -> Json:
    """The content as it is where mending it fails: the reply was read and paid for."""
    try:
        return amended(content, question, history)
    except Exception:
        log.exception("a proposal could not be mended", extra={"action": "mending_failed"})
        return content


def _read(completion: Completion, shape: ReplyShape) -> _Reading:
    if not completion.text.strip():
        return _Reading(problem="it was empty")
    try:
        content = storable(read_json(completion.text, shape.keys))
    except ValueError as exc:
        return _Reading(problem="it was cut off, be shorter" if completion.cut else str(exc))
    if "changes" in shape.core:
        content = listed(content)
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    if content == []:
        return _Reading(content)
    if not isinstance(content, dict) or not content.keys() & shape.core:
        return _Reading(problem=f"it is no object with {json.dumps(sorted(shape.core))}")
    if completion.cut and not content.keys() >= set(shape.keys):
        return _Reading(content, problem="it was cut off, be shorter")
    return _Reading(content)


def _answer_text(completion: Completion) -> str:
    text = str(storable(without_reasoning(completion.text))).strip()
    return f"{text} …" if text and completion.cut else text
