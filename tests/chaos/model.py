"""The model server of a case: its mood may change, and it knows which calls were made for what was stored."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.chaos.processes import quiet_port
from tests.scripted_model import Call, Reply, Script, ScriptedModel, default_reply, gives

#: Seconds of a call, at least and at most.
_LATENCY = (0.02, 0.08)
#: Within this time after it was thawed, a worker makes the calls that it had decided on before.
_THAWING = timedelta(seconds=2)
_QUESTION = re.compile(r"question (\S+):")
_JOB = re.compile(r"I am a (\w+)")
#: The slot of the one fact that every turn tells of its user.
SLOT = "job"

StoredAt = Callable[[str, str], Awaitable[datetime | None]]


class Model:
    """Answers as in a good mood, until `mood` is another script; `stop` and `start` take its port away and give it.

    `stored_at(kind, question_id)` tells when a call's outcome was stored.
    """

    def __init__(self, stored_at: StoredAt) -> None:
        self._stored_at = stored_at
        self.mood: Script | None = None
        self.looked = timedelta(seconds=1)
        """How long before its call a worker may have looked for what is stored."""
        self.made: Counter[str] = Counter()
        """Calls by the API key, which is the worker's name."""
        self.stood_still: dict[str, tuple[datetime, datetime]] = {}
        """When a worker was last frozen, and thawed."""
        self.repeated = 0
        """Calls for a turn whose outcome was stored."""
        self.overtaken = 0
        """Calls that a worker had decided on when it was frozen, for a turn that was stored while it stood still."""
        self._calls: Counter[tuple[str, str]] = Counter()
        self._checks: set[asyncio.Task[None]] = set()
        self._server = ScriptedModel(otherwise=self._reply, port=quiet_port())

    @property
    def base_url(self) -> str:
        return self._server.base_url

    @property
    def running(self) -> int:
        return self._server.running

    async def start(self) -> None:
        await self._server.__aenter__()

    async def stop(self) -> None:
        await self._server.__aexit__()

    async def settled(self) -> None:
        """Wait until every repeated call has been looked into."""
        await asyncio.gather(*self._checks)

    def _reply(self, call: Call) -> Reply:
        self._server.calls.clear()
        caller = call.headers["Authorization"].removeprefix("Bearer ")
        self.made[caller] += 1
        if call.kind in ("extraction", "answer"):
            self._count(call, caller)
        if self.mood is not None:
            return self.mood(call)
        reply = _job(call) if call.kind == "features" else default_reply(call)
        return replace(reply, latency=random.uniform(*_LATENCY))

    def _count(self, call: Call, caller: str) -> None:
        asked = call.data["question"] if call.kind == "extraction" else call.last
        found = _QUESTION.search(asked)
        assert found is not None, asked
        name = (call.kind, found[1])
        self._calls[name] += 1
        if self._calls[name] > 1:
            check = asyncio.create_task(self._check(*name, caller))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)

    async def _check(self, kind: str, question: str, caller: str) -> None:
        called = datetime.now(UTC)
        stored = await self._stored_at(kind, question)
        if stored is None or stored > called - self.looked:
            return
        frozen, thawed = self.stood_still.get(caller, (called, called))
        if frozen <= stored <= thawed and called <= thawed + _THAWING:
            self.overtaken += 1
        else:
            self.repeated += 1


def _job(call: Call) -> Reply:
    """What a turn tells of its user."""
    found = _JOB.search(call.data["message"])
    assert found is not None
    fact = {"operation": "OBSERVE", "slot": SLOT, "value": found[1], "category": "PERSONAL_INFO", "quote": found[0]}
    return gives({"changes": [fact]})
