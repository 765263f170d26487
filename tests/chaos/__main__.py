"""`python -m tests.chaos [CASE ...] --turns N`: a row a case, its figures in build/chaos.json, its logs beside it."""

import argparse
import asyncio
import json
import logging
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from tests.chaos.figures import Figures
from tests.chaos.performing import perform
from tests.chaos.stage import Scale
from tests.chaos.table import CASES, header, row
from tests.kafka import Cluster, kafka_cluster

RESULT = Path("build/chaos.json")
LOGS = Path("build/chaos")


async def run(names: Sequence[str], scale: Scale) -> bool:
    """Whether every case passed; SIGTERM leaves nothing behind."""
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    passed = True
    clusters: dict[int, Cluster] = {}
    print(header(), flush=True)
    with ExitStack() as stack:
        for name in names:
            case = CASES[name]
            if case.nodes not in clusters:
                clusters[case.nodes] = await asyncio.to_thread(stack.enter_context, kafka_cluster(case.nodes))
            figures, wrong = await perform(name, case, clusters[case.nodes], scale, _logs(name))
            passed &= not wrong
            print(row(figures), *wrong, sep="  ", flush=True)
            keep(figures, wrong, scale)
    return passed


def _logs(case: str) -> Path:
    """An empty folder for a case's logs."""
    folder = LOGS / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def keep(figures: Figures, wrong: Sequence[str], scale: Scale) -> None:
    """Put a case's figures in the place of those of its last run of that scale."""
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    kept[f"{figures.case} {scale.turns}"] = {**figures.plain(), "wrong": list(wrong)}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(kept, indent=2))


def main() -> int:
    """Perform cases of the crash suite on an Apache Kafka of their own."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=main.__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all where none is named")
    parser.add_argument("--all-but", action="store_true", help="all cases but those named")
    parser.add_argument("--turns", type=int, default=1000, help="how many turns a case has, at least")
    parser.add_argument("--outage", type=float, help="seconds of an outage or of the model's trouble, and of idling")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    named = arguments.cases or list(CASES)
    names = [name for name in CASES if name not in arguments.cases] if arguments.all_but else named
    for library in ("aiokafka", "aiohttp.server"):  # what we end complains
        logging.getLogger(library).setLevel(logging.CRITICAL)
    scale = Scale.of(arguments.turns)
    if (seconds := arguments.outage) is not None:
        scale = replace(scale, outage=seconds, trouble=seconds, idle=seconds)
    return 0 if asyncio.run(run(names, scale)) else 1


if __name__ == "__main__":
    sys.exit(main())
