"""The crash suite: what is promised, counted on a real Apache Kafka while processes and services end."""
