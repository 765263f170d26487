"""The `rolestream` command."""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from pipeline import bootstrap, demo
from pipeline.adapters.kafka.topics import create_topics
from pipeline.client import connect
from pipeline.errors import Outage, RolestreamError, SettingsInvalid, Stuck
from pipeline.ports import Wanted
from pipeline.processors import NAMES
from pipeline.settings import Settings, load_settings
from pipeline.telemetry import configure_logging
from schemas.events import GuidanceIssued, Mode, QuestionAsked, RoleExtracted, TurnLogged
from schemas.role import TrackEntry
from schemas.topics import TOPICS
from schemas.wire import Wire

Command = Callable[[argparse.Namespace, Settings], Coroutine[Any, Any, int]]

#: Seconds for which `ask` waits for Kafka and MongoDB to answer at all.
_PATIENCE = 10.0
#: Seconds for guidance that is heard after its answer.
_PATIENCE_FOR_GUIDANCE = 2.0
#: Commands that run a worker; the others print what they have to say.
_LOGGED = ("worker", "dev")
#: Exit codes: done, failed, used or set wrongly, interrupted.
_FAILED, _WRONG_USE, _INTERRUPTED = 1, 2, 130


async def worker(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run processors until SIGINT or SIGTERM."""
    await bootstrap.run_worker(settings, arguments.processors, _stop_on_signals().wait, _say_started)
    return 0


def _say_started() -> None:
    print("rolestream: worker is running", file=sys.stderr, flush=True)


def _stop_on_signals() -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has no signal handlers on a loop
            loop.add_signal_handler(name, stop.set)
    return stop


async def dev(arguments: argparse.Namespace, settings: Settings) -> int:
    """Keep the embedded broker and database and a worker up."""
    stop = _stop_on_signals()

    def say_where(here: Settings) -> None:
        print("rolestream: running; in another terminal set")
        print(f"export ROLESTREAM_KAFKA__BROKERS={here.kafka.brokers}")
        print(f"export ROLESTREAM_MONGO__URL='{here.mongo.url.get_secret_value()}'", flush=True)

    async with bootstrap.embedded(settings, arguments.data_dir) as (here, broken):
        await bootstrap.run_worker(here, (), lambda: bootstrap.first_of(stop.wait(), broken()), lambda: say_where(here))
    return 0


async def run_demo(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask the questions of a script on embedded services and show what is learnt."""
    return await demo.run(settings, arguments.script)


async def ask(arguments: argparse.Namespace, settings: Settings) -> int:
    """Publish a question, show how far it has come, print the answer."""
    try:
        QuestionAsked(conversation_id=arguments.conversation, user_id=arguments.user, text=arguments.text)
    except ValidationError as exc:
        wrong = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
        raise SettingsInvalid(wrong) from exc
    async with connect(settings, patience=min(_PATIENCE, arguments.timeout)) as client:
        progress = _Progress()
        question_id = await client.ask(
            arguments.text, user_id=arguments.user, conversation_id=arguments.conversation, mode=arguments.mode
        )
        if arguments.mode == "log":
            guidance = await client.guidance(question_id, within=arguments.timeout)
            print(guidance.text or "nothing is known about the user yet")
            return 0
        answer = await client.answer(question_id, within=arguments.timeout, heard=progress)
        with suppress(Outage):  # where memory is off there is none
            progress(await client.guidance(question_id, within=_PATIENCE_FOR_GUIDANCE))
    if answer.status == "failed":
        raise RolestreamError(f"no answer: {answer.reason}")
    print(answer.text)
    return 0


class _Progress:
    """Says each stage once, as it is heard."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, event: Wire) -> None:
        match event:
            case TurnLogged():
                said = f"turn {event.turn} logged, mode {event.mode}"
            case RoleExtracted():
                said = "not extracted: " + event.failure if event.failure else f"extracted by {event.cost.model}"
            case GuidanceIssued():
                said = f"{event.decision}: {event.reason}"
            case _:
                return
        if said not in self._said:
            self._said.add(said)
            print(f"  {said}", file=sys.stderr, flush=True)


async def track(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the role track of a conversation."""
    entries = await bootstrap.read_track(settings, arguments.conversation)
    if arguments.json:
        print(json.dumps([entry.model_dump(mode="json", by_alias=True) for entry in entries], ensure_ascii=False))
        return 0
    if not entries:
        raise RolestreamError(f"nothing is known of conversation {arguments.conversation!r}")
    for entry in entries:
        print(_row(entry))
    return 0


def _row(entry: TrackEntry) -> str:
    role = entry.identified_role
    preferences = entry.communication_preferences.model_dump(by_alias=True, exclude_none=True)
    asked = " ".join(entry.user_query.split())
    return "\n".join(
        (
            f"{entry.turn:>3}  {entry.decision:<11} {entry.conversation_analysis.confidence_score:.2f} "
            f"{role.confidence_level:<11} {', '.join(role.possible_identities) or '-'}",
            f"     asked: {asked if len(asked) <= 100 else asked[:99] + '…'}",
            f"     wants: {', '.join(preferences.values()) or '-'}",
            f"     why:   {entry.reason}",
        )
    )


async def topics_create(arguments: argparse.Namespace, settings: Settings) -> int:
    """Create the topics that are missing."""
    partitions = arguments.partitions or settings.kafka.partitions
    replication = arguments.replication or settings.kafka.replication
    created = await create_topics(bootstrap.kafka_connection(settings), partitions, replication)
    print("\n".join(f"created {name}" for name in created) or "all topics are there")
    return 0


async def dead_letters_list(arguments: argparse.Namespace, settings: Settings) -> int:
    """List dead letters, oldest first, one a line."""
    for letter in await bootstrap.read_dead_letters(settings, _wanted(arguments), arguments.limit):
        failed = letter.create_time.isoformat(timespec="seconds")
        print(f"{letter.letter_id}  {failed}  {_shown(letter.key)}  {letter.exception}: {letter.message}")
    return 0


async def dead_letters_show(arguments: argparse.Namespace, settings: Settings) -> int:
    """Show one dead letter with its record and stack trace, as JSON."""
    found = await bootstrap.read_dead_letters(settings, Wanted(letter_id=arguments.id), 1)
    if not found:
        raise RolestreamError(f"there is no dead letter {arguments.id!r}; `rolestream dead-letters list` lists them")
    shown = found[0].model_dump(mode="json", by_alias=True, exclude={"key", "value", "headers"})
    record = {"key": _shown(found[0].key), "value": _shown(found[0].value)}
    headers = {name: _shown(value) for name, value in found[0].headers}
    print(json.dumps({**shown, **record, "headers": headers}, indent=2, ensure_ascii=False))
    return 0


async def dead_letters_replay(arguments: argparse.Namespace, settings: Settings) -> int:
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


def _moment(text: str) -> datetime:
    """An ISO 8601 time; one without an offset is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rolestream", description="Learns who an assistant's user is.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Command, group: Any = commands) -> argparse.ArgumentParser:
        about = (run.__doc__ or "").splitlines()[0]
        command: argparse.ArgumentParser = group.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        return command

    add("worker", worker).add_argument("processors", nargs="*", metavar="PROCESSOR", help=f"of {', '.join(NAMES)}")
    add("dev", dev).add_argument("--data-dir", type=Path, help="keep the database here; else it is thrown away")
    add("demo", run_demo).add_argument("--script", type=Path, help="a conversation, one JSON question a line")
    asking = add("ask", ask)
    asking.add_argument("text")
    asking.add_argument("--user", required=True)
    asking.add_argument("--conversation", required=True)
    asking.add_argument("--mode", choices=get_args(Mode), default="auto")
    asking.add_argument("--timeout", type=float, default=120, help="seconds to wait for the answer")
    tracking = add("track", track)
    tracking.add_argument("conversation")
    tracking.add_argument("--json", action="store_true", help="the documents instead of a table")
    topics = commands.add_parser("topics", help="Manage the topics.").add_subparsers(required=True, metavar="COMMAND")
    creating = add("create", topics_create, topics)
    creating.add_argument("--partitions", type=int)
    creating.add_argument("--replication", type=int)
    _add_dead_letters(commands, add)
    add("config", config)
    return parser


def _add_dead_letters(commands: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    about = "Look at what could not be processed, and try it again."
    letters = commands.add_parser("dead-letters", help=about, description=about)
    group = letters.add_subparsers(required=True, metavar="COMMAND")
    listing = add("list", dead_letters_list, group)
    add("show", dead_letters_show, group).add_argument("id")
    replaying = add("replay", dead_letters_replay, group)
    replaying.add_argument("--dry-run", action="store_true", help="only say what would be replayed")
    replaying.add_argument("--all", action="store_true", help="every dead letter")
    for command in (listing, replaying):
        command.add_argument("--id", help="this one")
        command.add_argument("--topic", choices=[topic.name for topic in TOPICS], help="that came from this topic")
        command.add_argument("--key", help="with this record key, as a rule the conversation's id")
        command.add_argument("--since", type=_moment, metavar="TIME", help="that failed at this time or later")
        command.add_argument("--until", type=_moment, metavar="TIME", help="that failed before this time")
        command.add_argument("--limit", type=int, default=1000)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; errors are one line that says what to do."""
    arguments = _parser().parse_args(argv)
    try:
        settings = load_settings()
        configure_logging(settings.log_level if arguments.command in _LOGGED else "WARNING")
        command: Command = arguments.run
        return asyncio.run(_to_its_end(command(arguments, settings)))
    except SettingsInvalid as exc:
        return _complain(str(exc), _WRONG_USE)
    except RolestreamError as exc:
        return _complain(str(exc), _FAILED)
    except KeyboardInterrupt:
        return _INTERRUPTED


async def _to_its_end(command: Coroutine[Any, Any, int]) -> int:
    """The command's exit code. A loop that holds a stuck client cannot be closed, so it is not tried."""
    try:
        return await command
    except Stuck as exc:
        code = _complain(str(exc), _FAILED)
        sys.stdout.flush()
        os._exit(code)


def _complain(message: str, code: int) -> int:
    print(f"rolestream: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
