"""The `dead-letters` commands: look at what could not be processed, and try it again."""

import argparse
import json
import sys
from datetime import UTC, datetime

from pipeline import bootstrap
from pipeline.errors import RolestreamError, SettingsInvalid
from pipeline.ports import Wanted
from pipeline.settings import Settings
from schemas.events import DeadLetter

#: How many letters are held at once while they are replayed: each may be large.
_AT_ONCE = 50


async def listed(arguments: argparse.Namespace, settings: Settings) -> int:
    """List dead letters, oldest first, one a line."""
    found = await bootstrap.read_dead_letters(settings, _wanted(arguments), arguments.limit + 1, in_brief=True)
    for letter in found[: arguments.limit]:
        failed = letter.create_time.isoformat(timespec="seconds")
        print(f"{letter.letter_id}  {failed}  {_shown(letter.key)}  {letter.exception}: {letter.message}")
    if len(found) > arguments.limit:
        print(f"there are more than these {arguments.limit}: see --limit", file=sys.stderr)
    return 0


async def show(arguments: argparse.Namespace, settings: Settings) -> int:
    """Show one dead letter with its record and stack trace, as JSON."""
    found = await bootstrap.read_dead_letters(settings, Wanted(letter_ids=[arguments.id]), 1)
    if not found:
        raise RolestreamError(f"there is no dead letter {arguments.id!r}; `rolestream dead-letters list` lists them")
    shown = found[0].model_dump(mode="json", by_alias=True, exclude={"key", "value", "headers"})
    record = {"key": _shown(found[0].key), "value": _shown(found[0].value)}
    headers = {name: _shown(value) for name, value in found[0].headers}
    print(json.dumps({**shown, **record, "headers": headers}, indent=2, ensure_ascii=False))
    return 0


async def replay(arguments: argparse.Namespace, settings: Settings) -> int:
    """Send dead letters to their topics again; what fails again becomes a new one."""
    wanted = _wanted(arguments)
    if wanted == Wanted() and not arguments.all:
        raise SettingsInvalid("say which: --id, --topic, --key, --since, --until, or --all")
    found = await bootstrap.read_dead_letters(settings, wanted, arguments.limit, in_brief=True)
    if not found:
        print("no dead letter matches", file=sys.stderr)
    if arguments.dry_run:
        for letter in found:
            print(f"would replay {letter.letter_id} to {letter.source_topic}")
        return 0
    code = 0
    for start in range(0, len(found), _AT_ONCE):
        named = Wanted(letter_ids=[letter.letter_id for letter in found[start : start + _AT_ONCE]])
        letters = await bootstrap.read_dead_letters(settings, named, None)
        for refusal in await bootstrap.replay_letters(settings, letters, _tell):
            print(f"{refusal}; it stays", file=sys.stderr)
            code = 1
    return code


def _tell(letter: DeadLetter) -> None:
    print(f"replayed {letter.letter_id} to {letter.source_topic}", flush=True)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    key = None if arguments.key is None else arguments.key.encode()
    ids = None if arguments.id is None else [arguments.id]
    return Wanted(ids, arguments.topic, key, arguments.since, arguments.until)


def _shown(data: bytes | None) -> str:
    return "-" if data is None else data.decode("utf-8", "backslashreplace")


def moment(text: str) -> datetime:
    """An ISO 8601 time; one without an offset is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
