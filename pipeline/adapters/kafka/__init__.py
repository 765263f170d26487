"""Kafka: Faust for reading, aiokafka for writing."""
