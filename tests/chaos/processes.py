"""What a case ends and starts: worker processes, and the database on a port that it keeps."""

import asyncio
import os
import random
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pipeline.adapters.embedded.child import Child
from pipeline.adapters.embedded.programs import find_database, mongo_url

#: Seconds that a worker may take to start on a busy machine.
_START_SECONDS = 60.0
#: What a stop may take beyond the drain deadline, in seconds.
STOP_GRACE = 3.0
#: How much later than that it is killed, in seconds, so that it is known by how much it is late.
_LATE = 10.0


def quiet_port() -> int:
    """A free port out of those that systems give to outgoing connections, so that it stays free while unused."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


#: What a worker prints when it runs.
_RUNS = "worker is running"


#: Log lines of a worker that starts and stops in order.
_ORDERLY = (_RUNS, '"action": "drained"')


class Worker:
    """One `rolestream worker`, or another program that says the same when it runs; its log is in `folder`.

    It dies with the process that started it.
    """

    def __init__(
        self,
        name: str,
        environment: Mapping[str, str],
        folder: Path,
        module: str = "pipeline.cli",
        processors: Sequence[str] = (),
    ) -> None:
        self.name, self._environment, self._log = name, environment, folder / f"{name}.log"
        self._command = (sys.executable, "-m", "tests.chaos.leash", str(os.getpid()), module, "worker", *processors)
        self._process: asyncio.subprocess.Process | None = None
        self.stop_seconds = 0.0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def stop_deadline(self) -> float:
        """Seconds from SIGTERM to its end, at most."""
        return float(self._environment["ROLESTREAM_DRAIN_TIMEOUT"]) + STOP_GRACE

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def lines(self) -> list[str]:
        """What it has logged so far."""
        return self._log.read_text(errors="replace").splitlines()

    def remarks(self) -> list[str]:
        """What it has logged beyond that it runs and drains."""
        return [line for line in self.lines() if not any(word in line for word in _ORDERLY)]

    async def start(self) -> None:
        """Returns when the worker runs."""
        environment = {**os.environ, **self._environment}
        with self._log.open("wb") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, env=environment, stderr=stderr, stdout=asyncio.subprocess.DEVNULL
            )
        async with asyncio.timeout(_START_SECONDS):
            while not any(_RUNS in line for line in self.lines()):
                if not self.is_running:
                    raise AssertionError(f"the worker ended at its start: {self.lines()[-5:]}")
                await asyncio.sleep(0.05)

    async def stop(self) -> int:
        """SIGTERM; returns the exit code, and kills what has not ended long after it must have."""
        assert self._process is not None
        begun = time.monotonic()
        self.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(self.stop_deadline + _LATE):
                code = await self._process.wait()
        except TimeoutError:
            await self.kill()
            code = -signal.SIGKILL
        self.stop_seconds = time.monotonic() - begun
        return code

    async def kill(self) -> None:
        """`kill -9`."""
        if self.is_running and self._process is not None:
            self.signal(signal.SIGKILL)
            await self._process.wait()

    def signal(self, name: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(name)


class Database:
    """SecantusDB with its data in a folder, on one port from its first start to its last."""

    def __init__(self, folder: Path) -> None:
        self.port = quiet_port()
        self._child = Child(find_database(folder), lambda: self.port)

    @property
    def url(self) -> str:
        return mongo_url(self.port)

    async def start(self) -> None:
        await self._child.start()

    async def stop(self) -> None:
        """In order: what it has acknowledged in the last half second is in its memory alone."""
        await self._child.stop()
