"""What the crash suite starts does not outlive it."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IDLES = """
import sys, time
print("worker is running", file=sys.stderr, flush=True)
time.sleep(600)
"""
HOLDS = """
import asyncio, pathlib, sys
from tests.chaos.processes import Worker

async def hold(folder):
    worker = Worker("worker", {"PYTHONPATH": folder}, pathlib.Path(folder), "idles")
    await worker.start()
    print(worker.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(hold(sys.argv[1]))
"""


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("stopped", [False, True])
async def test_no_worker_outlives_a_killed_suite(tmp_path: Path, stopped: bool) -> None:
    """`kill -9` of the suite ends its workers, also one that it had frozen."""
    (tmp_path / "idles.py").write_text(IDLES)
    suite = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDS, str(tmp_path)), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert suite.stdout is not None
    worker = int(await suite.stdout.readline())
    if stopped:
        os.kill(worker, signal.SIGSTOP)
    suite.kill()
    await suite.wait()
    async with asyncio.timeout(10):
        while _lives(worker):
            await asyncio.sleep(0.01)
