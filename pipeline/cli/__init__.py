"""The `rolestream` command."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from pipeline.cli import asking, dead_letters, evaluating, importing, memory, operating, serving
from pipeline.errors import RolestreamError, SettingsInvalid, Stuck
from pipeline.processors import NAMES
from pipeline.settings import Settings, load_settings
from pipeline.telemetry import configure_logging
from schemas.events import Mode
from schemas.features import Category
from schemas.topics import TOPICS
from schemas.wire import Identifier

Command = Callable[[argparse.Namespace, Settings], Coroutine[Any, Any, int]]

#: Commands that run until they are stopped; the others print what they have to say.
_LOGGED = ("worker", "api", "dev")
#: Exit codes: done, failed, used or set wrongly, interrupted.
_FAILED, _WRONG_USE, _INTERRUPTED = 1, 2, 130


#: An id of any kind, where one is given.
_ID: TypeAdapter[str | None] = TypeAdapter(Annotated[str, Identifier] | None)
N = TypeVar("N", int, float)


def _positive(kind: Callable[[str], N]) -> Callable[[str], N]:
    def read(text: str) -> N:
        number = kind(text)
        if not 0 < number < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return number

    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rolestream", description="Learns who an assistant's user is.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Command, group: Any = commands) -> argparse.ArgumentParser:
        about = (run.__doc__ or "").splitlines()[0]
        command: argparse.ArgumentParser = group.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        return command

    add("worker", serving.worker).add_argument(
        "processors", nargs="*", metavar="PROCESSOR", help=f"of {', '.join(NAMES)}"
    )
    add("api", serving.api)
    add("dev", serving.dev).add_argument("--data-dir", type=Path, help="keep the database here; else it is thrown away")
    add("demo", serving.run_demo).add_argument("--script", type=Path, help="a conversation, one JSON question a line")
    question = add("ask", asking.ask)
    question.add_argument("text")
    question.add_argument("--user", required=True)
    question.add_argument("--conversation", required=True)
    question.add_argument("--mode", choices=get_args(Mode), default="auto")
    question.add_argument("--timeout", type=_positive(float), default=120, help="seconds to wait for the answer")
    tracking = add("track", asking.track)
    tracking.add_argument("conversation")
    tracking.add_argument("--json", action="store_true", help="the documents instead of a table")
    topics = commands.add_parser("topics", help="Manage the topics.").add_subparsers(required=True, metavar="COMMAND")
    creating = add("create", operating.topics_create, topics)
    creating.add_argument("--partitions", type=_positive(int))
    creating.add_argument("--replication", type=_positive(int))
    _add_memory(commands, add)
    old = add("import", importing.imported)
    old.add_argument("file", type=Path, help="conversationId, userId, role, text and createTime, one message a line")
    old.add_argument("--timeout", type=_positive(float), default=120, help="seconds to wait for one turn")
    _add_dead_letters(commands, add)
    _add_eval(add)
    add("config", operating.config)
    return parser


def _add_memory(commands: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    about = "See, change and forget what is kept about a user."
    group = commands.add_parser("memory", help=about, description=about)
    group = group.add_subparsers(required=True, metavar="COMMAND")
    listing, exporting = add("list", memory.listed, group), add("export", memory.export, group)
    listing.add_argument("--json", action="store_true", help="the documents instead of lines")
    adding, editing = add("add", memory.add, group), add("edit", memory.edit, group)
    deleting, correcting = add("delete", memory.delete, group), add("correct", memory.correct, group)
    forgetting = add("forget", memory.forget, group)
    for command in (adding, editing):
        command.add_argument("slot", help="what it is about, such as milk")
        command.add_argument("value", help="what is so, such as low sugar")
        command.add_argument("--content", help="all of it in one sentence")
        command.add_argument("--category", choices=get_args(Category))
    editing.add_argument("--version", type=_positive(int), help="the version that was read; refused if it moved on")
    deleting.add_argument("slot")
    for command in (editing, deleting):
        command.add_argument("--id", help="the feature's id, where its slot is not enough")
    correcting.add_argument("--conversation", required=True)
    correcting.add_argument("--is", dest="identities", action="append", default=[], metavar="NAME", help="who they are")
    correcting.add_argument(
        "--not", dest="denies", action="append", default=[], metavar="NAME", help="who they are not"
    )
    correcting.add_argument("--turn", type=_positive(int), help="the turn that was read; refused if another is newest")
    forgetting.add_argument("--conversation", help="this one alone")
    forgetting.add_argument("--role", action="store_true", help="the conversation's role memory alone")
    forgetting.add_argument("--yes", action="store_true", help="do not ask")
    for command in (listing, exporting, adding, editing, deleting, correcting, forgetting):
        command.add_argument("--user", required=True)
    for command in (adding, editing, deleting, correcting, forgetting):
        command.add_argument("--admin", action="store_true", help="as an administrator's command")
        command.add_argument("--timeout", type=_positive(float), default=60, help="seconds to wait for the receipt")


def _add_dead_letters(commands: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    about = "Look at what could not be processed, and try it again."
    letters = commands.add_parser("dead-letters", help=about, description=about)
    group = letters.add_subparsers(required=True, metavar="COMMAND")
    listing = add("list", dead_letters.listed, group)
    add("show", dead_letters.show, group).add_argument("id")
    replaying = add("replay", dead_letters.replay, group)
    replaying.add_argument("--dry-run", action="store_true", help="only say what would be replayed")
    replaying.add_argument("--all", action="store_true", help="every dead letter")
    for command in (listing, replaying):
        command.add_argument("--id", help="this one")
        command.add_argument("--topic", choices=[topic.name for topic in TOPICS], help="that came from this topic")
        command.add_argument("--key", help="with this record key, as a rule the conversation's id")
        command.add_argument(
            "--since", type=dead_letters.moment, metavar="TIME", help="that failed at this time or later"
        )
        command.add_argument("--until", type=dead_letters.moment, metavar="TIME", help="failed before this time")
    listing.add_argument("--limit", type=_positive(int), default=1000, help="at most so many (1000)")
    replaying.add_argument("--limit", type=_positive(int), help="at most so many; without it all that match")


def _add_eval(add: Callable[..., argparse.ArgumentParser]) -> None:
    command = add("eval", evaluating.evaluated)
    command.add_argument("file", type=Path, help="cases, one a line")
    command.add_argument("--model", choices=("given", "rules", "openai"), default="given", help="who extracts")
    command.add_argument("--conversations", type=_positive(int), metavar="N", help="the first N cases only")
    command.add_argument("--json", action="store_true")
    command.add_argument("--failures", action="store_true", help="each expectation that was not met")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; errors are one line that says what to do."""
    arguments = _parser().parse_args(argv)
    try:
        _refuse_undecodable(arguments)
        _refuse_no_ids(arguments)
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
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED


def _refuse_undecodable(arguments: argparse.Namespace) -> None:
    """Bytes that are no UTF-8 come in as lone surrogates, which no JSON and no database takes."""
    for name, value in vars(arguments).items():
        if (
            isinstance(value, str)
            and not value.isprintable()
            and any("\ud800" <= letter <= "\udfff" for letter in value)
        ):
            raise SettingsInvalid(f"{name} is no UTF-8")


def _refuse_no_ids(arguments: argparse.Namespace) -> None:
    """What can be nobody's id is told before anything is asked for by it."""
    for name in ("user", "conversation", "id"):
        value = getattr(arguments, name, None)
        try:
            _ID.validate_python(value)
        except ValidationError:
            raise SettingsInvalid(f"{name}: {value!r} is no id: give 1 to 200 characters without blank ends") from None
    if getattr(arguments, "key", None) == "":
        raise SettingsInvalid("key: it is empty: give the key of a record")


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
