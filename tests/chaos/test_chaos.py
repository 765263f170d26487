"""Each case of the crash suite in a small run, on one Apache Kafka for all that need one node."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.performing import perform
from tests.chaos.stage import Scale
from tests.chaos.table import CASES, header, row
from tests.kafka import Cluster, kafka_cluster

SCALE = Scale.of(400)


@pytest.fixture(scope="module")
def kafka() -> Iterator[Cluster]:
    with kafka_cluster() as cluster:
        yield cluster


# A case that stalls is over after two minutes and says at what; most take half a minute.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
async def test_nothing_is_lost_doubled_forked_or_disordered(
    name: str, kafka: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever ends under load, every turn leaves what it must, once and in its place."""
    case = CASES[name]
    with ExitStack() as stack:
        cluster = kafka if case.nodes == 1 else stack.enter_context(kafka_cluster(case.nodes))
        figures, wrong = await perform(name, case, cluster, SCALE, tmp_path)
    with capsys.disabled():
        print("", header(), row(figures), sep="\n")
    assert not wrong
