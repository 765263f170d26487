"""A command that a request gives: published, its receipt awaited, and what was refused as an error."""

from typing import Any
from uuid import uuid4

from fastapi.responses import JSONResponse
from pydantic import ValidationError

from pipeline.web.access import Caller
from pipeline.web.envelope import ApiError, Envelope, FieldError, no_conversation, no_feature, ok, wrong_fields
from pipeline.web.parts import WebParts
from pipeline.web.sessions import shown
from pipeline.web.shapes import CommandSent
from schemas.memory_events import CommandDone, CommandKind, MemoryCommand

#: For the OpenAPI document: a command whose receipt does not come in time.
SENT: dict[int | str, dict[str, Any]] = {
    202: {"model": Envelope[CommandSent], "description": "Sent; its receipt has not come in time."}
}


def command_of(kind: CommandKind, **wish: Any) -> MemoryCommand:
    """The command with an id of its own; raises ApiError naming the field of the body that is wrong."""
    try:
        return MemoryCommand(kind=kind, command_id=str(uuid4()), **wish)
    except ValidationError as exc:
        raise wrong_fields(*(_of_body(error["loc"], error["msg"]) for error in exc.errors())) from exc


def _of_body(at: tuple[int | str, ...], message: str) -> FieldError:
    return FieldError(field=".".join(map(str, ("body", *at))), message=message.removeprefix("Value error, "))


async def carried_out(command: MemoryCommand, parts: WebParts) -> CommandDone | None:
    """The receipt; None where none came in time. Raises ApiError where the command was refused."""
    done = await parts.hub.command(command, parts.publisher)
    if done is None or done.status == "done":
        return done
    if done.refusal == "UNKNOWN":  # it went since this request looked
        raise no_conversation() if command.conversation_id else no_feature()
    raise ApiError(412 if done.refusal == "OUTDATED" else 409, done.reason)


async def receipt(command: MemoryCommand, caller: Caller, parts: WebParts) -> Envelope[CommandDone] | JSONResponse:
    done = await carried_out(command, parts)
    return sent(command) if done is None else ok(shown(done, caller))


def sent(command: MemoryCommand) -> JSONResponse:
    told = ok(CommandSent(command_id=command.command_id or ""), 202, "sent; no receipt has come in time")
    return JSONResponse(told.model_dump(mode="json", by_alias=True), 202)
