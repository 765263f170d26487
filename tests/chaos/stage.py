"""One case's deployment: its topics on a cluster that all cases share, its database, its load, its workers."""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo.errors import PyMongoError

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.topics import create_topics
from tests.chaos.load import Load, conversation_of
from tests.chaos.model import Model
from tests.chaos.processes import Database, Worker
from tests.chaos.witness import Witness
from tests.conftest import Names
from tests.kafka import Cluster

PARTITIONS = 4
#: Seconds; the least that keeps a worker on a busy machine in its group.
SESSION = 4
#: Seconds; the default, so that the work of a busy machine fits.
DRAIN = 20


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
        return cls(turns, 6, 8, 6, 12) if turns <= 1000 else cls(turns, 30, 15, 60, 60)


@dataclass
class Stage:
    """What a case acts on."""

    scale: Scale
    cluster: Cluster
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
    problems: list[str] = field(default_factory=list)

    async def start_worker(self, module: str = "pipeline.cli", **settings: Any) -> Worker:
        """Start a worker; `settings` are named as its environment names them, without the prefix."""
        ours = {f"ROLESTREAM_{name}": str(value) for name, value in settings.items()}
        worker = Worker({**self.environment, **ours}, self.folder / f"worker-{len(self.workers)}.log", module)
        self.workers.append(worker)
        await worker.start()
        return worker

    async def stop_worker(self, worker: Worker) -> None:
        """SIGTERM, which must end it in order and in time."""
        self.ends += 1
        code = await worker.stop()
        self.drain = max(self.drain, worker.stop_seconds)
        if code:
            self.problems.append(f"a worker ended with {code}: {worker.lines()[-1:]}")

    async def kill_worker(self, worker: Worker) -> None:
        self.ends += 1
        await worker.kill()

    async def answered(self, turns: int) -> None:
        """Wait until so many turns are answered, and a moment more, so that it is not always the same moment."""
        if not await self.witness.until(lambda: self.witness.answered >= turns):
            self.problems.append(f"stalled at {self.witness.answered} answers")
        await asyncio.sleep(random.uniform(0, 0.2))

    def times(self, count: int) -> list[int]:
        """So many points of the run, in answered turns, evenly spread."""
        return [self.scale.turns * number // (count + 1) for number in range(1, count + 1)]

    async def lasts(self, seconds: float, begin: Callable[[], Any], end: Callable[[], Any]) -> None:
        """An outage: something is taken away for so long and given back; times what follows."""
        self.ends += 1
        await _called(begin)
        await asyncio.sleep(seconds)
        await _called(end)
        back, answered = time.monotonic(), self.witness.answered
        await self.witness.until(lambda: self.witness.answered > min(answered, self.scale.turns - 1))
        self.resumed = max(self.resumed, time.monotonic() - back)


async def _called(action: Callable[[], Any]) -> None:
    """Call what may be a coroutine function, or else blocks."""
    if asyncio.iscoroutinefunction(action):
        await action()
    else:
        await asyncio.to_thread(action)


@asynccontextmanager
async def staged(cluster: Cluster, scale: Scale, folder: Path) -> AsyncIterator[Stage]:
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
        await create_topics(Connection(cluster.brokers, names.topic_prefix), PARTITIONS, replicas)
        witness = Witness(cluster.brokers, names.topic_prefix, PARTITIONS)
        load = Load(cluster.brokers, names.topic_prefix, scale.turns, witness.room)
        model = Model(lambda *call: _is_stored(documents, *call))
        for part in (witness, load, model):
            await part.start()
            stack.push_async_callback(part.stop)
        environment = _environment(cluster, database, model, names)
        stage = Stage(scale, cluster, database, documents, load, witness, model, folder, environment)
        try:
            yield stage
        finally:
            for worker in stage.workers:
                await worker.kill()


def _environment(cluster: Cluster, database: Database, model: Model, names: Names) -> dict[str, str]:
    settings = {
        "KAFKA__BROKERS": cluster.brokers,
        "KAFKA__TOPIC_PREFIX": names.topic_prefix,
        "KAFKA__SESSION_TIMEOUT": SESSION,
        "MONGO__URL": database.url,
        "MONGO__DATABASE": names.database,
        "MODEL__BASE_URL": model.base_url,
        "MODEL__API_KEY": "k",
        "DRAIN_TIMEOUT": DRAIN,
    }
    return {f"ROLESTREAM_{name}": str(value) for name, value in settings.items()}


async def _is_stored(
    documents: AsyncIOMotorDatabase[dict[str, Any]], kind: str, question: str, before: datetime
) -> bool:
    """Whether a call's outcome was stored before a time; False where the database does not say."""
    query: dict[str, Any] = {"conversationId": conversation_of(question), "questionId": question}
    collection = "extractions"
    if kind != "extraction":
        collection, query["role"] = "messages", "ASSISTANT"
    try:
        return await documents[collection].find_one({**query, "createTime": {"$lt": before}}) is not None
    except PyMongoError:
        return False
