"""The trace of a question goes on from event to event, with spans and without."""

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pipeline.adapters.spans import OpenTelemetrySpans
from pipeline.tracing import trace_headers, trace_id

TRACE = "ab" * 16
PARENT = f"00-{TRACE}-{'cd' * 8}-01".encode()


def test_a_trace_is_carried_on_with_its_state() -> None:
    """What the client began is what its answer carries."""
    assert trace_headers({"traceparent": PARENT, "tracestate": b"a=b", "x": b"y"}, "id") == {
        "traceparent": PARENT,
        "tracestate": b"a=b",
    }


def test_an_event_without_a_trace_begins_one_that_every_delivery_repeats() -> None:
    """A broken traceparent counts as none; the begun one is well formed."""
    event_id = "0b1c2d3e-0000-5000-8000-1234567890ab"
    begun = trace_headers({"traceparent": b"00-00-00-00"}, event_id)
    assert begun == trace_headers({}, event_id)
    assert trace_id(begun) == event_id.replace("-", "")


def test_a_trace_id_is_read_only_where_it_is_one() -> None:
    """All zeros and rubbish name no trace."""
    assert trace_id({"traceparent": PARENT}) == TRACE
    for broken in (b"", b"rubbish", b"00-" + b"0" * 32 + b"-" + b"cd" * 8 + b"-01"):
        assert trace_id({"traceparent": broken}) == ""


def test_spans_are_children_of_the_records_trace_and_parents_of_what_comes_of_it() -> None:
    """The next processor's span hangs on ours; a failure is noted on the span."""
    exporter = InMemorySpanExporter()
    spans = OpenTelemetrySpans("http://127.0.0.1:1", exporter)
    with spans.work("conversation-logging", {"traceparent": PARENT, "x": b"y"}) as onward:
        assert onward["x"] == b"y"
    with spans.work("role-extraction", onward):
        pass
    spans.close()
    first, second = exporter.get_finished_spans()
    assert (first.name, second.name) == ("conversation-logging", "role-extraction")
    assert f"{first.context.trace_id:032x}" == f"{second.context.trace_id:032x}" == TRACE
    assert first.parent is not None
    assert second.parent is not None
    assert f"{first.parent.span_id:016x}" == "cd" * 8
    assert second.parent.span_id == first.context.span_id
