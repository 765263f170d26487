"""W3C trace context: every event of a question carries the trace that the question began."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

#: The headers that carry a trace from record to record.
TRACE_HEADERS = ("traceparent", "tracestate")
_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

Headers = Mapping[str, bytes]


def trace_id(headers: Headers) -> str:
    """The trace that a record belongs to; empty where it names none, or not as it should."""
    match = _TRACEPARENT.match(headers.get("traceparent", b""))
    return match[1].decode() if match else ""


def trace_headers(headers: Headers, event_id: str) -> dict[str, bytes]:
    """What carries a record's trace on; one that has none begins it, the same for every delivery of an event."""
    if trace_id(headers):
        return {name: headers[name] for name in TRACE_HEADERS if name in headers}
    digits = event_id.replace("-", "").encode()
    return {"traceparent": b"00-%s-%s-01" % (digits, digits[:16])}


class Tracer(Protocol):
    """Makes a span of the work on one record, where spans are wanted."""

    def work(self, processor: str, headers: Headers) -> AbstractContextManager[Headers]:
        """Around a processor's work on a record: gives the headers that carry the trace on."""


class NoSpans:
    """Passes the trace on, and records nothing."""

    def work(self, processor: str, headers: Headers) -> AbstractContextManager[Headers]:
        return nullcontext(headers)
