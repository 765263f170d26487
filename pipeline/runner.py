"""One record from decoding to delivery: decode, handle, publish, and dead-letter what cannot be done."""

import logging
import traceback

from pydantic import ValidationError

from pipeline.errors import BadEvent, RolestreamError, SettingsInvalid
from pipeline.metrics import Metrics
from pipeline.ports import REPLAY_HEADER, Failure, Processor, Publisher, Record, Services
from pipeline.tracing import Headers, Tracer, trace_headers, trace_id
from schemas.events import ERROR_PREFIX, DeadLetter, GuidanceIssued
from schemas.topics import BY_NAME
from schemas.wire import Wire

log = logging.getLogger(__name__)

#: Ours are told from a client's own by this header.
PRODUCER = ("producer", b"rolestream")
#: Headers of an earlier failure and its replay, which are no longer true.
_ADDED = (ERROR_PREFIX, REPLAY_HEADER)
_LONGEST_TRACE = 4000
_LONGEST_MESSAGE = 1000


def decode(record: Record) -> Wire:
    """The record's event; raises BadEvent that says which field is wrong, without quoting the record."""
    if record.value is None:
        raise BadEvent("the record has no value: send the event as JSON")
    try:
        return BY_NAME[record.topic].event.model_validate_json(record.value, extra="ignore")
    except ValidationError as exc:
        wrong = "; ".join(
            f"{'.'.join(map(str, error['loc'])) or 'record'}: {error['msg']}"
            for error in exc.errors(include_url=False, include_input=False)[:10]
        )
        raise BadEvent(wrong) from exc


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
                for output in await self._processor.handle(decode(record), record, self._services):
                    if isinstance(output, Failure):
                        await self._dead_letter(record, output.exception)
                    else:
                        await self._publish(output, onward)
            except SettingsInvalid:
                raise  # not the record's fault: the worker ends
            except Exception as exc:
                await self._dead_letter(record, exc)
        self._metrics.records.labels(self._processor.name).inc()

    async def _publish(self, event: Wire, onward: Headers) -> None:
        await self._publisher.publish(event, _headers(event, onward))
        if isinstance(event, GuidanceIssued):
            self._metrics.turns.labels(event.decision).inc()

    async def _dead_letter(self, record: Record, exc: Exception) -> None:
        letter = dead_letter(self._processor.name, record, exc, self._services)
        log.warning(
            "dead letter %s: %s: %s",
            letter.letter_id,
            letter.exception,
            letter.message if isinstance(exc, RolestreamError) else "see the dead letter for its stack trace",
            extra={"action": "dead_letter"},
        )
        await self._services.store.add_dead_letter(letter)
        await self._publisher.publish_dead_letter(letter)
        self._metrics.dead_letters.labels(self._processor.name).inc()


def _headers(event: Wire, onward: Headers) -> Headers:
    """Who sends it, an id that every delivery of the same event repeats, and the trace it belongs to."""
    event_id = getattr(event, "event_id", "")
    replay = {REPLAY_HEADER: onward[REPLAY_HEADER]} if REPLAY_HEADER in onward else {}
    return {PRODUCER[0]: PRODUCER[1], "eventId": event_id.encode(), **trace_headers(onward, event_id), **replay}


def dead_letter(processor: str, record: Record, exc: Exception, services: Services) -> DeadLetter:
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
        key=record.key,
        value=record.value,
        headers=[(name, value) for name, value in record.headers.items() if not name.startswith(_ADDED)],
    )
