"""What Faust is told, and where its own bookkeeping would lose a worker or forget a commit."""

from typing import Any

from faust.types import TP

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.worker import ProcessorApp
from pipeline.metrics import Metrics
from pipeline.ports import Processor, Record

#: Seconds for which a standby may have nothing to do.
A_MONTH = 30 * 24 * 3600


def probe() -> ProcessorApp:
    """An app that nobody starts."""

    async def run(record: Record) -> None: ...

    async def handle(*_: Any) -> list[Any]:
        return []

    return ProcessorApp(
        Processor("probe", ("questions",), handle),
        Connection("127.0.0.1:1", "test."),
        run,
        max_unacked=1,
        drain_timeout=1,
        waits=lambda task: False,
        metrics=Metrics(),
    )


async def test_an_idle_standby_stays_in_its_group() -> None:
    """A consumer without partitions leaves its group for good after the poll interval, so that it must never come."""
    assert probe().conf.broker_max_poll_interval > A_MONTH


async def test_what_is_done_is_committed_though_an_earlier_commit_was_cut_off() -> None:
    """Faust takes acknowledgements off its list before it commits them, so that a revoke in between forgot them."""
    app, tp = probe(), TP("test.questions", 0)
    consumer = app.faust_consumer
    consumer._committed_offset[tp] = 3
    consumer._acked[tp] = [3, 4, 5, 6]
    app.done[tp] = 7
    for _ in ("cut off", "on revoke"):
        assert consumer._new_offset(tp) == 7
    assert not consumer._acked[tp]


async def test_nothing_is_committed_for_a_partition_where_nothing_is_done() -> None:
    """A partition that was only just dealt keeps the offset that it has."""
    assert probe().faust_consumer._new_offset(TP("test.questions", 0)) is None
