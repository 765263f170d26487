"""One record from decoding to delivery: decode, handle, publish, and dead-letter what cannot be done."""

import asyncio
import json
import logging
import traceback
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from pipeline.domain.forgetting import KEYED_BY_USER, to_render, users_named
from pipeline.errors import BadEvent, RolestreamError, SettingsInvalid
from pipeline.metrics import Metrics
from pipeline.ports import Origin, Publisher
from pipeline.processing import REPLAY_HEADER, Failure, Output, Processor, Record, Services
from pipeline.tracing import Headers, Tracer, trace_headers, trace_id
from schemas.events import ERROR_PREFIX, AnswerReady, DeadLetter, GuidanceIssued
from schemas.topics import BY_NAME
from schemas.wire import UserId, Wire

log = logging.getLogger(__name__)

#: Ours are told from a client's own by this header.
PRODUCER = ("producer", b"rolestream")
#: Headers of an earlier failure and its replay, which are no longer true.
_ADDED = (ERROR_PREFIX, REPLAY_HEADER)
_LONGEST_TRACE = 4000
_FRESH = timedelta(seconds=1)
_LONGEST_MESSAGE = 1000


def decode(record: Record) -> Wire:
    """The record's event; raises BadEvent that says which field is wrong, without quoting the record.

    One under another user's key is refused: what is done for a user keeps its order by the key alone.
    """
    if record.value is None:
        raise BadEvent("the record has no value: send the event as JSON")
    try:
        event = BY_NAME[record.topic].event.model_validate_json(record.value, extra="ignore")
    except ValidationError as exc:
        wrong = "; ".join(
            f"{'.'.join(map(str, error['loc'])) or 'record'}: {error['msg']}"
            for error in exc.errors(include_url=False, include_input=False)[:10]
        )
        raise BadEvent(wrong) from exc
    if record.topic in KEYED_BY_USER and record.key != getattr(event, "user_id", "").encode():
        raise BadEvent("userId: it is not the record's key; send the event under its userId as key")
    return event


class Runner:
    """Runs one processor's records, each to its end: when `run` returns the record may be acknowledged."""

    def __init__(
        self, processor: Processor, services: Services, publisher: Publisher, metrics: Metrics, tracer: Tracer
    ) -> None:
        self._processor, self._services, self._publisher = processor, services, publisher
        self._metrics, self._tracer = metrics, tracer

    async def run(self, record: Record) -> None:
        """Handle a record and publish what comes of it; what cannot be handled becomes a dead letter.

        Raises SettingsInvalid when Kafka or MongoDB refuses us.
        """
        with self._tracer.work(self._processor.name, record.headers) as onward:
            try:
                event = decode(record)
            except BadEvent as exc:
                await self._dead_letter(record, None, origin_of(record, None), exc)
            else:
                if self._processor.concerns(event, record):
                    await self._work(event, record, origin_of(record, event), onward)
        self._metrics.records.labels(self._processor.name).inc()

    async def _work(self, event: Wire, record: Record, origin: Origin, onward: Headers) -> None:
        try:
            if origin.time is not None and not self._is_fresh(record) and await self._is_over(origin, event):
                await self._drop(record, origin)
                return
            outputs = await self._handled(event, record, origin)
            if await self._is_over(origin, event):
                await self._drop(record, origin)
                return
            for output in outputs:
                if isinstance(output, Failure):
                    await self._dead_letter(record, event, origin, output.exception)
                else:
                    await self._publish(output, onward)
        except SettingsInvalid:
            raise  # not the record's fault: the worker ends
        except Exception as exc:
            await self._dead_letter(record, event, origin, exc)

    def _is_fresh(self, record: Record) -> bool:
        """Whether the processor before has looked for a tombstone just now; one that came since is seen afterwards."""
        is_own = record.headers.get(PRODUCER[0]) == PRODUCER[1]
        return is_own and not record.is_replay and timedelta(0) <= self._services.clock() - record.time < _FRESH

    async def _is_over(self, origin: Origin, event: Wire | None) -> bool:
        """Whether the question is forgotten; an answer that carries no time has that of its question, if any."""
        if event is not None and self._processor.sees_forgotten:
            return False
        covers = self._services.tombstones.covers
        if not await covers(origin):
            return False
        if origin.time is not None or not isinstance(event, AnswerReady):
            return True
        question = await self._services.store.message(event.conversation_id, event.question_id)
        return question is None or await covers(replace(origin, time=question.record_time))

    async def _handled(self, event: Wire, record: Record, origin: Origin) -> Sequence[Output]:
        """What the handler returns; where something forgotten was in its way, what it returns without that."""
        try:
            return await self._processor.handle(event, record, self._services)
        except SettingsInvalid:
            raise
        except Exception:
            if not await self._erase(origin):
                raise
            return await self._processor.handle(event, record, self._services)

    async def _drop(self, record: Record, origin: Origin) -> None:
        """Remove what this delivery, or an earlier one, may have left, and leave a trace without a word of it."""
        await self._erase(origin)
        self._metrics.dropped.labels(self._processor.name).inc()
        place = (record.topic, record.partition, record.offset)
        log.debug("dropped what is forgotten: %s, partition %d, offset %d", *place, extra={"action": "dropped"})

    async def _erase(self, origin: Origin) -> bool:
        """Remove what is forgotten, have the profile rendered without it, and tell whether there was anything."""
        removed = await self._services.tombstones.erase(origin)
        if removed and origin.user_id is not None:
            user_id, features = UserId(origin.user_id), self._services.features
            # whoever removed it may have ended there
            if await features.profile(user_id) is None and await features.features(user_id):
                await self._publish(to_render(user_id, self._services.clock()), {})
        return any(removed.values())

    async def _publish(self, event: Wire, onward: Headers) -> None:
        await self._publisher.publish(event, headers_of(event, onward))
        if isinstance(event, GuidanceIssued):
            self._metrics.turns.labels(event.decision).inc()

    async def _is_dropped(self, record: Record, event: Wire | None, origin: Origin) -> bool:
        """Whether what failed is forgotten; then what was kept of it is removed."""
        whose = origin if await self._is_over(origin, event) else None
        if whose is None and event is None:
            whose = await self._forgotten_in(record)
        if whose is not None:
            await self._drop(record, whose)
        return whose is not None

    async def _forgotten_in(self, record: Record) -> Origin | None:
        """A forgotten user whom a record that is no event names."""
        named = [Origin(name, None, record.time) for name in users_named(record.topic, record.key, record.value)]
        over = await asyncio.gather(*(self._is_over(one, None) for one in named))
        return next((one for one, is_over in zip(named, over, strict=True) if is_over), None)

    async def _dead_letter(self, record: Record, event: Wire | None, origin: Origin, exc: Exception) -> None:
        """Keep and publish what could not be done, unless it is forgotten, be it while it is stored."""
        if await self._is_dropped(record, event, origin):
            return
        letter = dead_letter(self._processor.name, record, origin, exc, self._services)
        await self._services.store.add_dead_letter(letter)
        if await self._is_dropped(record, event, origin):
            return
        log.warning(
            "dead letter %s: %s: %s",
            letter.letter_id,
            letter.exception,
            letter.message if isinstance(exc, RolestreamError) else "see the dead letter for its stack trace",
            extra={"action": "dead_letter"},
        )
        await self._publisher.publish_dead_letter(letter)
        self._metrics.dead_letters.labels(self._processor.name).inc()


def headers_of(event: Wire, onward: Headers) -> Headers:
    """Who sends it, an id that every delivery of the same event repeats, and the trace it belongs to."""
    event_id = getattr(event, "event_id", "")
    replay = {REPLAY_HEADER: onward[REPLAY_HEADER]} if REPLAY_HEADER in onward else {}
    return {PRODUCER[0]: PRODUCER[1], "eventId": event_id.encode(), **trace_headers(onward, event_id), **replay}


def origin_of(record: Record, event: Wire | None) -> Origin:
    """The question that a record stems from; of one that holds no event, as far as its key and its JSON say.

    A turn's events carry the time of its question; the answer of a client's own model knows none.
    """
    said = _said(record) if event is None else {}
    user_id = said.get("userId") if event is None else getattr(event, "user_id", None)
    conversation_id = said.get("conversationId") if event is None else getattr(event, "conversation_id", None)
    if record.topic in ("answers", "reports") and record.headers.get(PRODUCER[0]) != PRODUCER[1]:
        return Origin(user_id, conversation_id)
    return Origin(user_id, conversation_id, getattr(event, "record_time", None) or record.time)


def _said(record: Record) -> dict[str, str]:
    """The strings of a JSON object that is no event, and whose the record is by its key."""
    try:
        content = json.loads(record.value or b"")
    except (ValueError, RecursionError):
        content = None
    field = BY_NAME[record.topic].key
    named = {to_camel(field): record.key.decode(errors="replace")} if field and record.key else {}
    items = content.items() if isinstance(content, dict) else ()
    # half of a character, which JSON can hold, is nothing that a database takes
    return named | {name: value.encode(errors="replace").decode() for name, value in items if isinstance(value, str)}


def dead_letter(processor: str, record: Record, origin: Origin, exc: Exception, services: Services) -> DeadLetter:
    """Everything that is known of a failure, bounded."""
    expected = isinstance(exc, RolestreamError)
    trace = "" if expected else "".join(traceback.format_exception(exc))[-_LONGEST_TRACE:]
    return DeadLetter(
        processor=processor,
        source_topic=record.topic,
        source_partition=record.partition,
        source_offset=record.offset,
        exception=type(exc).__name__,
        message=(str(exc) or type(exc).__name__)[:_LONGEST_MESSAGE],
        stack_trace=trace,
        attempts=record.attempts,
        trace_id=trace_id(record.headers),
        record_time=record.time,
        create_time=services.clock(),
        conversation_id=origin.conversation_id,
        user_id=origin.user_id,
        question_time=origin.time,
        key=record.key,
        value=record.value,
        headers=[(name, value) for name, value in record.headers.items() if not name.startswith(_ADDED)],
    )
