"""Records what a model server says about a file of conversations, and plays it back in the server's place.

    python -m tests.measures.recording CONVERSATIONS REPLIES --base-url http://127.0.0.1:8080/v1

reads the conversations with the model through a proxy that keeps each reply. Without --base-url the replies are played
back to the code as it is, which the tests do as well. Both print the figures.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
from aiohttp import web

from pipeline.adapters.openai import OpenAIModel
from pipeline.adapters.openai.prompting import extraction_messages
from pipeline.evaluation import Case, Figures, asked, evaluate
from pipeline.processing import Policy
from tests.scripted_model import Call, Reply, Script, ScriptedModel, fails

Json = dict[str, Any]

#: Seconds for one reply: a small machine takes its time.
_TIMEOUT = 600.0


@dataclass
class Recording:
    """The replies to the requests of one evaluation, with its figures."""

    model: str
    prompt: str = ""
    """What all of the requests have in common, as a digest."""
    expectations: int = 0
    met: int = 0
    replies: dict[str, Json] = field(default_factory=dict)
    """By what is a request's own."""

    def note(self, request: Json, response: Json) -> None:
        self.prompt = digest(request)
        choices = [
            {key: choice.get(key) for key in ("index", "finish_reason", "message")} for choice in response["choices"]
        ]
        self.replies[own(request)] = {"choices": choices, "usage": response.get("usage")}

    def script(self) -> Script:
        """A server's script that says again what was recorded."""

        def reply(call: Call) -> Reply:
            said = self.replies.get(own(call.body))
            if said is None:
                return fails(404, "this was not recorded: record the conversations anew")
            fixed = {"id": "recorded", "object": "chat.completion", "created": 0, "model": self.model}
            return Reply(body=fixed | said)

        return reply

    def write(self, path: Path) -> None:
        head = asdict(self) | {"replies": len(self.replies)}
        lines = [head, *({"asked": json.loads(asked), "said": said} for asked, said in self.replies.items())]
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        replies = {json.dumps(line["asked"], ensure_ascii=False): line["said"] for line in lines}
        return cls(**(head | {"replies": replies}))


def own(request: Json) -> str:
    """The messages of a request that no other request has: the question with those before it, and a second asking."""
    return json.dumps(request["messages"][_fixed() :], ensure_ascii=False)


def digest(request: Json) -> str:
    """What a request has in common with all others: the prompt and the parameters."""
    common = request | {"messages": request["messages"][: _fixed()], "model": "", "max_tokens": 0}
    return hashlib.sha256(json.dumps(common, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _fixed() -> int:
    return len(extraction_messages("", ())) - 1


class Proxy:
    """Stands between a model and its server, and notes every reply."""

    def __init__(self, base_url: str, recording: Recording) -> None:
        self._url, self._recording = f"{base_url.rstrip('/')}/chat/completions", recording
        self.base_url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._pass_on)
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
        await self._session.close()

    async def _pass_on(self, request: web.Request) -> web.Response:
        body = await request.json()
        headers = {"Authorization": request.headers.get("Authorization", "")}
        async with self._session.post(self._url, json=body, headers=headers) as response:
            said, status = await response.read(), response.status
        if status == 200:
            self._recording.note(body, json.loads(said))
        return web.Response(status=status, body=said, content_type="application/json")


def conversations(path: Path) -> list[Case]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def record(cases: Sequence[Case], base_url: str, name: str, key: str = "none") -> tuple[Recording, Figures]:
    """Read the conversations with the model at `base_url`, and keep what it says."""
    recording = Recording(name)
    async with Proxy(base_url, recording) as proxy:
        figures = await read_by_model(cases, proxy.base_url, name, key)
    recording.expectations, recording.met = figures.expectations, figures.met
    return recording, figures


async def played_back(recording: Recording, cases: Sequence[Case]) -> tuple[Figures, list[Call]]:
    """What the code as it is makes of the replies that were recorded, and its requests."""
    async with ScriptedModel(otherwise=recording.script()) as server:
        return await read_by_model(cases, server.base_url, recording.model), server.calls


async def read_by_model(cases: Iterable[Case], base_url: str, name: str, key: str = "none") -> Figures:
    """The figures of an evaluation by the model of a server."""
    model = OpenAIModel(
        base_url=base_url, api_key=key, extraction_name=name, answer_name=name, timeout=_TIMEOUT, retries=0
    )
    try:
        return await evaluate(cases, asked(model, Policy().history), progress=_tell)
    finally:
        await model.aclose()


def _tell(figures: Figures) -> None:
    print(f"{figures.conversations} conversations, {figures.met} of {figures.expectations} met", file=sys.stderr)


def main() -> None:
    """Record a model server's replies to a file of conversations, or play them back."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("conversations", type=Path)
    parser.add_argument("replies", type=Path)
    parser.add_argument("--base-url", help="of a model server, up to and with /v1: record its replies anew")
    parser.add_argument("--name", default="default", help="the model's name")
    parser.add_argument("--key", default="none", help="the server's API key")
    arguments = parser.parse_args()
    cases = conversations(arguments.conversations)
    if arguments.base_url:
        recording, figures = asyncio.run(record(cases, arguments.base_url, arguments.name, arguments.key))
        recording.write(arguments.replies)
    else:
        figures, _ = asyncio.run(played_back(Recording.read(arguments.replies), cases))
    print(json.dumps(figures.to_json(), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
