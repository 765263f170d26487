"""Reading on Faust: one app and consumer group a processor, key-ordered, acknowledged in offset order."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import faust
from faust.events import Event
from faust.exceptions import ConsumerNotStarted
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.types import TP, AppT
from mode import Service
from mode.threads import ServiceThread, WorkerThread

from pipeline.adapters.kafka.connection import Connection, refusal
from pipeline.adapters.kafka.pace import Pace
from pipeline.dispatch import Dispatcher
from pipeline.metrics import Metrics
from pipeline.processing import Processor, Record
from schemas.topics import BY_NAME

log = logging.getLogger(__name__)
# Services of Faust's log under the name of the module that their class is in, unless they are told otherwise.
_faust_log = logging.getLogger("faust")

# Faust's idle standby leaves its group after this many seconds, and its detectors call an outage a fault of ours.
_NEVER = 1e7
_EPOCH, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
#: Seconds between looks at whether records come, and whether the group will have us.
_LOOK_EVERY = 1.0


class FaustDelivery:
    """One event of a Faust stream, as the dispatcher sees it."""

    __slots__ = ("_app", "_event", "generation", "key", "offset", "partition", "record")

    def __init__(self, app: "ProcessorApp", event: Event, prefix: str) -> None:
        message = event.message
        self._app, self._event = app, event
        self.partition: TP = message.tp
        self.offset: int = message.offset
        self.generation = message.generation_id
        self.key: bytes | None = message.key
        self.record = Record(
            topic=BY_NAME[message.topic.removeprefix(prefix)].name,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            time=_moment(message.timestamp),
            headers={name: value or b"" for name, value in dict(message.headers or ()).items()},
        )

    def ack(self) -> None:
        self._app.done[self.partition] = self.offset + 1
        self._event.ack()

    def hand_back(self) -> None:
        # Faust waits at a stop for every message that it has handed out, unless it is off this list.
        self._app.faust_consumer._unacked_messages.discard(self._event.message)


def _moment(timestamp: float | None) -> datetime:
    """A record's time; a client may set one that no calendar has, and then it is the nearest that one has."""
    try:
        return datetime.fromtimestamp(timestamp or 0, UTC)
    except (ValueError, OverflowError, OSError):
        return _LAST if timestamp and timestamp > 0 else _EPOCH


class _Thread(WorkerThread):
    """Does not outlive the program: a client whose broker is away never ends by itself."""

    def __init__(self, service: ServiceThread, **kwargs: Any) -> None:
        super().__init__(service, **kwargs)
        self.daemon = True


class _ConsumerThread(AIOKafkaConsumerThread):
    """Waits for new records as long as our pace says, where Faust has a constant."""

    Worker = _Thread
    logger = _faust_log

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        _ours(self.app).pace.set_for(consumer)
        return consumer

    @Service.task
    async def _look(self) -> None:
        """Whether records come, and whether the group will have us.

        aiokafka keeps an error of the group for the next read, and Faust reads nothing before it has joined.
        """
        app = _ours(self.app)
        while not self.should_stop:
            await self.sleep(_LOOK_EVERY)
            app.pace.look()
            exc = self._ensure_consumer()._coordinator._pending_exception
            if exc is not None and refusal(exc):
                app.main_loop.call_soon_threadsafe(app.fail, exc)
                return


class _NoPlace(dict[TP, int | None]):
    """Faust would drop what is behind the last record that it saw, though we have sought it: we tell what is next."""

    def __getitem__(self, tp: TP) -> None:
        return None


class _Consumer(FaustConsumer):
    """Finishes and commits what is done before it gives its partitions up; Faust forgets it."""

    logger = _faust_log

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read_offset = _NoPlace()
        self.begins: dict[TP, int] = {}
        """By partition, where reading began when it was last sought: where nothing was committed, with the log."""

    def _new_consumer_thread(self) -> _ConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        """Commit what is done by now; where a commit is under way, Faust waits for that one and leaves the rest."""
        await self.maybe_wait_for_commit_to_finish()
        return bool(await super().commit(topics, start_new_transaction))

    async def perform_seek(self) -> None:
        await super().perform_seek()
        self.begins = {tp: self._committed_offset.get(tp) or 0 for tp in self.assignment()}

    def _new_offset(self, tp: TP) -> int | None:
        """Up to where we are done; what Faust was to commit it forgets where that commit does not come to its end."""
        self._acked[tp].clear()
        self._acked_index[tp].clear()
        return _ours(self.app).done.get(tp)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        try:
            await _ours(self.app).drain(lost=self._membership_lost())
            if revoked:
                await self.commit()
        except Exception:
            log.exception("committing on revoke failed; what was not committed is delivered again")
        _ours(self.app).done.clear()
        self.begins.clear()
        await super().on_partitions_revoked(revoked)

    def _membership_lost(self) -> bool:
        """Whether the group went on without us: what we still finish, another worker does too."""
        coordinator = getattr(self._thread._consumer, "_coordinator", None)
        return coordinator is not None and coordinator.generation < 0


class ProcessorApp(faust.App):
    """The Faust app of one processor: its agents feed one dispatcher."""

    logger = _faust_log

    def __init__(
        self,
        processor: Processor,
        connection: Connection,
        run: Callable[[Record], Awaitable[None]],
        *,
        max_unacked: int,
        drain_timeout: float,
        waits: Callable[[asyncio.Task[None]], bool],
        metrics: Metrics,
        pace: Pace,
    ) -> None:
        self.processor, self._metrics = processor, metrics
        self.is_assigned = False
        """Whether the group has dealt us our partitions, be it none."""
        self.connection, self.pace = connection, pace
        self.main_loop = asyncio.get_running_loop()
        self.failure: asyncio.Future[None] = self.main_loop.create_future()
        self.drain_timeout = drain_timeout
        self.dispatcher: Dispatcher[FaustDelivery] = Dispatcher(
            lambda delivery: run(delivery.record),
            max_unacked=max_unacked,
            drain_timeout=drain_timeout,
            on_failure=self.fail,
            waits=waits,
        )
        self.done: dict[TP, int] = {}
        """By partition, the offset after the last that was acknowledged."""
        self._next: dict[TP, int] = {}
        self._reread: dict[TP, int] = {}
        super().__init__(
            id=f"{connection.prefix}{processor.name}",
            value_serializer="raw",
            key_serializer="raw",
            **connection.for_faust(),
            **_faust_settings(connection, drain_timeout),
        )
        self.on_rebalance_complete.connect(self._resume)
        for topic in processor.reads:
            channel = self.topic(connection.prefix + topic, value_type=bytes, key_type=bytes)
            self.agent(channel, name=f"{processor.name}.{topic}")(self._reader(connection.prefix))

    def _reader(self, prefix: str) -> Callable[[Any], Awaitable[None]]:
        async def read(stream: Any) -> None:
            async for event in stream.noack().events():
                delivery = FaustDelivery(self, event, prefix)
                del event  # Faust counts references to it
                await self.dispatcher.room()
                if await self._is_next(delivery):
                    self.pace.record_came()
                    self.dispatcher.take(delivery)
                else:
                    delivery.hand_back()

        return read

    @property
    def faust_consumer(self) -> _Consumer:
        consumer = self.consumer
        assert isinstance(consumer, _Consumer)
        return consumer

    async def _is_next(self, delivery: FaustDelivery) -> bool:
        """Whether to take it in: nothing was lost between the broker and us, and nothing is being given up.

        Acknowledging past a hole would lose what was in it for good, so that it is read again; a log
        may have real holes (transactions, compaction), and the record behind one is believed when it is
        the first to come again.
        What comes between a drain and the next assignment must leave no trace here: it is not taken
        in, and would be refused when it is delivered again.
        """
        tp, offset = delivery.partition, delivery.offset
        if self.dispatcher.draining or delivery.generation != self.consumer_generation_id:
            return False
        want = self._next.get(tp, self.faust_consumer.begins.get(tp))
        if want is None or offset == want or want < offset <= self._reread.get(tp, -1):
            self._next[tp] = offset + 1
            self._reread.pop(tp, None)
            return True
        if offset > want:
            if tp not in self._reread:  # the rest of its batch follows it
                log.info("%s: expected offset %d, got %d; reading again", tp, want, offset, extra={"action": "reread"})
                self._reread[tp] = offset
            await self.consumer.seek(tp, want)
        return False

    def lag(self) -> dict[str, int]:
        """By topic, how many records of our partitions are behind the end of the log and not committed."""
        lag: dict[str, int] = {}
        for tp in self.consumer.assignment():
            committed = self.faust_consumer._committed_offset.get(tp)
            lag[tp.topic] = lag.get(tp.topic, 0) + max(0, (self.consumer.highwater(tp) or 0) - (committed or 0))
        return lag

    async def drain(self, *, lost: bool = False) -> None:
        """Finish what runs within the drain deadline, or give up at once what another worker has by now."""
        begun, held = time.monotonic(), self.dispatcher.running
        left = await self.dispatcher.drain(0.0 if lost else None)
        seconds = time.monotonic() - begun
        self._next.clear()
        self._reread.clear()
        self._metrics.drain_seconds.labels(self.processor.name).observe(seconds)
        self._metrics.handed_back.labels(self.processor.name).inc(left)
        said = logging.INFO if held else logging.DEBUG
        log.log(said, "%s: drained in %.1f s, %d handed back", self.conf.id, seconds, left, extra={"action": "drained"})

    def fail(self, reason: BaseException) -> None:
        """End the worker: a record can neither be done nor be passed over."""
        if not self.failure.done():
            self.failure.set_exception(reason)

    async def _resume(self, *_: Any, **__: Any) -> None:
        if not self.should_stop:
            self.dispatcher.resume()
            self.is_assigned = True
            self._metrics.rebalances.labels(self.processor.name).inc()

    def on_rebalance_start(self) -> None:
        # Faust calls this from the consumer's thread
        super().on_rebalance_start()
        self.is_assigned = False
        self.main_loop.call_soon_threadsafe(self.dispatcher.begin_drain)

    async def on_stop(self) -> None:
        self.dispatcher.begin_drain()
        with suppress(ConsumerNotStarted):
            self.consumer.stop_flow()
        self.flow_control.suspend()
        self.flow_control.clear()
        await self.drain()
        await super().on_stop()

    def _new_transport(self) -> Any:
        transport = super()._new_transport()
        transport.Consumer = _Consumer  # type: ignore[misc]  # Faust looks it up on the instance
        return transport

    def _create_directories(self) -> None:
        """Faust keeps tables in a directory; we have none."""


def _ours(app: AppT) -> ProcessorApp:
    assert isinstance(app, ProcessorApp)
    return app


def _faust_settings(connection: Connection, drain_timeout: float) -> dict[str, Any]:
    """What keeps Faust from losing, doubling or starving events; each was measured."""
    session = connection.session_timeout
    return {
        "web_enabled": False,
        "broker_session_timeout": session,
        "broker_heartbeat_interval": min(3.0, session / 4),
        "broker_rebalance_timeout": max(60.0, session, drain_timeout + 10),
        "broker_request_timeout": max(90.0, session * 2, drain_timeout + 40),
        "broker_max_poll_interval": _NEVER,
        "broker_max_poll_records": 100,
        "broker_commit_interval": 0.5,
        "broker_commit_livelock_soft_timeout": _NEVER,
        "stream_buffer_maxsize": 16384,
        "stream_wait_empty": True,
        "stream_processing_timeout": _NEVER,
        "table_standby_replicas": 0,
        "topic_disable_leader": True,
        "topic_allow_declare": False,
        "producer_acks": -1,
        "processing_guarantee": "at_least_once",
    }
