"""Measures on public data that is not in this repository; each says its command."""
