"""One program under its guard: started on a free port, waited for until it answers, ended."""

import asyncio
import contextlib
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pipeline.adapters.embedded import guard
from pipeline.adapters.embedded.programs import Broker, Database
from pipeline.errors import Unavailable

START_SECONDS = 30.0
RETRY_SECONDS = 0.3
POLL_SECONDS = 0.05

WORTH_ANOTHER_TRY = re.compile("in use|resource busy", re.IGNORECASE)
"""Somebody was faster to take the port that was free, or whoever had the data directory is still closing it."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Child:
    """Takes its port from `find_port`; `attempts` bounds how often a start that lost a race is tried again."""

    def __init__(self, program: Broker | Database, find_port: Callable[[], int] = free_port, attempts: int = 8) -> None:
        self.program = program
        self.port = 0
        self._find_port, self._attempts = find_port, attempts
        self._directory: Path | None = None
        self._guard: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process that stands for the program: ending it ends the program."""
        return self._guard.pid if self._guard else None

    async def start(self) -> None:
        """Returns when the program answers; raises Unavailable."""
        for attempt in range(self._attempts):
            if attempt:
                await asyncio.sleep(RETRY_SECONDS)
            if await self._answers(await self._launch()):
                return
            log = self.log()
            await self.stop()
            if not WORTH_ANOTHER_TRY.search(log):
                break
        raise Unavailable(self.program.explain(log))

    async def wait(self) -> None:
        """Wait until the program ends by itself, which raises Unavailable."""
        if self._guard:
            await self._guard.wait()
            raise Unavailable(f"the embedded {self.program.name} has ended: {self.log()}")

    async def stop(self) -> None:
        if self._guard and self._guard.stdin:
            self._guard.stdin.close()
            await self._guard.wait()
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)

    def log(self) -> str:
        """The end of what the program printed, on one line."""
        if self._directory:
            with contextlib.suppress(OSError):
                return " ".join((self._directory / "log").read_text(errors="replace").split())[-600:]
        return ""

    async def _launch(self) -> asyncio.subprocess.Process:
        self.port = self._find_port()
        self._directory = Path(tempfile.mkdtemp(prefix=f"rolestream-{self.program.name}-{os.getpid()}-"))
        command = self.program.command(self.port, self._directory)
        arguments = [guard.__file__, str(self.program.grace), str(self._directory), *command]
        with (self._directory / "log").open("wb") as log:
            self._guard = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                env=environment(),
                start_new_session=True,
            )
        return self._guard

    async def _answers(self, process: asyncio.subprocess.Process) -> bool:
        """True once the program answers, False where it ends before; raises Unavailable where it does neither."""
        ended = asyncio.ensure_future(process.wait())
        try:
            async with asyncio.timeout(START_SECONDS):
                while not ended.done():
                    if await accepts(self.port) and await self.program.answers(self.port, self.log()):
                        return True
                    await asyncio.wait({ended}, timeout=POLL_SECONDS)
                return False
        except TimeoutError as exc:
            raise Unavailable(f"the embedded {self.program.name} does not answer: {self.log()}") from exc
        finally:
            ended.cancel()


def environment() -> dict[str, str]:
    """Ours without the variables that either program would take for its own settings."""
    theirs = ("OTEL_", "RUST_", "SCHEMA_", "SECANTUS_")
    return {name: value for name, value in os.environ.items() if not name.startswith(theirs)} | {"NO_COLOR": "1"}


async def accepts(port: int) -> bool:
    """Asked before a client is, as clients log errors while nobody listens."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
