"""The `dead-letters` commands: look at what could not be processed, and try it again."""

import argparse
import json
from datetime import UTC, datetime

from pipeline import bootstrap
from pipeline.errors import RolestreamError, SettingsInvalid
from pipeline.ports import Wanted
from pipeline.settings import Settings


async def listed(arguments: argparse.Namespace, settings: Settings) -> int:
    """List dead letters, oldest first, one a line."""
    for letter in await bootstrap.read_dead_letters(settings, _wanted(arguments), arguments.limit):
        failed = letter.create_time.isoformat(timespec="seconds")
        print(f"{letter.letter_id}  {failed}  {_shown(letter.key)}  {letter.exception}: {letter.message}")
    return 0


async def show(arguments: argparse.Namespace, settings: Settings) -> int:
    """Show one dead letter with its record and stack trace, as JSON."""
    found = await bootstrap.read_dead_letters(settings, Wanted(letter_id=arguments.id), 1)
    if not found:
        raise RolestreamError(f"there is no dead letter {arguments.id!r}; `rolestream dead-letters list` lists them")
    shown = found[0].model_dump(mode="json", by_alias=True, exclude={"key", "value", "headers"})
    record = {"key": _shown(found[0].key), "value": _shown(found[0].value)}
    headers = {name: _shown(value) for name, value in found[0].headers}
    print(json.dumps({**shown, **record, "headers": headers}, indent=2, ensure_ascii=False))
    return 0


async def replay(arguments: argparse.Namespace, settings: Settings) -> int:
    """Send dead letters to their topics again; safe to repeat."""
    wanted = _wanted(arguments)
    if wanted == Wanted() and not arguments.all:
        raise SettingsInvalid("say which: --id, --topic, --key, --since, --until, or --all")
    letters = await bootstrap.read_dead_letters(settings, wanted, arguments.limit)
    if not arguments.dry_run:
        await bootstrap.replay(settings, letters)
    for letter in letters:
        print(f"{'would replay' if arguments.dry_run else 'replayed'} {letter.letter_id} to {letter.source_topic}")
    return 0


def _wanted(arguments: argparse.Namespace) -> Wanted:
    key = None if arguments.key is None else arguments.key.encode()
    return Wanted(arguments.id, arguments.topic, key, arguments.since, arguments.until)


def _shown(data: bytes | None) -> str:
    return "-" if data is None else data.decode("utf-8", "backslashreplace")


def moment(text: str) -> datetime:
    """An ISO 8601 time; one without an offset is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
