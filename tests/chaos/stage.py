"""One case's deployment: its topics on a cluster that all cases share, its database, its load, its workers."""

import asyncio
import random
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo.errors import PyMongoError

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.topics import create_topics
from tests.chaos.figures import miscounted
from tests.chaos.in_work import may_come_again
from tests.chaos.load import Load, conversation_of
from tests.chaos.model import Model
from tests.chaos.processes import Database, Worker
from tests.chaos.witness import Witness
from tests.conftest import Names
from tests.kafka import Cluster

#: Seconds; the least that keeps a worker on a busy machine in its group.
SESSION = 4
#: Seconds; the default, so that the work of a busy machine fits.
DRAIN = 20
#: Seconds without a new answer after which a case has stalled, beyond those of an outage.
PATIENCE = 90


@dataclass(frozen=True)
class Scale:
    """How large a case is: turns, and seconds of an outage, of a freeze, of a model's trouble, of idling."""

    turns: int
    outage: float
    freeze: float
    trouble: float
    idle: float

    @classmethod
    def of(cls, turns: int) -> "Scale":
        """What is long for people is cut short in a small run."""
        return cls(turns, 6, 8, 6, 8) if turns <= 1000 else cls(turns, 30, 15, 60, 60)


class Stalled(Exception):
    """Something that must come does not, though it was waited for: the case cannot go on."""


@dataclass
class Stage:
    """What a case acts on."""

    scale: Scale
    cluster: Cluster
    names: Names
    partitions: int
    database: Database
    documents: AsyncIOMotorDatabase[dict[str, Any]]
    load: Load
    witness: Witness
    model: Model
    folder: Path
    environment: Mapping[str, str]
    workers: list[Worker] = field(default_factory=list)
    ends: int = 0
    drain: float = 0.0
    resumed: float = 0.0
    taken_over: float = 0.0
    kills: list[tuple[int, int]] = field(default_factory=list)
    """For each kill of the only worker, the events redelivered before it, and those that may be after it."""
    problems: list[str] = field(default_factory=list)

    async def start_worker(
        self, module: str = "pipeline.cli", processors: Sequence[str] = (), **settings: Any
    ) -> Worker:
        """Start a worker; `settings` are named as its environment names them, without the prefix."""
        name = f"worker-{len(self.workers)}"
        ours = {f"ROLESTREAM_{setting}": str(value) for setting, value in settings.items()}
        environment = {**self.environment, "ROLESTREAM_MODEL__API_KEY": name, **ours}
        worker = Worker(name, environment, self.folder, module, processors)
        self.workers.append(worker)
        await worker.start()
        return worker

    async def stop_worker(self, worker: Worker) -> None:
        """SIGTERM, which must end it in order and in time."""
        self.ends += 1
        code = await worker.stop()
        self.drain = max(self.drain, worker.stop_seconds)
        if worker.stop_seconds > worker.stop_deadline:
            self.problems.append(f"{worker.name} took {worker.stop_seconds:.1f} s of {worker.stop_deadline:g} to stop")
        if code:
            self.problems.append(f"{worker.name} ended with {code}: {worker.lines()[-1:]}")

    async def kill_worker(self, worker: Worker) -> None:
        self.ends += 1
        await worker.kill()

    async def kill_only_worker(self, worker: Worker) -> None:
        """`kill -9`, noting what it leaves uncommitted."""
        await self.kill_worker(worker)
        await self.witness.catch_up()
        redelivered = self.witness.redelivered
        again = await may_come_again(self.cluster.brokers, self.names.topic_prefix, self.partitions)
        self.kills.append((redelivered, again))

    def redelivered_by_kill(self) -> list[int]:
        """The events that were redelivered from each kill to the next."""
        before = [redelivered for redelivered, _ in self.kills]
        return [after - earlier for earlier, after in pairwise([*before, self.witness.redelivered])]

    async def freeze_worker(self, worker: Worker) -> None:
        """SIGSTOP for longer than its session, then SIGCONT."""
        self.ends += 1
        frozen = datetime.now(UTC)
        worker.signal(signal.SIGSTOP)
        await asyncio.sleep(self.scale.freeze)
        self.model.stood_still[worker.name] = frozen, datetime.now(UTC)
        worker.signal(signal.SIGCONT)

    async def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for something while there are new answers; raises Stalled."""
        if not await self.witness.until(true):
            raise Stalled(f"stalled at {self.witness.answered} answers, waiting until {what}")

    async def answered(self, turns: int) -> None:
        """Wait until so many turns are answered, and a moment more, so that it is not always the same moment."""
        await self.until(lambda: self.witness.answered >= turns, f"{turns} turns are answered")
        await asyncio.sleep(random.uniform(0, 0.2))

    async def learnt(self) -> None:
        """Wait until nobody has a fact that is not learnt yet; raises Stalled."""
        waited = time.monotonic()
        while missing := await miscounted(self.load.asked, self.documents):
            if time.monotonic() - waited > PATIENCE:
                raise Stalled(f"stalled at {missing} facts that are not learnt once")
            await asyncio.sleep(0.5)

    def times(self, count: int) -> list[int]:
        """So many points of the run, in answered turns, evenly spread."""
        return [self.scale.turns * number // (count + 1) for number in range(1, count + 1)]

    async def lasts(self, seconds: float, begin: Callable[[], Any], end: Callable[[], Any]) -> None:
        """An outage: something is taken away for so long and given back; times what follows."""
        self.ends += 1
        await _called(begin)
        await asyncio.sleep(seconds)
        await _called(end)
        back, answered = time.monotonic(), self.witness.answered_well
        await self.until(lambda: self.witness.answered_well > answered, "a turn is answered after an outage")
        self.resumed = max(self.resumed, time.monotonic() - back)


async def _called(action: Callable[[], Any]) -> None:
    """Call what may be a coroutine function, or else blocks."""
    if asyncio.iscoroutinefunction(action):
        await action()
    else:
        await asyncio.to_thread(action)


@asynccontextmanager
async def staged(
    cluster: Cluster, scale: Scale, partitions: int, folder: Path, *, user_memory: bool
) -> AsyncIterator[Stage]:
    """A stage whose load is not yet published and whose workers are not yet started; they log into `folder`."""
    names = Names()
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rolestream-chaos-")))
        database = Database(data)
        await database.start()
        stack.push_async_callback(database.stop)
        client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(
            database.url, tz_aware=True, serverSelectionTimeoutMS=1000
        )
        stack.callback(client.close)
        documents = client[names.database]
        replicas = min(3, len(cluster.nodes))
        await create_topics(Connection(cluster.brokers, names.topic_prefix), partitions, replicas, 1)
        patience = PATIENCE + max(scale.outage, scale.trouble)
        witness = Witness(cluster.brokers, names.topic_prefix, partitions, patience)
        load = Load(cluster.brokers, names.topic_prefix, scale.turns, witness.room)
        model = Model(lambda *call: _stored_at(documents, *call))
        for part in (witness, load, model):
            await part.start()
            stack.push_async_callback(part.stop)
        environment = _environment(cluster, database, model, names, user_memory)
        stage = Stage(scale, cluster, names, partitions, database, documents, load, witness, model, folder, environment)
        try:
            yield stage
        finally:
            for worker in stage.workers:
                await worker.kill()


def _environment(cluster: Cluster, database: Database, model: Model, names: Names, user_memory: bool) -> dict[str, str]:
    settings = {
        "KAFKA__BROKERS": cluster.brokers,
        "KAFKA__TOPIC_PREFIX": names.topic_prefix,
        "KAFKA__SESSION_TIMEOUT": SESSION,
        "MONGO__URL": database.url,
        "MONGO__DATABASE": names.database,
        "MODEL__BASE_URL": model.base_url,
        "DRAIN_TIMEOUT": DRAIN,
        "USER_MEMORY__ENABLED": user_memory,
    }
    return {f"ROLESTREAM_{name}": str(value) for name, value in settings.items()}


async def _stored_at(documents: AsyncIOMotorDatabase[dict[str, Any]], kind: str, question: str) -> datetime | None:
    """When a call's outcome was stored; None where it is not, or the database does not say."""
    query: dict[str, Any] = {"conversationId": conversation_of(question), "questionId": question}
    collection = "extractions"
    if kind != "extraction":
        collection, query["role"] = "messages", "ASSISTANT"
    try:
        document = await documents[collection].find_one(query)
    except PyMongoError:
        return None
    return None if document is None else cast(datetime, document["createTime"])
