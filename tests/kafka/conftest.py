"""One Apache Kafka for all tests here, and three nodes for those that lose one."""

from collections.abc import Iterator

import pytest

from tests.kafka.cluster import Cluster, kafka_cluster


@pytest.fixture(scope="session")
def kafka() -> Iterator[Cluster]:
    """One node; a test that stops it starts it again."""
    with kafka_cluster() as cluster:
        yield cluster


@pytest.fixture
def three_nodes() -> Iterator[Cluster]:
    with kafka_cluster(nodes=3) as cluster:
        yield cluster
