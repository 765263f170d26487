"""Rolestream: learns who the user is from what they ask, on Kafka and MongoDB."""
