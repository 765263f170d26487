"""What a worker counts and measures, for Prometheus; one registry a worker."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pipeline.errors import ModelFailed
from pipeline.ports import AnswerRequest, Model, Proposal, Reply, Said
from schemas.events import Cost
from schemas.features import KnownFeature, Summary

_MODEL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
_DRAIN_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 40)
_PREFIX = "rolestream"

R = TypeVar("R", Proposal, Reply)

#: One reading of a gauge: its labels' values and its own.
Reading = tuple[tuple[str, ...], float]


class Metrics:
    """Counters and histograms that the worker's parts write to, and gauges that are read when they are asked for."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = self._counter("turns", "Turns by what became of them.", "decision")
        self.records = self._counter("records", "Records handled to their end.", "processor")
        self.dropped = self._counter("dropped", "Records dropped, for they are of what is forgotten.", "processor")
        self.dead_letters = self._counter("dead_letters", "Records that became dead letters.", "processor")
        self.rebalances = self._counter("rebalances", "Times the partitions were dealt anew.", "processor")
        self.handed_back = self._counter("handed_back", "Records given up undone at a drain.", "processor")
        self.drain_seconds = self._histogram("drain_seconds", "Seconds of a drain.", "processor", _DRAIN_SECONDS)
        self.jobs = self._counter("jobs", "Rounds of the periodic jobs by how they ended.", "job", "outcome")
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

    def model_call(self, stage: str, cost: Cost, *, failed: bool = False) -> None:
        """Count what a model was asked for once, with all the requests that it took."""
        self._calls.labels(stage).inc(cost.calls)
        self._retries.labels(stage).inc(max(0, cost.calls - 1))
        self._failures.labels(stage).inc(failed)
        self._tokens.labels(stage, "prompt").inc(cost.prompt_tokens)
        self._tokens.labels(stage, "completion").inc(cost.completion_tokens)
        self._seconds.labels(stage).observe(cost.milliseconds / 1000)

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


class MeasuredModel:
    """A model whose calls are counted, by stage."""

    def __init__(self, model: Model, metrics: Metrics) -> None:
        self._model, self._metrics = model, metrics

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        return await self._measured("role-extraction", self._model.extract(question, history))

    async def answer(self, request: AnswerRequest) -> Reply:
        return await self._measured("report-generation", self._model.answer(request))

    async def report(self, request: AnswerRequest) -> Proposal:
        return await self._measured("report-generation", self._model.report(request))

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        return await self._measured("feature-extraction", self._model.extract_features(messages, known))

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        return await self._measured("summary", self._model.summarise(previous, messages))

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        return await self._measured("feature-memory", self._model.still_hold(features, days))

    async def _measured(self, stage: str, call: Awaitable[R]) -> R:
        try:
            reply = await call
        except ModelFailed as failure:
            self._metrics.model_call(stage, Cost(**failure.spent), failed=True)
            raise
        self._metrics.model_call(stage, reply.cost)
        return reply

    async def aclose(self) -> None:
        await self._model.aclose()
