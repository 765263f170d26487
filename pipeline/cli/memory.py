"""The `memory` commands: what is kept about a user across conversations, and what is to become of it."""

import argparse
import json
import sys
from typing import Any

from pydantic import ValidationError

from pipeline import bootstrap
from pipeline.client import connect
from pipeline.errors import RolestreamError, SettingsInvalid
from pipeline.settings import Settings
from schemas.features import UserFeature
from schemas.memory_events import CommandDone, CommandKind, MemoryCommand

#: Seconds for which a command waits for Kafka and MongoDB to answer at all.
_PATIENCE = 10.0


async def listed(arguments: argparse.Namespace, settings: Settings) -> int:
    """List what is kept about a user, one feature a line."""
    features = await bootstrap.read_features(settings, arguments.user)
    kept = [feature for feature in features if feature.status != "DELETED"]
    if arguments.json:
        shown = [feature.model_dump(mode="json", by_alias=True, exclude={"heard"}) for feature in kept]
        print(json.dumps(shown, ensure_ascii=False))
        return 0
    for feature in kept:
        print(_row(feature))
    return 0


def _row(feature: UserFeature) -> str:
    about = [feature.category, feature.source, f"said {feature.confidence}x", f"version {feature.version}"]
    if feature.status != "ACTIVE":
        about.append(feature.status)
    return f"{feature.slot}: {feature.value}  [{', '.join(about)}]  {feature.feature_id}"


async def add(arguments: argparse.Namespace, settings: Settings) -> int:
    """Have something remembered about a user."""
    await _command(arguments, settings, "ADD_FEATURE", **_feature(arguments))
    return 0


async def edit(arguments: argparse.Namespace, settings: Settings) -> int:
    """Change what is remembered; a sentence that is not given anew goes with the value that it said."""
    wish = _feature(arguments) | {"feature_id": arguments.id, "version": arguments.version}
    await _command(arguments, settings, "EDIT_FEATURE", **wish)
    return 0


async def delete(arguments: argparse.Namespace, settings: Settings) -> int:
    """Take out what is remembered under a slot; it is not learnt again from what was said before."""
    await _command(arguments, settings, "DELETE_FEATURE", slot=arguments.slot, feature_id=arguments.id)
    return 0


async def correct(arguments: argparse.Namespace, settings: Settings) -> int:
    """Say who the user of a conversation is, and who they are not."""
    wish = {"identities": arguments.identities, "denies": arguments.denies, "version": arguments.turn}
    await _command(arguments, settings, "CORRECT_ROLE", conversation_id=arguments.conversation, **wish)
    return 0


async def forget(arguments: argparse.Namespace, settings: Settings) -> int:
    """Forget a user, one conversation of theirs, or its role memory alone; there is no way back."""
    if arguments.role and arguments.conversation is None:
        raise SettingsInvalid("--role needs --conversation: whose role memory is to be erased")
    if arguments.conversation is None:
        if not arguments.yes:
            _ask_first(arguments.user)
        receipt = await _command(arguments, settings, "FORGET_USER")
    else:
        kind: CommandKind = "FORGET_ROLE" if arguments.role else "FORGET_CONVERSATION"
        receipt = await _command(arguments, settings, kind, conversation_id=arguments.conversation)
    for name, count in receipt.removed.items():
        print(f"{count:>7}  {name}")
    return 0


def _ask_first(user: str) -> None:
    """Raises SettingsInvalid unless somebody at a terminal says yes."""
    if not sys.stdin.isatty():
        raise SettingsInvalid(f"everything about {user!r} would be erased for good: say --yes if that is meant")
    print(f"Everything about {user!r} is erased for good. Type yes to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() != "yes":
        raise SettingsInvalid("nothing was erased")


async def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print all that is held about a user, as one JSON document."""
    print(json.dumps(await bootstrap.read_user(settings, arguments.user), indent=2, ensure_ascii=False))
    return 0


def _feature(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was given of a feature."""
    given = {name: getattr(arguments, name) for name in ("slot", "value", "content", "category")}
    return {name: value for name, value in given.items() if value is not None}


async def _command(arguments: argparse.Namespace, settings: Settings, kind: CommandKind, **wish: Any) -> CommandDone:
    """Publish a command and say what became of it; raises SettingsInvalid for a wrong one, and when it is refused."""
    fields = {"by": "admin" if arguments.admin else "user"} | wish
    try:
        MemoryCommand.model_validate({"kind": kind, "user_id": arguments.user} | fields)
    except ValidationError as exc:
        wrong = "; ".join(
            ": ".join(filter(None, (".".join(map(str, error["loc"])), error["msg"]))) for error in exc.errors()
        )
        raise SettingsInvalid(wrong) from exc
    async with connect(settings, patience=min(_PATIENCE, arguments.timeout)) as client:
        receipt = await client.command(kind, user_id=arguments.user, within=arguments.timeout, **fields)
    if receipt.status == "refused":
        raise RolestreamError(f"refused: {receipt.reason}")
    print(f"done: {receipt.kind}", file=sys.stderr)
    return receipt
