"""`kill -9` at every point of every processor loses no turn, doubles none, and calls no model for a stored turn."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipeline.adapters.embedded import Services, embedded_services
from pipeline.settings import Settings
from tests.conftest import Names
from tests.crashing_worker import POINTS, PUBLISHES
from tests.deployment import Deployment, deployed, settings_for
from tests.scripted_model import ScriptedModel

CONVERSATIONS, TURNS = 3, 4
CALLS_MODEL = ("role-extraction", "report-generation")
#: Workers that start at once: a start is work for the CPU, and the wait for a dead member's group is not.
AT_ONCE = 4
#: What an interpreter may take to end on a busy machine, in seconds.
_SLOW_MACHINE = 5


def environment(settings: Settings) -> dict[str, str]:
    """What a worker in a process of its own needs to run with these settings."""
    values = {
        "KAFKA__BROKERS": settings.kafka.brokers,
        "KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "KAFKA__SESSION_TIMEOUT": settings.kafka.session_timeout,
        "KAFKA__FETCH_MAX_WAIT_MS": settings.kafka.fetch_max_wait_ms,
        "MONGO__URL": settings.mongo.url.get_secret_value(),
        "MONGO__DATABASE": settings.mongo.database,
        "MODEL__BASE_URL": settings.model.base_url,
        "USER_MEMORY__ENABLED": settings.user_memory.enabled,
    }
    return os.environ | {f"ROLESTREAM_{name}": str(value) for name, value in values.items() if value is not None}


async def _run_until_answered(here: Deployment, model: ScriptedModel, *place: str) -> Counter[str]:
    """Start the worker again and again until every question is answered.

    Returns the model calls made up to the kill for what was stored by then.
    """
    answered = asyncio.create_task(here.records("answers", _all_answered, within=100))
    settled: Counter[str] = Counter()
    kills = 0
    while not answered.done():
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.crashing_worker",
            *place,
            env=environment(here.settings),
            stdout=asyncio.subprocess.DEVNULL,
        )
        ended = asyncio.create_task(worker.wait())
        try:
            await asyncio.wait({ended, answered}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                worker.terminate()
            assert await ended in (0, -9)
        finally:
            if worker.returncode is None:
                worker.kill()
                await worker.wait()
        if worker.returncode == -9:
            kills += 1
            stored = await _stored(here)
            settled = Counter({call: count for call, count in _calls(model).items() if call in stored})
    await answered
    assert kills == 1
    return settled


def _calls(model: ScriptedModel) -> Counter[str]:
    """How often the model was asked for each extraction and answer, by the question's own words."""
    return Counter(
        f"{call.kind} {call.data['question'] if call.kind == 'extraction' else call.last}" for call in model.calls
    )


async def _stored(here: Deployment) -> set[str]:
    """The extractions and answers that are stored, named as `_calls` names them."""
    extracted = {f"extraction {_question(d['questionId'])}" for d in await here.documents("extractions")}
    answers = await here.documents("messages", role="ASSISTANT")
    return extracted | {f"answer {_question(d['questionId'])}" for d in answers}


def _question(question_id: str) -> str:
    return f"I am a nurse, question {question_id}"


def _has_every_turn(records: list[Any]) -> bool:
    return len({dict(record.headers)["eventId"] for record in records}) == CONVERSATIONS * TURNS


def _all_answered(records: list[Any]) -> bool:
    return len({json.loads(record.value)["questionId"] for record in records}) == CONVERSATIONS * TURNS


async def _case(services: Services, processor: str, point: str, folder: Path, gate: asyncio.Semaphore) -> None:
    async with gate, ScriptedModel(latency=0.15) as model:
        settings = settings_for(
            services, Names(), model={"base_url": model.base_url, "api_key": "k"}, user_memory={"enabled": False}
        )
        async with deployed(settings) as here:
            for turn in range(1, TURNS + 1):
                for conversation in range(CONVERSATIONS):
                    name = f"c{conversation}"
                    question_id = f"{name}-{turn}"
                    await here.ask(_question(question_id), conversation=name, questionId=question_id)
            marker = folder / f"{processor}-{point}"
            settled = await _run_until_answered(here, model, processor, point, str(marker))
            await _nothing_lost_or_doubled(here)
            assert {call: _calls(model)[call] for call in settled} == settled, (processor, point)


async def _nothing_lost_or_doubled(here: Deployment) -> None:
    wanted = {(f"c{c}", turn, f"c{c}-{turn}") for c in range(CONVERSATIONS) for turn in range(1, TURNS + 1)}
    for collection, per_turn in (("messages", 2), ("extractions", 1), ("role_tracks", 1)):
        found = Counter((d["conversationId"], d["turn"], d["questionId"]) for d in await here.documents(collection))
        assert found == dict.fromkeys(wanted, per_turn), collection
    for record in await here.records("answers", 1):
        answer = json.loads(record.value)
        assert (answer["conversationId"], answer["turn"], answer["questionId"]) in wanted
    by_event: dict[bytes, set[bytes]] = {}
    for topic in ("turns", "extractions", "guidance", "answers"):
        for record in await here.records(topic, _has_every_turn):
            by_event.setdefault(dict(record.headers)["eventId"], set()).add(record.value)
    assert {len(values) for values in by_event.values()} == {1}, "a redelivered event differs from the first"
    assert await here.documents("dead_letters") == []


@pytest.mark.timeout(280)
async def test_killing_the_worker_anywhere_loses_and_doubles_nothing(services: Services, tmp_path: Path) -> None:
    """At 18 points: documents are there once, every event's redelivery is the same, turns are in order."""
    gate = asyncio.Semaphore(AT_ONCE)
    cases = [(name, point) for name in PUBLISHES for point in POINTS if "model" not in point or name in CALLS_MODEL]
    async with asyncio.TaskGroup() as group:
        for processor, point in cases:
            group.create_task(_case(services, processor, point, tmp_path, gate))


async def test_a_worker_whose_kafka_is_away_still_ends_when_told_to(names: Names, tmp_path: Path) -> None:
    """SIGTERM during an outage ends the worker within its drain deadline and 3 seconds, with 1 and a reason."""
    async with embedded_services() as services:
        settings = settings_for(services, names)
        async with deployed(settings) as here:
            env = environment(settings) | {"ROLESTREAM_DRAIN_TIMEOUT": "1"}
            log = tmp_path / "log"
            with log.open("wb") as stderr:
                worker = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "pipeline.cli", "worker", env=env, stderr=stderr
                )
            await here.ask("I am a nurse")
            await here.records("answers", 1)
        await services.children[0].stop()
        while "Kafka is away" not in log.read_text():
            await asyncio.sleep(0.05)
        worker.terminate()
        assert await asyncio.wait_for(worker.wait(), 1 + 3 + _SLOW_MACHINE) == 1
        assert "rolestream: Kafka does not answer" in log.read_text()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_worker_that_waits_for_kafka_at_its_start_ends_when_told_to(sign: signal.Signals) -> None:
    """Nothing has begun, so there is nothing to finish: it ends at once, with 0."""
    env = os.environ | {"ROLESTREAM_KAFKA__BROKERS": "127.0.0.1:1"}
    command = (sys.executable, "-m", "pipeline.cli", "worker")
    worker = await asyncio.create_subprocess_exec(*command, env=env, stderr=asyncio.subprocess.PIPE)
    assert worker.stderr is not None
    while b"Kafka is away" not in await worker.stderr.readline():
        pass
    worker.send_signal(sign)
    assert await asyncio.wait_for(worker.wait(), _SLOW_MACHINE) == 0
