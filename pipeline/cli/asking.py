"""Commands for a user of the service: `ask`, `track`."""

import argparse
import json
import sys
from contextlib import suppress

from pydantic import ValidationError

from pipeline import bootstrap
from pipeline.client import connect
from pipeline.errors import Outage, RolestreamError, SettingsInvalid
from pipeline.settings import Settings
from schemas.events import GuidanceIssued, QuestionAsked, RoleExtracted, TurnLogged
from schemas.role import TrackEntry
from schemas.wire import Wire

#: Seconds for which `ask` waits for Kafka and MongoDB to answer at all.
_PATIENCE = 10.0
#: Seconds for guidance that is heard after its answer.
_PATIENCE_FOR_GUIDANCE = 2.0


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
        said = told(event)
        if said and said not in self._said:
            self._said.add(said)
            print(f"  {said}", file=sys.stderr, flush=True)


def told(event: Wire) -> str | None:
    """What an event says of how far a question has come; None where that is nothing new."""
    match event:
        case TurnLogged():
            return f"turn {event.turn} logged, mode {event.mode}"
        case RoleExtracted() if event.failure:
            return f"not extracted: {event.failure}"
        case RoleExtracted():
            return f"extracted by {event.cost.model}" if event.cost.calls else "nothing to learn: no model was asked"
        case GuidanceIssued():
            return f"{event.decision}: {event.reason}"
    return None


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
