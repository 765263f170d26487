"""What a worker counts and measures, for Prometheus; one registry a worker."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pipeline.errors import ModelFailed
from schemas.events import Cost

_MODEL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
_DRAIN_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 40)
_PREFIX = "rolestream"

#: One reading of a gauge: its labels' values and its own.
Reading = tuple[tuple[str, ...], float]


class Metrics:
    """Counters and histograms that the worker's parts write to, and gauges that are read when they are asked for."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = self._counter("turns", "Turns by what became of them.", "decision")
        self.records = self._counter("records", "Records handled to their end.", "processor")
        self.dead_letters = self._counter("dead_letters", "Records that became dead letters.", "processor")
        self.rebalances = self._counter("rebalances", "Times the partitions were dealt anew.", "processor")
        self.handed_back = self._counter("handed_back", "Records given up undone at a drain.", "processor")
        self.drain_seconds = self._histogram("drain_seconds", "Seconds of a drain.", "processor", _DRAIN_SECONDS)
        self.model_running = Gauge(
            "model_running", "Model calls that hold a permit.", ["stage"], namespace=_PREFIX, registry=self.registry
        )
        self._calls = self._counter("model_calls", "Requests to the model server, retries included.", "stage")
        self._retries = self._counter("model_retries", "Requests beyond the first of a call.", "stage")
        self._failures = self._counter("model_failures", "Calls that failed for good.", "stage")
        self._tokens = self._counter("model_tokens", "Tokens by kind.", "stage", "kind")
        self._seconds = self._histogram("model_seconds", "Seconds of a call, without waits.", "stage", _MODEL_SECONDS)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, namespace=_PREFIX, registry=self.registry)

    def _histogram(self, name: str, about: str, label: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, about, [label], namespace=_PREFIX, registry=self.registry, buckets=buckets)

    def gauge(self, name: str, about: str, labels: tuple[str, ...], read: Callable[[], Iterable[Reading]]) -> None:
        """Add a gauge that is read, label values and value, whenever the figures are asked for."""
        self.registry.register(_Read(f"{_PREFIX}_{name}", about, labels, read))

    def model_call(self, stage: str, cost: Cost) -> None:
        """Count a call that succeeded."""
        self._count_calls(stage, cost.calls)
        self._tokens.labels(stage, "prompt").inc(cost.prompt_tokens)
        self._tokens.labels(stage, "completion").inc(cost.completion_tokens)
        self._seconds.labels(stage).observe(cost.milliseconds / 1000)

    def model_failure(self, stage: str, failure: ModelFailed) -> None:
        """Count a call that failed for good."""
        self._count_calls(stage, failure.calls)
        self._failures.labels(stage).inc()
        self._seconds.labels(stage).observe(failure.milliseconds / 1000)

    def _count_calls(self, stage: str, calls: int) -> None:
        self._calls.labels(stage).inc(calls)
        self._retries.labels(stage).inc(max(0, calls - 1))

    def text(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)


class _Read(Collector):
    def __init__(self, name: str, about: str, labels: tuple[str, ...], read: Callable[[], Iterable[Reading]]) -> None:
        self._about, self._read = (name, about, labels), read

    def collect(self) -> Iterable[GaugeMetricFamily]:
        name, about, labels = self._about
        family = GaugeMetricFamily(name, about, labels=labels)
        for values, reading in self._read():
            family.add_metric(values, reading)
        yield family
