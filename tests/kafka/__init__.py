"""Apache Kafka itself for tests: one node or several on loopback, without Docker."""

from tests.kafka.cluster import Cluster, kafka_cluster

__all__ = ["Cluster", "kafka_cluster"]
