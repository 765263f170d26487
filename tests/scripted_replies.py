"""What the scripted model server replies with: each kind of success and trouble, and the default for load tests."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

Json = dict[str, Any]
Kind = Literal["extraction", "answer", "report", "features", "still-hold", "summary"]
#: What tells a call: a key of the object that its prompt asks for.
_ASKED_FOR: dict[Kind, str] = {
    "report": "surveyNote",
    "extraction": "evidence",
    "features": "slot",
    "still-hold": "holds",
    "summary": "blocker",
}


@dataclass(frozen=True)
class Call:
    """One recorded request."""

    body: Json
    headers: dict[str, str]

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def last(self) -> str:
        """The last message: the question of an answer, the data of an extraction or report."""
        return self.messages[-1]["content"]

    @property
    def format(self) -> str:
        """The response format's type; "text" where none was sent."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def kind(self) -> Kind:
        return next((kind for kind, key in _ASKED_FOR.items() if f"\n- {key}:" in self.system), "answer")

    @property
    def data(self) -> Json:
        """The data of an extraction or report; examples stand before it, a re-ask after it."""
        asked = [message["content"] for message in self.messages if message["role"] == "user"]
        return dict(json.loads(next(text for text in reversed(asked) if text.startswith("{"))))


@dataclass(frozen=True)
class Reply:
    """What the server does with one call."""

    content: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    """Sent instead of a completion; a string as it is."""
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: bool = True
    latency: float | None = None
    """Seconds before the reply; None for the server's own."""
    dropped: bool = False
    """Close the connection without a reply."""


Script = Callable[[Call], Reply]


def says(content: str, **more: Any) -> Reply:
    """A completion with this text."""
    return Reply(content, **more)


def gives(value: object, **more: Any) -> Reply:
    """A completion with this value as JSON."""
    return Reply(json.dumps(value, ensure_ascii=False), **more)


def fails(status: int, message: str = "no", headers: dict[str, str] | None = None, **error: str) -> Reply:
    """An error as OpenAI words it."""
    return Reply(status=status, headers=headers or {}, body={"error": {"message": message, **error}})


def hangs(seconds: float = 30.0) -> Reply:
    """No reply for so long."""
    return Reply("late", latency=seconds)


def drops() -> Reply:
    """The connection is closed without a reply."""
    return Reply(dropped=True)


def refuses(why: str = "I cannot help with that.") -> Reply:
    """A refusal, as models with structured output word it."""
    return Reply(None, refusal=why)


_STATED = (
    re.compile(r"\bI(?:'m| am) an? ((?:\w+ ?){1,2}\w*)", re.I),
    re.compile(r"我是(?:一[名个位])?([^，。,.!！？?\s]{2,8})"),
)


def default_reply(call: Call) -> Reply:
    """The same reply for the same request: a stated identity is extracted, an answer names its question."""
    if call.kind == "answer":
        known = " (fitted to the user)" if "learnt from their earlier questions" in call.system else ""
        return says(f"Answer{known} to: {call.last[:200]}")
    if call.kind in ("features", "still-hold"):
        return gives({"changes": []} if call.kind == "features" else {"holds": []})
    if call.kind == "summary":
        return gives(default_summary(call.data["messages"]))
    question = str(call.data["question"])
    if call.kind == "report":
        return gives(default_report(question, [source["id"] for source in call.data["sources"]]))
    return gives(default_extraction(question))


def default_extraction(question: str) -> Json:
    """What a plain statement such as "I am a nurse" says about the user."""
    found = next((match for match in (pattern.search(question) for pattern in _STATED) if match), None)
    identities = [found[1].strip()] if found else []
    return {
        "identities": identities,
        "characteristics": [],
        "evidence": [{"quote": found[0].strip(), "supports": identities}] if found else [],
        "preferences": {"detailLevel": None, "contentDepth": None, "responseFormat": None},
        "states": identities,
        "denies": [],
        "score": 0.9 if found else 0.1,
        "overview": identities[0] if found else "",
    }


def default_summary(messages: Iterable[dict[str, str]]) -> Json:
    """The user's first words are the target, the assistant's last ones the suggestion."""
    first = next((said["text"] for said in messages if said["role"] == "user"), "")
    last = next((said["text"] for said in reversed([*messages]) if said["role"] == "assistant"), "")
    return {"target": first[:200], "blocker": "", "suggestion": last[:200], "nextStep": ""}


def default_report(question: str, source_ids: Iterable[str]) -> Json:
    """A small report on the question that cites every source."""
    return {
        "title": f"Report: {question[:80]}",
        "keyPoints": ["The first point.", "The second point."],
        "overview": "An overview.",
        "sections": [{"heading": "Analysis", "text": "The analysis."}],
        "surveyNote": "What was looked at.",
        "citations": list(source_ids),
    }


def response_of(call: Call, reply: Reply) -> web.Response:
    if isinstance(reply.body, str):
        return web.Response(status=reply.status, headers=reply.headers, text=reply.body)
    body = _completion(call, reply) if reply.body is None else reply.body
    return web.json_response(body, status=reply.status, headers=reply.headers)


def _completion(call: Call, reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": reply.content}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    prompt_tokens = sum(len(message["content"]) for message in call.messages) // 4
    completion_tokens = len(reply.content or "") // 4
    completion: Json = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": call.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}],
    }
    if reply.usage:
        completion["usage"] = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
    return completion
