"""OpenTelemetry spans, sent to a collector by OTLP over HTTP; extra `otel`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from pipeline.errors import Unavailable
from pipeline.tracing import Headers

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    _IS_HERE = False
else:
    _IS_HERE = True


class OpenTelemetrySpans:
    """A span for each record and processor, children of the trace that the record carries.

    `endpoint` is a collector's, such as http://127.0.0.1:4318. Raises Unavailable without the extra.
    """

    def __init__(self, endpoint: str, exporter: "SpanExporter | None" = None) -> None:
        if not _IS_HERE:
            raise Unavailable("spans need the extra: pip install 'rolestream[otel]', or leave OTEL_ENDPOINT unset")
        self._provider = TracerProvider(resource=Resource.create({"service.name": "rolestream"}))
        exporter = exporter or OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("rolestream")
        self._propagator = TraceContextTextMapPropagator()

    def work(self, processor: str, headers: Headers) -> AbstractContextManager[Headers]:
        return self._span(processor, headers)

    @contextmanager
    def _span(self, processor: str, headers: Headers) -> Iterator[Headers]:
        carried = {name: value.decode("ascii", "replace") for name, value in headers.items()}
        parent = self._propagator.extract(carried)
        with self._tracer.start_as_current_span(processor, context=parent, kind=SpanKind.CONSUMER):
            onward: dict[str, str] = {}
            self._propagator.inject(onward)
            yield {**headers, **{name: value.encode() for name, value in onward.items()}}

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()
