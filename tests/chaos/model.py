"""The model server of a case: its mood may change, and it knows which calls were made for what was stored."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.chaos.processes import quiet_port
from tests.scripted_model import Call, Reply, Script, ScriptedModel, default_reply

#: Seconds of a call, at least and at most.
_LATENCY = (0.02, 0.08)
#: A document this much older than a call, in seconds, was there before the caller could look.
_SURELY_BEFORE = 1.0
_QUESTION = re.compile(r"question (\S+):")

IsStored = Callable[[str, str, datetime], Awaitable[bool]]


class Model:
    """Answers as in a good mood, until `mood` is another script; `stop` and `start` take its port away and give it.

    `is_stored(kind, question_id, before)` tells whether a call's outcome was stored before a time.
    """

    def __init__(self, is_stored: IsStored) -> None:
        self._is_stored = is_stored
        self.mood: Script | None = None
        self.calls: Counter[tuple[str, str]] = Counter()
        self.repeated = 0
        """Calls for a turn whose outcome was stored."""
        self._checks: set[asyncio.Task[None]] = set()
        self._server = ScriptedModel(otherwise=self._reply, port=quiet_port())

    @property
    def base_url(self) -> str:
        return self._server.base_url

    async def start(self) -> None:
        await self._server.__aenter__()

    async def stop(self) -> None:
        await self._server.__aexit__()

    async def settled(self) -> None:
        """Wait until every repeated call has been looked into."""
        await asyncio.gather(*self._checks)

    def _reply(self, call: Call) -> Reply:
        self._server.calls.clear()
        asked = call.data["question"] if call.kind == "extraction" else call.last
        found = _QUESTION.search(asked)
        assert found is not None, asked
        name = (call.kind, found[1])
        self.calls[name] += 1
        if self.calls[name] > 1:
            check = asyncio.create_task(self._check(name))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
        if self.mood is not None:
            return self.mood(call)
        return replace(default_reply(call), latency=random.uniform(*_LATENCY))

    async def _check(self, name: tuple[str, str]) -> None:
        before = datetime.now(UTC) - timedelta(seconds=_SURELY_BEFORE)
        self.repeated += await self._is_stored(*name, before)
