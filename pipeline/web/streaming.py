"""Server-sent events: a conversation's events as text, for as long as somebody reads."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from pipeline.web.access import Caller
from pipeline.web.hub import Hub, Stream
from pipeline.web.sessions import shown
from schemas.events import (
    AnswerReady,
    GuidanceIssued,
    QuestionRefused,
    ReportReady,
    RoleExtracted,
    TurnLogged,
    derived_id,
)
from schemas.wire import Wire

#: Seconds between the comments that tell both sides that the other is there.
HEARTBEAT = 15.0
_NAMES: dict[type[Wire], str] = {
    TurnLogged: "turn",
    RoleExtracted: "extraction",
    GuidanceIssued: "guidance",
    AnswerReady: "answer",
    ReportReady: "report",
    QuestionRefused: "refused",
}


class EventStream(StreamingResponse):
    """Server-sent events, heard from before the first byte is sent; the stream is let go however it ends.

    A client that stops reading keeps it no more than `grace` seconds over its time.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        conversations: Collection[str],
        caller: Caller,
        within: float,
        *,
        user_id: str | None = None,
        grace: float = HEARTBEAT,
    ) -> None:
        super().__init__(())
        self._hear = partial(hub.stream, conversations, partial(caller.may_see, wanted=user_id))
        self._caller, self._within, self._grace = caller, within, grace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hear() as stream, suppress(TimeoutError):
            self.body_iterator = told(stream, self._caller, self._within)
            async with asyncio.timeout(self._within + self._grace):
                await super().__call__(scope, receive, send)


async def told(stream: Stream, caller: Caller, within: float, *, heartbeat: float = HEARTBEAT) -> AsyncIterator[str]:
    """The events as text, for `within` seconds; a comment at once, and whenever nothing is heard for a while."""
    clock = asyncio.get_running_loop().time
    end = clock() + within
    yield ": from here on\n\n"
    while (left := end - clock()) > 0:
        try:
            async with asyncio.timeout(min(left, heartbeat)):
                event = await stream.next()
        except TimeoutError:
            yield ": still here\n\n"
            continue
        if event is None:
            yield "event: ended\ndata: {}\n\n"
            return
        if name := _NAMES.get(type(event)):
            event = shown(event, caller)
            yield f"event: {name}\nid: {_id_of(event)}\ndata: {event.to_json().decode()}\n\n"


def _id_of(event: Any) -> str:
    """The same whenever the same event is heard."""
    refused = isinstance(event, QuestionRefused)
    return derived_id("QuestionRefused", event.conversation_id, event.question_id) if refused else event.event_id
