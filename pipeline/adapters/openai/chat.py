"""One chat completion of an OpenAI-compatible server, tried until it succeeds or has failed for good."""

import asyncio
import logging
import random
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import openai
from openai.types.chat import ChatCompletion

from pipeline.adapters.openai.admission import Admission
from pipeline.adapters.openai.dialect import Dialect, adapted
from pipeline.adapters.openai.pacing import Breaker, Clock, Pace, Spell
from pipeline.adapters.openai.reply_schemas import ReplyShape
from pipeline.adapters.openai.retrying import retried, retry_after, wait_before_retry
from pipeline.errors import ModelFailed, ModelRefused
from pipeline.limits import Permits, Stage
from schemas.events import Cost

log = logging.getLogger(__name__)

#: What the first wait after a failure is, in seconds, before jitter.
FIRST_WAIT = 0.5
#: The longest wait before a retry, in seconds, whatever the server asks for.
LONGEST_WAIT = 60.0
_TOO_MANY = 429
#: How long a server may turn one call away before it has failed, in seconds from the first time; at most half of
#: HEALTH__STALL_AFTER: a rate limit that turns every call away must not pass for a worker that is stuck.
PATIENCE_WITH_RATE_LIMITS = 300.0
#: What an optional request may take, its waits included: this share of a call's deadline, and at most so many seconds.
_OPTIONAL_SHARE, _LONGEST_OPTIONAL = 0.25, 10.0


@dataclass(frozen=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Ask:
    """One request: `shape` where an object is wanted, `optional` where nobody should wait long or ask twice for it."""

    stage: Stage
    model: str
    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    shape: ReplyShape | None = None
    optional: bool = False


@dataclass(frozen=True)
class Completion:
    """What the model said; `cut` when it ran into the token limit."""

    text: str
    cut: bool


@dataclass
class Bill:
    """What the calls for one purpose have cost so far; waits between them cost nothing."""

    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def cost(self) -> Cost:
        return Cost(
            model=self.model,
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            milliseconds=self.milliseconds,
        )

    @property
    def milliseconds(self) -> int:
        return round(self.seconds * 1000)

    def failed(self, message: str) -> ModelFailed:
        return ModelFailed(message, self.cost().model_dump())

    def refused(self, message: str) -> ModelRefused:
        return ModelRefused(message, self.cost().model_dump())


@dataclass(frozen=True)
class _Trouble:
    """A call that gave no completion: what to say about it, and whether the same call may yet succeed."""

    message: str
    retried: bool
    status: int = 0
    said: str = ""
    wait: float | None = None
    """Seconds that the server asked for."""

    @property
    def is_rate_limit(self) -> bool:
        return self.status == _TOO_MANY and self.retried


_NO_COMPLETION = _Trouble(
    "the model server's reply is no chat completion: check ROLESTREAM_MODEL__BASE_URL", retried=False
)


class Chat:
    """Chat completions of one server; remembers what each of its models takes."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        timeout: float,
        retries: int,
        first_wait: float = FIRST_WAIT,
        longest_wait: float = LONGEST_WAIT,
        patience: float = PATIENCE_WITH_RATE_LIMITS,
        pace: Pace,
        permits: Permits,
        now: Clock = time.monotonic,
    ) -> None:
        self._client, self._pace, self._permits = client, pace, permits
        self._breaker, self._rate_limit, self._now = Breaker(now=now), Spell(now=now), now
        self._admission = Admission(pace, permits, self._breaker)
        self._timeout, self._retries = timeout, retries
        self._patience = patience
        # The last wait begins within the patience and ends after it.
        self._first_wait, self._longest_wait = first_wait, min(longest_wait, patience / 2)
        self._dialects: dict[str, Dialect] = {}

    async def complete(self, ask: Ask, bill: Bill) -> Completion:
        """The completion; raises ModelFailed when no try gave one, ModelRefused when the model declined."""
        if not ask.optional:
            return await self._tried(ask, bill, self._retries, self._patience)
        seconds = min(self._timeout * _OPTIONAL_SHARE, _LONGEST_OPTIONAL)
        try:
            async with asyncio.timeout(seconds):
                return await self._tried(ask, bill, retries=0, patience=0.0)
        except TimeoutError as exc:
            raise bill.failed(f"the model server did not answer within {seconds:g} s, and was not needed") from exc

    async def _tried(self, ask: Ask, bill: Bill, retries: int, patience: float) -> Completion:
        dialect = self._dialects.get(ask.model, Dialect())
        failures, turned_away_at = 0, None
        while True:
            async with self._admission.call(ask.stage, again=turned_away_at is not None) as begun:
                if begun is None:
                    reason = self._breaker.reason
                    raise bill.failed(f"the model server is given a pause, for every call fails: {reason}")
                outcome = await self._request(ask, dialect, bill)
            if isinstance(outcome, ChatCompletion):
                self._succeeded(begun)
                self._remember(ask.model, dialect)
                return _completion(outcome, bill)
            if "content_filter" in outcome.said:
                raise bill.refused("the model server's content filter declined the request")
            other = adapted(dialect, outcome.status, outcome.said, structured=ask.shape is not None)
            if other is not None:
                dialect = other
                continue
            if outcome.is_rate_limit:
                self._turned_away(outcome, begun)
                turned_away_at = self._now() if turned_away_at is None else turned_away_at
                if self._now() - turned_away_at < patience:
                    continue
            if outcome.retried and not (ask.optional and outcome.is_rate_limit):
                self._failed(outcome.message)
            if outcome.is_rate_limit or not outcome.retried or failures >= retries:
                raise bill.failed(outcome.message)
            wait = wait_before_retry(failures, outcome.wait, self._first_wait, self._longest_wait, random.random())
            failures += 1
            log.debug("model call failed, trying again in %.1f s: %s", wait, outcome.message)
            with self._permits.resting():
                await asyncio.sleep(wait)

    def _turned_away(self, outcome: _Trouble, begun: float) -> None:
        """A rate limit slows all calls down and fails none."""
        wait = wait_before_retry(0, outcome.wait, self._first_wait, self._longest_wait, random.random())
        self._pace.hold_off(wait, begun)
        if self._rate_limit.happened():
            log.warning("the model server wants fewer calls: slowing down", extra={"action": "rate_limit_began"})

    def _failed(self, reason: str) -> None:
        if self._breaker.failed(reason):
            log.warning(
                "the model server fails every call, trying one every %g s: %s",
                self._breaker.pause,
                reason,
                extra={"action": "breaker_opened"},
            )

    def _succeeded(self, begun: float) -> None:
        self._pace.answered(begun)
        if self._breaker.succeeded():
            log.warning("the model server is back", extra={"action": "breaker_closed"})
        if turned_away := self._rate_limit.ended():
            log.warning(
                "the model server takes every call again, after it turned away %d",
                turned_away,
                extra={"action": "rate_limit_ended"},
            )

    def _remember(self, model: str, dialect: Dialect) -> None:
        if dialect != self._dialects.get(model, Dialect()):
            log.info("the model server takes %s", dialect, extra={"action": "model_adapt"})
        self._dialects[model] = dialect

    async def _request(self, ask: Ask, dialect: Dialect, bill: Bill) -> ChatCompletion | _Trouble:
        parameters = dialect.parameters(ask.shape, ask.max_tokens, ask.temperature)
        messages: Any = [{"role": message.role, "content": message.content} for message in ask.messages]
        bill.calls += 1
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                completion = await self._client.chat.completions.create(
                    model=ask.model, messages=messages, **parameters
                )
        except (TimeoutError, openai.APIError, ValueError) as exc:
            return self._trouble(exc, ask.model)
        finally:
            bill.seconds += time.monotonic() - started
        checked = _checked(completion, bill)
        if isinstance(checked, ChatCompletion) and checked.usage is not None:
            self._pace.spent(checked.usage.total_tokens or 0)
        return checked

    def _trouble(self, exc: Exception, model: str) -> _Trouble:
        # What the server says may echo the conversation or the key: it is matched here and goes no further.
        if isinstance(exc, (TimeoutError, openai.APITimeoutError)):
            message = f"the model server did not answer within {self._timeout:g} s: raise ROLESTREAM_MODEL__TIMEOUT"
            return _Trouble(f"{message} or take a faster model", retried=True)
        if isinstance(exc, openai.APIConnectionError):
            url = self._client.base_url
            message = f"the model server at {url.host}:{url.port or url.scheme} cannot be reached"
            return _Trouble(f"{message}: start it, or set ROLESTREAM_MODEL__BASE_URL", retried=True)
        if isinstance(exc, openai.APIStatusError):
            said = f"{exc} {exc.code} {exc.body}".lower()
            return _Trouble(
                _status_message(exc, said, model),
                retried=retried(exc.status_code, said),
                status=exc.status_code,
                said=said,
                wait=retry_after(exc.response.headers, datetime.now(UTC)),
            )
        if isinstance(exc, UnicodeEncodeError):
            return _Trouble("the API key holds letters that no key has: set ROLESTREAM_MODEL__API_KEY", retried=False)
        return _NO_COMPLETION


def _checked(completion: object, bill: Bill) -> ChatCompletion | _Trouble:
    """Servers send error pages and error objects with status 200 as well."""
    if not isinstance(completion, ChatCompletion) or not isinstance(completion.choices, list):
        return _NO_COMPLETION
    usage = completion.usage
    if usage is not None:
        bill.prompt_tokens += usage.prompt_tokens or 0
        bill.completion_tokens += usage.completion_tokens or 0
    if not completion.choices or completion.choices[0].message is None:
        return _Trouble("the model server sent a reply without a choice", retried=True)
    return completion


def _completion(completion: ChatCompletion, bill: Bill) -> Completion:
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        raise bill.refused("the model server's content filter withheld the reply")
    if choice.message.refusal:
        raise bill.refused("the model declined to reply")
    return Completion(_text(choice.message.content), cut=choice.finish_reason == "length")


def _text(content: object) -> str:
    """Some servers send a list of parts where the contract has a string."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


_CODE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
_STATUS_MESSAGES = {
    401: "the model server refused the API key: set ROLESTREAM_MODEL__API_KEY",
    403: "the API key may not use model {model}: set ROLESTREAM_MODEL__API_KEY or ROLESTREAM_MODEL__NAME",
    404: "the model server knows no model {model}, or not this address: "
    "set ROLESTREAM_MODEL__NAME or ROLESTREAM_MODEL__BASE_URL",
    429: "the model server turns calls away: lower ROLESTREAM_MAX_RUNNING",
}


def _status_message(exc: openai.APIStatusError, said: str, model: str) -> str:
    message = _STATUS_MESSAGES.get(exc.status_code, "the model server failed")
    if "insufficient_quota" in said:
        message = "the quota of the API key is used up: raise it, or set another ROLESTREAM_MODEL__API_KEY"
    elif any(words in said for words in ("context length", "context_length", "context size", "maximum context")):
        message = "the request is longer than model {model} can read: take a model with a longer context"
    # The code is a fixed ASCII word of the server's; its message may hold what was sent.
    code = f", {exc.code}" if exc.code and _CODE.fullmatch(exc.code) else ""
    return f"{message.format(model=model)} (status {exc.status_code}{code})"
