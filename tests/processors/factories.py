"""Workers on a real database with a model that keeps to a script, and short ways to say what they are given."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase

from pipeline.adapters.embedded import Services as Embedded
from pipeline.adapters.mongo import Database, MongoFeatures, MongoStore, MongoTombstones
from pipeline.domain.ids import answer_id
from pipeline.domain.similarity import lexical
from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest, FeatureStore, Json, Proposal, Reply, Said, Similarity, Store, Tombstones
from pipeline.processing import REPLAY_HEADER, Failure, Output, Policy, Record, Services
from schemas.documents import Message
from schemas.events import AnswerReady, Cost, GuidanceIssued, QuestionAsked, TurnLogged
from schemas.features import KnownFeature, Summary
from schemas.topics import TopicName
from schemas.wire import ConversationId, Wire
from tests.conftest import Names

T = TypeVar("T")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
C = ConversationId("c")
COST = Cost(model="fake", calls=1, prompt_tokens=7, completion_tokens=3, milliseconds=20)
#: What the failed calls cost, where the model could not be used.
SPENT = {"model": "fake", "calls": 2, "prompt_tokens": 5}
FAILS = ModelFailed("the model is out of order", SPENT)


@dataclass
class FakeModel:
    """The `Model` port: says what is next in its script, or fails with it; a call too many is an error of the test."""

    script: list[Json | ModelFailed] = field(default_factory=list)
    read: list[tuple[str, list[str]]] = field(default_factory=list)
    """The question and the history of each extraction."""
    requests: list[AnswerRequest] = field(default_factory=list)
    """What each answer and report was asked with."""
    feature_reads: list[tuple[list[Said], list[KnownFeature]]] = field(default_factory=list)
    summary_reads: list[tuple[Summary, list[Said]]] = field(default_factory=list)
    looked_at: list[tuple[list[KnownFeature], int]] = field(default_factory=list)

    @property
    def calls(self) -> int:
        learning = len(self.read) + len(self.feature_reads) + len(self.summary_reads) + len(self.looked_at)
        return learning + len(self.requests)

    def _next(self) -> Json:
        assert self.script, "the model was called once more than the test expects"
        said = self.script.pop(0)
        if isinstance(said, ModelFailed):
            raise said
        return said

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        self.read.append((question, list(history)))
        return Proposal(self._next(), COST)

    async def answer(self, request: AnswerRequest) -> Reply:
        self.requests.append(request)
        return Reply(str(self._next()), COST)

    async def report(self, request: AnswerRequest) -> Proposal:
        self.requests.append(request)
        return Proposal(self._next(), COST)

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        self.feature_reads.append((list(messages), list(known)))
        return Proposal(self._next(), COST)

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        self.summary_reads.append((previous, list(messages)))
        return Proposal(self._next(), COST)

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        self.looked_at.append((list(features), days))
        return Proposal(self._next(), COST)

    async def aclose(self) -> None: ...


class _Meddled:
    """A store of whose methods some are preceded, once, by something else."""

    def __init__(self, store: Store, before: dict[str, Callable[[], Awaitable[object]]]) -> None:
        self._store, self._before = store, before

    def __getattr__(self, name: str) -> Any:
        method, meddle = getattr(self._store, name), self._before.pop(name, None)
        if meddle is None:
            return method

        async def meddled(*args: Any, **named: Any) -> Any:
            await meddle()
            return await method(*args, **named)

        return meddled


def meddled(store: Store, **before: Callable[[], Awaitable[object]]) -> Store:
    """The store, with what comes just before the first call of a method: another worker, or a crash."""
    return cast(Store, _Meddled(store, before))


class Crash(Exception):
    """The worker's end, in the middle of its work."""


async def crash() -> None:
    raise Crash


@dataclass
class Here:
    """A database of one test's own, and its model."""

    store: Store
    database: AsyncIOMotorDatabase[dict[str, Any]]
    features: FeatureStore
    tombstones: Tombstones
    model: FakeModel = field(default_factory=FakeModel)
    _workers: int = 0

    def worker(self, store: Store | None = None, *, similarity: Similarity = lexical, **policy: Any) -> Services:
        """What a worker's handlers work with; each worker's clock stands still, an hour after the one before."""
        now, self._workers = NOW + timedelta(hours=self._workers), self._workers + 1
        return Services(
            store or self.store, self.model, similarity, lambda: now, self.features, self.tombstones, Policy(**policy)
        )

    async def documents(self, collection: str) -> list[dict[str, Any]]:
        return await self.database[collection].find().sort([("turn", 1), ("role", -1)]).to_list(None)

    async def written_by_newer_version(self, collection: str) -> None:
        """Every document of the collection, and the event that it holds, gets a field that we do not know."""
        for document in await self.database[collection].find().to_list(None):
            event = document["event"].replace("{", '{"fromTheFuture": 1, ', 1)
            assert event != document["event"]
            change = {"$set": {"event": event, "fromTheFuture": 1}}
            await self.database[collection].update_one({"_id": document["_id"]}, change)

    async def logged(self, number: int, text: str = "I am a nurse", **changes: Any) -> TurnLogged:
        """A question as conversation logging leaves it."""
        event = turn(number, text, **changes)
        message = said(number, text, messageId=event.question_id, event=event.to_json().decode())
        await self.store.add_message(message)
        await self.store.touch_conversation(message)
        return event

    async def answered(self, number: int, text: str, *, status: str = "ok") -> None:
        """A turn's answer as report generation leaves it."""
        fields = {"turn": number, "text": text, "status": status, "cost": COST}
        event = AnswerReady.model_validate({"conversationId": C, "userId": "u", "questionId": f"q{number}", **fields})
        kept = {"role": "ASSISTANT", "status": status, "messageId": answer_id(f"q{number}")}
        await self.store.add_message(said(number, text, event=event.to_json().decode(), **kept))


@asynccontextmanager
async def database_of(services: Embedded, names: Names) -> AsyncIterator[Here]:
    """A prepared store and its database, which is dropped at the end."""
    database = Database(services.mongo_url, names.database, patience=20)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(services.mongo_url, tz_aware=True)
    try:
        await database.prepare()
        parts = MongoStore(database), client[names.database], MongoFeatures(database), MongoTombstones(database, "key")
        yield Here(*parts)
    finally:
        await client.drop_database(names.database)
        client.close()
        await database.aclose()


def record(topic: TopicName, *, replay: bool = False, time: datetime = NOW, **headers: bytes) -> Record:
    """The record that an event came with; only its time and headers matter to a handler."""
    replayed = {REPLAY_HEADER: b"1"} if replay else {}
    return Record(topic=topic, partition=0, offset=0, key=b"c", value=b"", time=time, headers=headers | replayed)


def asked(text: str = "I am a nurse", **changes: Any) -> QuestionAsked:
    fields = {"conversationId": "c", "userId": "u", "questionId": "q1", "text": text}
    return QuestionAsked.model_validate(fields | changes)


def turn(number: int = 1, text: str = "I am a nurse", **changes: Any) -> TurnLogged:
    fields = {
        "conversationId": "c",
        "userId": "u",
        "questionId": f"q{number}",
        "turn": number,
        "recordTime": NOW,
        "loggedAt": NOW + timedelta(minutes=number),
        "text": text,
        "mode": "answer",
    }
    return TurnLogged.model_validate(fields | changes)


def guidance(number: int, text: str = "", **changes: Any) -> GuidanceIssued:
    """The guidance of a turn as update arbitration publishes it."""
    fields = {
        **turn(number).turn_fields(),
        "mode": "answer",
        "decision": "UPDATE",
        "reason": "they agree",
        "text": text,
    }
    return GuidanceIssued.model_validate(fields | changes)


def said(number: int, text: str, **changes: Any) -> Message:
    fields = {
        "conversationId": "c",
        "messageId": f"q{number}",
        "userId": "u",
        "role": "USER",
        "text": text,
        "questionId": f"q{number}",
        "turn": number,
        "createTime": NOW + timedelta(minutes=number),
        "recordTime": NOW,
    }
    return Message.model_validate(fields | changes)


def stated(name: str, quote: str) -> dict[str, Json]:
    """A proposal: the user says outright who they are."""
    return {
        "identities": [name],
        "states": [name],
        "evidence": [{"quote": quote, "supports": [name]}],
        "score": 0.8,
    }


def only(outputs: Sequence[Output], kind: type[T]) -> T:
    """The one output that there is."""
    (output,) = outputs
    assert type(output) is kind
    return output


def with_failure(outputs: Sequence[Output]) -> tuple[Wire, str]:
    """An event that says what failed, and the reason given beside it for the dead letters."""
    event, failure = outputs
    assert isinstance(failure, Failure)
    assert isinstance(failure.exception, ModelFailed)
    assert not isinstance(event, Failure)
    return event, str(failure.exception)
