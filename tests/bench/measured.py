"""One worker process under a load that is published and read back here: rates, times, CPU and memory."""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for
from tests.integration.test_crashes import environment

_TICKS = os.sysconf("SC_CLK_TCK")
#: Seconds until what a start leaves to do is done.
_SETTLING = 5


@dataclass(frozen=True)
class Bench:
    """A worker at work, and where to publish and read."""

    here: Deployment
    pid: int

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def resident_mib(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, in user and system mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def idle_cores(seconds: float) -> float:
    """What `rolestream dev` uses while nothing is asked: the worker, its broker and its database together."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pipeline.cli", "dev"),
        env=os.environ | {"ROLESTREAM_API__PORT": "0"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        family = [process.pid, *_descendants(process.pid)]
        await asyncio.sleep(_SETTLING)
        before, begun = sum(map(cpu_seconds, family)), time.perf_counter()
        await asyncio.sleep(seconds)
        return (sum(map(cpu_seconds, family)) - before) / (time.perf_counter() - begun)
    finally:
        process.terminate()
        await process.wait()


def _descendants(pid: int) -> list[int]:
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [*children, *(one for child in children for one in _descendants(child))]


@asynccontextmanager
async def worker(
    services: Services,
    seconds: float,
    *options: str,
    max_running: int = 256,
    fetch_max_wait_ms: int = 10,
    user_memory: bool = False,
) -> AsyncIterator[Bench]:
    """A warm worker whose model takes `seconds` a call; with `user_memory` it asks for lasting facts and summaries."""
    kafka = {"partitions": 1, "fetch_max_wait_ms": fetch_max_wait_ms}
    settings = settings_for(services, Names(), kafka=kafka, user_memory={"enabled": user_memory})
    async with deployed(settings) as here:
        env = environment(settings) | {"ROLESTREAM_MAX_RUNNING": str(max_running)}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.bench.worker", str(seconds), *options, env=env, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        await process.stdout.readline()
        await here.ask("hello", conversation="warm-up")
        await here.records("answers", 1)
        try:
            yield Bench(here, process.pid)
        finally:
            process.terminate()
            await process.wait()


async def turns_a_second(bench: Bench, turns: int, *, turns_a_conversation: int = 5, name: str = "") -> float:
    """Publish everything at once; from the first question to the last answer."""
    answered, begun = len(await bench.here.records("answers", 0)), time.perf_counter()
    conversations = range(turns // turns_a_conversation)
    await asyncio.gather(*(_converse(bench.here, f"{name}{number}", turns_a_conversation) for number in conversations))
    await bench.here.records("answers", answered + turns, within=1200)
    return turns / (time.perf_counter() - begun)


async def all_learnt(bench: Bench, turns: int, conversations: int) -> None:
    """Wait until every turn has been looked at for lasting facts, and every conversation is summarised."""
    database = bench.here.database
    async with asyncio.timeout(1200):
        while await database["messages"].count_documents({"role": "USER", "observed": {"$ne": None}}) < turns:
            await asyncio.sleep(1)
        while await database["conversations"].count_documents({"summary": {"$ne": None}}) < conversations:
            await asyncio.sleep(1)


async def _converse(here: Deployment, conversation: str, turns: int) -> None:
    for turn in range(1, turns + 1):
        question_id = f"{conversation}-{turn}"
        await here.ask("I am a nurse", conversation=conversation, user=conversation, questionId=question_id)


async def own_milliseconds(bench: Bench, turns: int, a_second: float, model_seconds: float) -> Sequence[float]:
    """From publishing to hearing the answer, without the model's time, for questions at random times."""
    asked: dict[str, float] = {}
    times: list[float] = []
    rng = random.Random(1)

    async def publish() -> None:
        for number in range(turns):
            name = f"own-{number}"
            asked[name] = time.perf_counter()
            await bench.here.ask("I am a nurse", conversation=name, questionId=name)
            await asyncio.sleep(rng.expovariate(a_second))

    async def hear() -> None:
        heard = 0
        while len(times) < turns:
            records = await bench.here.records("answers", heard + 1, within=120)
            now = time.perf_counter()
            for record in records[heard:]:
                question = json.loads(record.value)["questionId"]
                if question in asked:
                    times.append((now - asked[question] - 2 * model_seconds) * 1000)
            heard = len(records)

    await asyncio.gather(publish(), hear())
    return times


def percentile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100)[percent - 1]
