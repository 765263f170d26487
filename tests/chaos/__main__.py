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
from pathlib import Path

from tests.chaos.figures import Figures
from tests.chaos.performing import perform
from tests.chaos.table import CASES, header, row
from tests.kafka import Cluster, kafka_cluster

RESULT = Path("build/chaos.json")
LOGS = Path("build/chaos")


async def run(names: Sequence[str], turns: int) -> bool:
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
            figures, wrong = await perform(name, case, clusters[case.nodes], turns, _logs(name))
            passed &= not wrong
            print(row(figures), *wrong, sep="  ", flush=True)
            keep(figures, wrong)
    return passed


def _logs(case: str) -> Path:
    """An empty folder for a case's logs."""
    folder = LOGS / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def keep(figures: Figures, wrong: Sequence[str]) -> None:
    """Put a case's figures in the place of those of its last run with as many turns."""
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    kept[f"{figures.case} {figures.turns}"] = {**figures.plain(), "wrong": list(wrong)}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(kept, indent=2))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=main.__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all where none is named")
    parser.add_argument("--all-but", action="store_true", help="all cases but those named")
    parser.add_argument("--turns", type=int, default=1000, help="how many turns a case has, at most")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    named = arguments.cases or list(CASES)
    names = [name for name in CASES if name not in arguments.cases] if arguments.all_but else named
    for library in ("aiokafka", "aiohttp.server"):  # what we end complains
        logging.getLogger(library).setLevel(logging.CRITICAL)
    return 0 if asyncio.run(run(names, arguments.turns)) else 1


if __name__ == "__main__":
    sys.exit(main())
