"""One node of a cluster, broker and controller in one process: formatted, started, stopped, killed, frozen."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.adapters.embedded import guard
from pipeline.errors import Unavailable

START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05

_STARTED = "Kafka Server started"
_LOGGING = {
    "defaultLogLevel": "warn",
    "log.kafka.server.KafkaRaftServer": "info",
    "showDateTime": "true",
    "dateTimeFormat": "HH:mm:ss.SSS",
}
# For the two seconds of a command line tool, compiling well takes longer than it saves.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")
_LONG_LIVED = ("-Xmx512m", "-XX:+UseSerialGC")


@dataclass(frozen=True)
class Java:
    """How to run a class of Kafka's."""

    program: str
    jars: Path

    def command(self, main: str, *arguments: str, options: Sequence[str]) -> list[str]:
        logging = [f"-Dorg.slf4j.simpleLogger.{name}={value}" for name, value in _LOGGING.items()]
        return [self.program, *options, *logging, "-cp", f"{self.jars}/*", main, *arguments]


class Node:
    """Keeps its ports, its data and its log in `folder` from one start to the next.

    Every method blocks until what it says is done. `home` is the folder of the whole cluster, which goes when the
    process that started the node dies.
    """

    def __init__(self, number: int, ports: Mapping[str, int], home: Path, java: Java) -> None:
        self.number, self.ports = number, ports
        self.folder = home / f"node-{number}"
        self._home, self._java = home, java
        self._guard: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._frozen = False

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    @property
    def pid(self) -> int:
        """The process that is Kafka."""
        return int((self.folder / "pid").read_text())

    @property
    def is_running(self) -> bool:
        return self._guard is not None and self._guard.poll() is None

    def log(self) -> str:
        """What it has logged since its last start."""
        with (self.folder / "log").open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def configure(self, properties: Mapping[str, object]) -> None:
        self.folder.mkdir()
        (self.folder / "log").touch()
        mine = {"node.id": self.number, "log.dirs": self.folder / "data", **properties}
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in mine.items()))

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def formatting(self, cluster_id: str, scram: Sequence[str]) -> subprocess.Popen[str]:
        """Begin to format the storage, with these users."""
        users = [word for user in scram for word in ("--add-scram", user)]
        arguments = ["format", "-t", cluster_id, "-c", str(self._properties), *users]
        command = self._java.command("kafka.tools.StorageTool", *arguments, options=SHORT_LIVED)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def start(self) -> None:
        """Returns when the node serves clients, for which a cluster needs most of its nodes; raises Unavailable."""
        self.launch()
        self.wait_until_started()

    def launch(self) -> None:
        """Start a node that does not run, without waiting."""
        if self.is_running:
            return
        kafka = self._java.command("kafka.Kafka", str(self._properties), options=_LONG_LIVED)
        self.discard()
        (self.folder / "pid").unlink(missing_ok=True)
        # The guard outlives a kill of Kafka, and so it is Kafka that has to say who it is.
        say_pid = ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "pid")]
        with (self.folder / "log").open("ab") as log:
            self._log_start = log.tell()
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, "0", str(self._home), *say_pid, *kafka],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )

    def wait_until_started(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while _STARTED not in self.log():
            if not self.is_running:
                raise Unavailable(f"Kafka node {self.number} has ended at its start: {self.log()[-4000:]}")
            if time.monotonic() > deadline:
                raise Unavailable(f"Kafka node {self.number} has not started: {self.log()[-4000:]}")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """End in order, handing leaderships over."""
        self.ask_to_stop()
        self.wait_until_stopped()

    def ask_to_stop(self) -> None:
        self.thaw()
        if self._guard is not None:
            self._guard.terminate()

    def wait_until_stopped(self) -> None:
        try:
            if self._guard is not None:
                self._guard.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The last ones of a cluster wait for a controller that is gone.
            self.kill()

    def kill(self) -> None:
        """End at once, as by `kill -9`."""
        if self._guard is not None and self.is_running:
            os.kill(self.pid, signal.SIGKILL)
            self._guard.wait()
        self._frozen = False

    def freeze(self) -> None:
        """Stop every thread where it stands: connections stay open and nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)
        self._frozen = True
        while not self._stands_still():  # on a busy machine a thread stops when it is next scheduled
            time.sleep(0.01)

    def _stands_still(self) -> bool:
        """Whether each thread is stopped, as Linux lists them."""
        states = [
            stat.read_text().rsplit(")", 1)[1].split()[0] for stat in Path(f"/proc/{self.pid}/task").glob("*/stat")
        ]
        return set(states) == {"T"}

    def thaw(self) -> None:
        if self._frozen:
            os.kill(self.pid, signal.SIGCONT)
            self._frozen = False

    def discard(self) -> None:
        """End at once; a guard that runs takes the end of its input for our death, and removes the data as well."""
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            self._guard.wait()
