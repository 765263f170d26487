"""`rolestream api` as a process beside a worker: asked, answered, heard, and stopped."""

import asyncio
import json
import signal
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.adapters.embedded import Services
from pipeline.settings import Settings
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working
from tests.integration.test_cli import environment, start

ADA, BO = "the-key-of-ada-1", "the-key-of-bob-1"
KEYS = json.dumps(
    [
        {"key": ADA, "scopes": ["read", "write"], "users": ["ada"]},
        {"key": BO, "scopes": ["read", "write"], "users": ["bo"]},
    ]
)


@asynccontextmanager
async def serving(settings: Settings, folder: Path, **more: str) -> AsyncIterator[tuple[Process, str]]:
    """The process and its address; whoever has not stopped it kills it."""
    here = {"ROLESTREAM_API__PORT": "0", "ROLESTREAM_API__KEYS": KEYS} | more
    process = await start("api", env=environment(settings, here), cwd=folder)
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        yield process, line.removeprefix("rolestream: serving ").strip()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def stop(process: Process) -> tuple[int | None, str, str]:
    """The exit code, and what was printed since, after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def get(client: httpx.AsyncClient, path: str) -> Any:
    """The data, once it is there."""
    async with asyncio.timeout(60):
        while (answer := await client.get(path)).status_code == 202:
            await asyncio.sleep(0.05)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


class Heard:
    """What comes on a stream of events, by its names."""

    def __init__(self) -> None:
        self.events: dict[str, Any] = {}
        self._more = asyncio.Event()

    async def hear(self, client: httpx.AsyncClient, path: str) -> None:
        """Until the stream ends."""
        name = "begun"
        async with client.stream("GET", path) as stream:
            assert stream.status_code == 200
            async for line in stream.aiter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                else:
                    self.events[name] = json.loads(value) if field == "data" else self.events.get(name)
                self._more.set()

    async def until(self, *names: str) -> None:
        async with asyncio.timeout(60):
            while not set(names) <= set(self.events):
                self._more.clear()
                await self._more.wait()


async def test_a_question_is_asked_answered_heard_and_the_server_stops(
    services: Services, names: Names, tmp_path: Path
) -> None:
    """Its events come while it is worked on; another's key finds nothing; SIGTERM ends the stream and the process."""
    settings, heard = settings_for(services, names), Heard()
    wish = {"conversationId": "ward", "text": "I am a nurse. How do I write a handover note?"}
    async with (
        deployed(settings),
        working(settings),
        serving(settings, tmp_path) as (process, address),
        httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {ADA}"}, timeout=60) as client,
        asyncio.TaskGroup() as hearing,
    ):
        hearing.create_task(heard.hear(client, "/api/events?session_id=ward"))
        await heard.until("begun")
        asked = await client.post("/api/questions", json=wish)
        assert asked.status_code == 202
        data = asked.json()["data"]
        assert (data["conversationId"], data["userId"]) == ("ward", "ada")
        path = f"/api/answers/{data['questionId']}?session_id=ward"
        answer = await get(client, path)
        await heard.until("turn", "extraction", "guidance", "answer")
        assert answer["status"] == "ok"
        assert heard.events["answer"] == answer
        others = await client.get(path, headers={"Authorization": f"Bearer {BO}"})
        assert (others.status_code, others.json()["message"]) == (404, "there is no such question")
        stopped_at = time.monotonic()
        code, out, err = await stop(process)
        assert (code, out) == (0, "")
        assert time.monotonic() - stopped_at < 4
        await heard.until("ended")
    for secret in (ADA, BO, wish["text"]):
        assert secret not in err


@pytest.mark.parametrize("keys", [KEYS, ""])
async def test_it_waits_for_kafka_and_can_be_stopped_meanwhile(keys: str, tmp_path: Path) -> None:
    """It says that Kafka is away and goes on waiting; SIGTERM ends it as if it had begun."""
    away = {"ROLESTREAM_KAFKA__BROKERS": "127.0.0.1:1", "ROLESTREAM_API__KEYS": keys}
    process = await start("api", env=environment(more=away), cwd=tmp_path)
    assert process.stderr is not None
    assert "Kafka is away" in (await process.stderr.readline()).decode()
    code, out, err = await stop(process)
    assert (code, out, err) == (0, "", "")


async def test_a_database_that_is_away_is_503(services: Services, names: Names, tmp_path: Path) -> None:
    """A request is not kept waiting for ever; the answer says when to try again, and not where the database is."""
    settings = settings_for(services, names)
    async with (
        deployed(settings),
        serving(settings, tmp_path, ROLESTREAM_MONGO__URL="mongodb://127.0.0.1:1") as (process, address),
        httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {ADA}"}, timeout=60) as client,
    ):
        answer = await client.get("/api/user/memory/list")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert answer.json()["message"] == "Kafka or MongoDB is away: try again later"
        code, _, err = await stop(process)
    assert code == 0
    assert "MongoDB is away" in err
