"""The one place where settings become adapters, and adapters a worker or a client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from pydantic import SecretStr

from pipeline.adapters.embedded import embedded_services
from pipeline.adapters.health import health_server, live, observe, ready
from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.listener import KafkaListener
from pipeline.adapters.kafka.pace import Pace
from pipeline.adapters.kafka.publisher import KafkaPublisher
from pipeline.adapters.kafka.running import run_apps
from pipeline.adapters.kafka.topics import create_topics, missing_topics
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.adapters.mongo import Database, MongoFeatures, MongoStore, MongoTombstones, held_about
from pipeline.adapters.openai import PATIENCE_WITH_RATE_LIMITS, OpenAIModel
from pipeline.adapters.outage import Patience
from pipeline.adapters.rules import RulesModel
from pipeline.adapters.similarity import ModelJudge
from pipeline.adapters.spans import OpenTelemetrySpans
from pipeline.domain.similarity import lexical
from pipeline.errors import BadEvent, Outage, SettingsInvalid
from pipeline.limits import Permits, Stage
from pipeline.metrics import MeasuredModel, Metrics
from pipeline.ports import FeatureStore, Json, Judge, Model, Publisher, Store, Tombstones, Wanted
from pipeline.processing import Policy, Processor, Services
from pipeline.processors import NAMES, topology
from pipeline.replaying import replay
from pipeline.runner import Runner
from pipeline.schedule import Schedule
from pipeline.settings import KafkaSettings, Settings
from pipeline.tracing import NoSpans, Tracer
from schemas.events import DeadLetter
from schemas.features import UserFeature
from schemas.role import GuideScope, TrackEntry
from schemas.topics import TopicName
from schemas.wire import ConversationId, UserId, Wire

_SCOPES: dict[str, GuideScope] = {"none": "NONE", "once": "ONCE", "every": "EVERY"}
#: What becomes of a question, in the order it usually happens, and of a command.
_FOLLOWED: tuple[TopicName, ...] = (
    "turns",
    "extractions",
    "guidance",
    "answers",
    "reports",
    "receipts",
    "dead-letters",
)

#: Seconds for which a command waits for a service that does not answer.
_CLIENT_PATIENCE = 10.0

#: Listens while it is open: what is to hear every event, and what is to hear that there are no more.
Listen = Callable[[Callable[[Wire], None], Callable[[Exception], None]], AbstractAsyncContextManager[None]]


def kafka_connection(settings: Settings) -> Connection:
    kafka = settings.kafka
    return Connection(
        brokers=kafka.brokers,
        prefix=kafka.topic_prefix,
        security_protocol=kafka.security_protocol,
        sasl_mechanism=kafka.sasl_mechanism,
        sasl_username=kafka.sasl_username,
        sasl_password=kafka.sasl_password.get_secret_value() if kafka.sasl_password else None,
        ssl_ca_file=kafka.ssl_ca_file,
        ssl_cert_file=kafka.ssl_cert_file,
        ssl_key_file=kafka.ssl_key_file,
        session_timeout=kafka.session_timeout,
        fetch_max_wait_ms=kafka.fetch_max_wait_ms,
    )


def mongo_database(settings: Settings, *, patience: float | None = None) -> Database:
    """Inside a running event loop."""
    return Database(settings.mongo.url.get_secret_value(), settings.mongo.database, patience=patience)


def chosen_model(settings: Settings, permits: Permits) -> Model:
    """A server where a key or base URL is set, else the offline rules."""
    model, key, base_url = settings.model, settings.model_api_key, settings.model_base_url
    if key is None and base_url is None:
        return RulesModel()
    return OpenAIModel(
        base_url=base_url,
        api_key=key.get_secret_value() if key else None,
        extraction_name=model.extraction_name or model.name,
        answer_name=model.answer_name or model.name,
        timeout=model.timeout,
        retries=model.retries,
        patience=min(PATIENCE_WITH_RATE_LIMITS, settings.health.stall_after / 2),
        requests_a_minute=model.requests_a_minute,
        tokens_a_minute=model.tokens_a_minute,
        permits=permits,
    )


def chosen_processors(settings: Settings, names: Sequence[str]) -> list[Processor]:
    """The named processors, or all of them; raises SettingsInvalid for a name that is none."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise SettingsInvalid(f"no such processor: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    processors = topology(
        memory=settings.short_term_memory.enabled,
        user_memory=settings.user_memory.enabled,
        guidance=settings.guidance,
    )
    chosen = [processor for processor in processors if not names or processor.name in names]
    if not chosen:
        raise SettingsInvalid("SHORT_TERM_MEMORY__ENABLED or USER_MEMORY__ENABLED is false: these have nothing to do")
    return chosen


def policy(settings: Settings) -> Policy:
    memory = settings.short_term_memory
    return Policy(
        similarity_threshold=memory.user_role_memory.update_similarity_threshold,
        history=memory.user_role_memory.history_user_messages_num,
        context=min(6, memory.conversation_memory.max_messages),
        guide_scope=_SCOPES[memory.user_role_memory.guide_scope],
        memory=memory.enabled,
        user_memory=settings.user_memory.enabled,
        masked_kinds=tuple(settings.masking.kinds.split(",")),
        masked_words=tuple(filter(None, map(str.strip, (settings.masking.words or "").split(",")))),
        raw_log=settings.masking.raw_log,
        idle=timedelta(minutes=memory.conversation_memory.idle_after),
        stale=timedelta(days=settings.user_memory.stale_after),
        key=settings.user_memory.forgetting_key.get_secret_value(),
    )


@dataclass(frozen=True)
class Parts:
    """What the processors of one worker share, connected."""

    publisher: Publisher
    store: Store
    features: FeatureStore
    tombstones: Tombstones
    model: Model
    permits: Permits
    metrics: Metrics
    tracer: Tracer
    judge: Judge | None = None


@asynccontextmanager
async def worker_parts(settings: Settings, processors: Sequence[Processor]) -> AsyncIterator[Parts]:
    """Waits while Kafka or MongoDB is away; raises SettingsInvalid for what no waiting would mend."""
    connection, metrics = kafka_connection(settings), Metrics()
    permits = Permits(settings.max_running, _stages(settings, processors))
    chosen = chosen_model(settings, permits)
    judge = _judge(settings, chosen, metrics)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(chosen.aclose)
        publisher = KafkaPublisher(connection)
        await publisher.start()
        stack.push_async_callback(publisher.stop)
        await wait_for_topics(settings)
        database = mongo_database(settings)
        stack.push_async_callback(database.aclose)
        await database.prepare()
        yield Parts(
            publisher,
            MongoStore(database),
            MongoFeatures(database),
            MongoTombstones(database, settings.user_memory.forgetting_key.get_secret_value()),
            MeasuredModel(chosen, metrics),
            permits,
            metrics,
            _tracer(settings, stack),
            judge,
        )


async def wait_for_topics(settings: Settings) -> None:
    """Wait while Kafka is away; raises SettingsInvalid where topics are missing."""
    connection = kafka_connection(settings)
    if missing := await Patience("Kafka", (Outage,))(lambda: missing_topics(connection)):
        raise SettingsInvalid(f"topics are missing: {', '.join(missing)}; run `rolestream topics create`")


def _stages(settings: Settings, processors: Sequence[Processor]) -> list[Stage]:
    """Which calls the permits are for; those of a judge, in update arbitration, go with those of role extraction."""
    names = names_of(processors)
    if settings.short_term_memory.user_role_memory.model_helps_similarity and "update-arbitration" in names:
        names.append("role-extraction")
    return [stage for stage in get_args(Stage) if stage in names]


def _judge(settings: Settings, model: Model, metrics: Metrics) -> Judge | None:
    if not settings.short_term_memory.user_role_memory.model_helps_similarity:
        return None
    if not isinstance(model, OpenAIModel):
        raise SettingsInvalid(
            "MODEL_HELPS_SIMILARITY is true and no model server is set: ROLESTREAM_MODEL__BASE_URL or "
            "ROLESTREAM_MODEL__API_KEY"
        )
    return ModelJudge(model, metrics)


def _tracer(settings: Settings, stack: AsyncExitStack) -> Tracer:
    if settings.otel_endpoint is None:
        return NoSpans()
    spans = OpenTelemetrySpans(settings.otel_endpoint)
    stack.push_async_callback(asyncio.to_thread, spans.close)
    return spans


def names_of(processors: Sequence[Processor]) -> list[str]:
    return [processor.name for processor in processors]


def runner_of(processor: Processor, settings: Settings, parts: Parts) -> Runner:
    """Runs the records of one processor on what all share."""
    return Runner(processor, _services(settings, parts), parts.publisher, parts.metrics, parts.tracer)


def _services(settings: Settings, parts: Parts) -> Services:
    return Services(
        parts.store,
        parts.model,
        lexical,
        lambda: datetime.now(UTC),
        parts.features,
        parts.tombstones,
        policy(settings),
        judge=parts.judge,
    )


async def run_processors(
    settings: Settings,
    processors: Sequence[Processor],
    parts: Parts,
    stop: Callable[[], Awaitable[object]],
    started: Callable[[], None],
) -> None:
    """Run processors on given parts until `stop` returns."""
    connection = kafka_connection(settings)
    pace = Pace(connection.fetch_max_wait_ms)
    apps = [
        ProcessorApp(
            processor,
            connection,
            runner_of(processor, settings, parts).run,
            max_unacked=settings.max_unacked,
            drain_timeout=settings.drain_timeout,
            waits=parts.permits.waits,
            metrics=parts.metrics,
            pace=pace,
        )
        for processor in processors
    ]
    async with _health(settings, apps, parts), _jobs(settings, processors, parts):
        await run_apps(apps, stop, started)


@asynccontextmanager
async def _jobs(settings: Settings, processors: Sequence[Processor], parts: Parts) -> AsyncIterator[None]:
    """Do the processors' jobs beside their records; a job that runs at the end is given up, for it may be repeated."""
    jobs = [job for processor in processors for job in processor.jobs]
    schedule = Schedule(jobs, _services(settings, parts), parts.publisher, parts.metrics)
    running = asyncio.create_task(schedule.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})


@asynccontextmanager
async def _health(settings: Settings, apps: Sequence[ProcessorApp], parts: Parts) -> AsyncIterator[None]:
    """Serve /live, /ready and /metrics where a port is set."""
    if settings.health.port is None:
        yield
        return
    observe(apps, parts.permits, parts.metrics)
    async with health_server(
        settings.health.host,
        settings.health.port,
        live=lambda: live(apps, parts, settings.health.stall_after),
        ready=lambda: ready(apps, parts),
        metrics=parts.metrics.text,
    ):
        yield


async def run_worker(
    settings: Settings,
    names: Sequence[str],
    stop: Callable[[], Awaitable[object]],
    started: Callable[[], None] = lambda: None,
) -> None:
    """Run the named processors, or all of them, until `stop` returns, be it before they have begun."""
    processors, connected = chosen_processors(settings, names), asyncio.Event()

    async def work() -> None:
        async with worker_parts(settings, processors) as parts:
            connected.set()
            await run_processors(settings, processors, parts, stop, started)

    working = asyncio.ensure_future(work())
    try:
        await first_of(connected.wait(), stop(), asyncio.shield(working))
        if connected.is_set():
            await working
    finally:
        working.cancel()
        await asyncio.wait({working})


@asynccontextmanager
async def client_parts(
    settings: Settings, patience: float
) -> AsyncIterator[tuple[Publisher, Store, FeatureStore, Listen]]:
    """What a client is made of, connected."""
    connection = kafka_connection(settings)
    async with AsyncExitStack() as stack:
        publisher = KafkaPublisher(connection, patience=patience)
        await publisher.start()
        stack.push_async_callback(publisher.stop)
        database = mongo_database(settings, patience=patience)
        stack.push_async_callback(database.aclose)

        @asynccontextmanager
        async def listen(heard: Callable[[Wire], None], failed: Callable[[Exception], None]) -> AsyncIterator[None]:
            listener = KafkaListener(connection, _FOLLOWED, heard, failed)
            await listener.start()
            try:
                yield
            finally:
                await listener.stop()

        yield publisher, MongoStore(database), MongoFeatures(database), listen


async def first_of(*waits: Awaitable[object]) -> None:
    """Wait for the first of several, and raise what it raises."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def _patient_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of a command that ends soon; raises Outage."""
    database = mongo_database(settings, patience=_CLIENT_PATIENCE)
    try:
        yield database
    finally:
        await database.aclose()


async def read_track(settings: Settings, conversation_id: str, limit: int = 1000) -> list[TrackEntry]:
    """The last `limit` track entries of a conversation, oldest first; raises Outage."""
    async with _patient_database(settings) as database:
        return (await MongoStore(database).track(ConversationId(conversation_id), None, limit))[::-1]


async def read_user(settings: Settings, user_id: str) -> dict[str, Json]:
    """All that is held about a user; raises Outage."""
    async with _patient_database(settings) as database:
        return await held_about(database, user_id)


async def read_features(settings: Settings, user_id: str) -> list[UserFeature]:
    """A user's features in the order of their slots, deleted ones too; raises Outage."""
    async with _patient_database(settings) as database:
        return await MongoFeatures(database).features(UserId(user_id))


async def create_missing_topics(settings: Settings, partitions: int, replication: int) -> list[str]:
    """Create the topics that are missing and return their names; raises Outage and SettingsInvalid."""
    return await create_topics(kafka_connection(settings), partitions, replication, settings.kafka.retention_hours)


def model_to_evaluate(settings: Settings, name: Literal["rules", "openai"]) -> Model:
    """The offline rules, or the server that is set; raises SettingsInvalid where none is."""
    if name == "rules":
        return RulesModel()
    if settings.model_api_key is None and settings.model_base_url is None:
        raise SettingsInvalid("no model server is set: ROLESTREAM_MODEL__BASE_URL or ROLESTREAM_MODEL__API_KEY")
    return chosen_model(settings, Permits(1, get_args(Stage)))


async def read_dead_letters(
    settings: Settings, wanted: Wanted, limit: int | None, *, in_brief: bool = False
) -> list[DeadLetter]:
    """The dead letters that match, oldest first; raises Outage."""
    async with _patient_database(settings) as database:
        return await MongoStore(database).dead_letters(wanted, limit, in_brief=in_brief)


async def replay_letters(
    settings: Settings, letters: Sequence[DeadLetter], sent: Callable[[DeadLetter], None] = lambda letter: None
) -> list[BadEvent]:
    """As `replaying.replay` does, on Kafka and MongoDB."""
    publisher = KafkaPublisher(kafka_connection(settings), patience=_CLIENT_PATIENCE)
    await publisher.start()
    try:
        async with _patient_database(settings) as database:
            return await replay(letters, publisher, MongoStore(database), sent)
    finally:
        await publisher.stop()


@asynccontextmanager
async def embedded(
    settings: Settings, data_dir: Path | None
) -> AsyncIterator[tuple[Settings, Callable[[], Awaitable[object]]]]:
    """The embedded broker and database with our topics: the settings that reach them, and a wait for their end."""
    kept = {"topic_prefix": settings.kafka.topic_prefix, "partitions": settings.kafka.partitions}
    async with embedded_services(data_dir) as services:
        kafka = KafkaSettings(**kept, brokers=services.brokers, session_timeout=3, fetch_max_wait_ms=10)
        here = settings.model_copy(
            update={
                "kafka": kafka,
                "mongo": settings.mongo.model_copy(update={"url": SecretStr(services.mongo_url)}),
            }
        )
        await create_topics(kafka_connection(here), here.kafka.partitions, 1, here.kafka.retention_hours)
        yield here, services.watch
