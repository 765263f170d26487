"""`make bench`: a table of rates beside their limits and beside plain Faust agents, and build/bench.json with the same.

On the embedded services, or on those that ROLESTREAM_TEST_BROKER and ROLESTREAM_TEST_MONGO name. `--quick` takes a
tenth of the work, for a look.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from pipeline.adapters.embedded import Services, embedded_services
from pipeline.errors import Unavailable
from pipeline.settings import KafkaSettings
from pipeline.telemetry import configure_logging
from tests.bench.arbitrating import forget_names, milliseconds_a_turn
from tests.bench.dispatching import Latency, log_normal, records_a_second
from tests.bench.measured import all_learnt, idle_cores, own_milliseconds, percentile, turns_a_second, worker
from tests.kafka import kafka_cluster

RESULT = Path("build/bench.json")
#: An answered turn asks the model twice: for the extraction and for the answer.
CALLS_A_TURN = 2
_IDLE_SECONDS = 20

Figures = dict[str, float]


def _say(figures: Figures, name: str, value: float, limit: float | None = None) -> None:
    figures[name] = round(value, 3)
    beside = ""
    if limit is not None:
        figures[f"{name}OfLimit"] = round(value / limit, 3)
        beside = f"{limit:>10.1f}{value / limit:>9.1%}"
    print(f"{name:<44}{value:>10.2f}{beside}", flush=True)


async def dispatcher(services: Services, figures: Figures, share: float) -> None:
    """Records a second of one app beside running ÷ latency."""
    for partitions in (1, 4):
        for running in (256, 1000):
            count = int(running * 100 * share)
            rate = await records_a_second(services, lambda: 0.1, count, running=running, partitions=partitions)
            name = f"dispatcher{partitions}Partition{'s' * (partitions > 1)}{running}Running"
            _say(figures, name, rate, running / 0.1)
    rate = await records_a_second(services, log_normal, int(20_000 * share), running=256, partitions=1)
    _say(figures, "dispatcherLogNormal256Running", rate, 256 / _mean(log_normal))
    _say(
        figures,
        "plainFaustRecordsPerSecond",
        await records_a_second(services, lambda: 0.1, 50, running=1, partitions=1, plain=True),
    )


def _mean(latency: Latency) -> float:
    return sum(latency() for _ in range(20_000)) / 20_000


async def pipeline(services: Services, figures: Figures, share: float) -> None:
    """The whole chain in one worker process."""
    async with worker(services, 0.1, max_running=16) as bench:
        rate = await turns_a_second(bench, int(1000 * share))
        _say(figures, "pipeline100ms16Running", rate, 16 / 0.1 / CALLS_A_TURN)
    async with worker(services, 0.1, "plain", max_running=16) as bench:
        _say(figures, "plainFaustTurnsPerSecond", await turns_a_second(bench, 50))
    async with worker(services, 1.0) as bench:
        rate = await turns_a_second(bench, int(5000 * share))
        _say(figures, "pipeline1s256Running", rate, 256 / CALLS_A_TURN)
    await _instant_model(services, figures, share, waves=4)


async def _instant_model(services: Services, figures: Figures, share: float, *, waves: int) -> None:
    """Rate, CPU and memory of a worker whose model takes no time, over waves of 5,000 turns."""
    async with worker(services, 0.0) as bench:
        turns, cpu, begun = int(5_000 * share), bench.cpu_seconds(), time.perf_counter()
        _say(figures, "memoryMiBWarm", bench.resident_mib())
        for wave in range(1, waves + 1):
            await turns_a_second(bench, turns, name=f"wave{wave}-")
            _say(figures, f"memoryMiBAfter{wave * turns}Turns", bench.resident_mib())
        cpu, seconds = bench.cpu_seconds() - cpu, time.perf_counter() - begun
        _say(figures, "pipelineInstantModelTurnsPerSecond", waves * turns / seconds)
        _say(figures, "pipelineTurnsPerSecondPerCore", waves * turns / cpu)
        _say(figures, "workerCpuMillisecondsPerTurn", cpu / (waves * turns) * 1000)


async def memory(services: Services, figures: Figures, share: float) -> None:
    """The chain with lasting facts and summaries: its rate, and the worker's CPU until all of it is done."""
    turns = int(5_000 * share)
    async with worker(services, 0.0, user_memory=True) as bench:
        before = bench.cpu_seconds()
        _say(figures, "userMemoryInstantModelTurnsPerSecond", await turns_a_second(bench, turns))
        await all_learnt(bench, turns, turns // 5)
        _say(figures, "userMemoryWorkerCpuMillisecondsPerTurn", (bench.cpu_seconds() - before) / turns * 1000)
    async with worker(services, 0.0, user_memory=True) as bench:
        times = await own_milliseconds(bench, int(600 * share), 10, 0.0)
        _say(figures, "userMemoryOwnMillisecondsP50", percentile(times, 50))
        _say(figures, "userMemoryOwnMillisecondsP99", percentile(times, 99))


async def soak(services: Services, figures: Figures, share: float) -> None:
    """The memory of one worker over 100,000 turns."""
    await _instant_model(services, figures, share, waves=20)


async def own(services: Services, figures: Figures, share: float) -> None:
    """The pipeline's own time from question to answer, without the model's, at ten questions a second."""
    async with worker(services, 0.0) as bench:
        times = await own_milliseconds(bench, int(600 * share), 10, 0.0)
        _say(figures, "ownMillisecondsP50", percentile(times, 50))
        _say(figures, "ownMillisecondsP99", percentile(times, 99))


async def apache(services: Services, figures: Figures, share: float) -> None:
    """The same on an Apache Kafka, with the settings that are for one; needs Java and Maven."""
    try:
        with kafka_cluster() as cluster:
            real = replace(services, brokers=cluster.brokers)
            async with worker(real, 0.0, fetch_max_wait_ms=KafkaSettings().fetch_max_wait_ms) as bench:
                times = await own_milliseconds(bench, int(600 * share), 10, 0.0)
                _say(figures, "ownMillisecondsP50ApacheKafka", percentile(times, 50))
                _say(figures, "ownMillisecondsP99ApacheKafka", percentile(times, 99))
    except Unavailable as exc:
        print(f"not measured on Apache Kafka: {exc}")


async def idle(services: Services, figures: Figures, share: float) -> None:
    """The CPU that is used while nothing is asked, in cores: a worker, and all of `rolestream dev`."""
    async with worker(services, 0.0) as bench:
        before, begun = bench.cpu_seconds(), time.perf_counter()
        await asyncio.sleep(_IDLE_SECONDS)
        _say(figures, "idleWorkerCores", (bench.cpu_seconds() - before) / (time.perf_counter() - begun))
    _say(figures, "idleDevCores", await idle_cores(_IDLE_SECONDS))


async def arbitration(_: Services, figures: Figures, __: float) -> None:
    """The CPU of one turn's arbitration after tracks of different length, beside the millisecond that it may take."""
    after = {track: milliseconds_a_turn(track) for track in (10, 100, 1000)}
    for track, milliseconds in after.items():
        _say(figures, f"arbitrationMillisecondsAfter{track}Turns", milliseconds, 1.0)
    _say(figures, "arbitrationAfter1000TurnsTo10", after[1000] / after[10])
    _say(figures, "arbitrationMillisecondsNoNameSeen", milliseconds_a_turn(10, forget_names), 1.0)


@asynccontextmanager
async def _services() -> AsyncIterator[Services]:
    broker, mongo = os.environ.get("ROLESTREAM_TEST_BROKER"), os.environ.get("ROLESTREAM_TEST_MONGO")
    if broker and mongo:
        yield Services(broker, mongo, ())
        return
    async with embedded_services() as embedded:
        yield Services(broker or embedded.brokers, mongo or embedded.mongo_url, embedded.children)


async def measure(parts: list[str], share: float) -> Figures:
    figures: Figures = {}
    print(f"{'':<44}{'measured':>10}{'limit':>10}{'share':>9}")
    async with _services() as services:
        for name in parts or [name for name in PARTS if name != soak.__name__]:
            await PARTS[name](services, figures, share)
    return figures


PARTS: Mapping[str, Callable[[Services, Figures, float], Awaitable[None]]] = {
    part.__name__: part for part in (dispatcher, pipeline, own, memory, apache, idle, arbitration, soak)
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure rates, times, CPU and memory.")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all but soak where none is named")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    arguments = parser.parse_args()
    configure_logging("ERROR")
    figures = asyncio.run(measure(arguments.parts, 0.1 if arguments.quick else 1.0))
    kept = json.loads(RESULT.read_text()) if arguments.parts and RESULT.exists() else {}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(kept | figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
