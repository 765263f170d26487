"""Commands for an operator: `topics create`, `config`."""

import argparse

from pydantic import BaseModel

from pipeline import bootstrap
from pipeline.settings import Settings


async def topics_create(arguments: argparse.Namespace, settings: Settings) -> int:
    """Create the topics that are missing."""
    partitions = arguments.partitions or settings.kafka.partitions
    replication = arguments.replication or settings.kafka.replication
    created = await bootstrap.create_missing_topics(settings, partitions, replication)
    print("\n".join(f"created {name}" for name in created) or "all topics are there")
    return 0


async def config(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the settings in effect, secrets hidden."""
    for name, value in _flat(settings, "ROLESTREAM_"):
        print(f"{name}={value}")
    return 0


def _flat(group: BaseModel, prefix: str) -> list[tuple[str, object]]:
    lines: list[tuple[str, object]] = []
    for field, about in type(group).model_fields.items():
        value = getattr(group, field)
        if about.exclude:
            continue
        if isinstance(value, BaseModel):
            lines += _flat(value, f"{prefix}{field.upper()}__")
        else:
            lines.append((prefix + field.upper(), "" if value is None else value))
    return lines
