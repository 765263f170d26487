"""An application on a real database, with what it is seeded with; its publisher does what a worker would."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from fastapi import FastAPI

from pipeline.adapters.embedded import Services as Embedded
from pipeline.domain.ids import answer_id
from pipeline.errors import BadEvent
from pipeline.processing import Services
from pipeline.processors import feature_memory, memory_commands
from pipeline.web import Access, Hub, Key, WebParts, application
from schemas.events import AnswerReady, Cost, GuidanceIssued, QuestionRefused
from schemas.features import Summary
from schemas.memory_events import FeaturesObserved, MemoryCommand
from schemas.role import TrackEntry
from schemas.topics import BY_EVENT
from schemas.wire import ConversationId, Wire
from tests.conftest import Names
from tests.processors.factories import Here, database_of, guidance, record, said

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
COST = Cost(model="fake", calls=1, prompt_tokens=7, completion_tokens=3, milliseconds=20)


@dataclass
class Worker:
    """The `Publisher` port: records what is published, and carries commands out at once unless it `is_idle`."""

    services: Services
    hub: Hub
    published: list[Wire] = field(default_factory=list)
    is_idle: bool = False
    is_away: bool = False
    _time: datetime = NOW

    @property
    def commands(self) -> list[MemoryCommand]:
        return [event for event in self.published if isinstance(event, MemoryCommand)]

    async def publish(self, event: Wire, headers: Mapping[str, bytes]) -> None:
        event.to_json()
        self.published.append(event)
        if not self.is_idle:
            await self._work_on(event)

    async def _work_on(self, event: Wire) -> None:
        self._time += timedelta(minutes=1)
        handles = {MemoryCommand: memory_commands.handle, FeaturesObserved: feature_memory.handle}
        if handle := handles.get(type(event)):
            came = record(BY_EVENT[type(event)].name, time=self._time)
            for output in await cast(Any, handle)(event, came, self.services):
                await self._work_on(output)
            return
        self.hub.hear(event)

    async def publish_dead_letter(self, letter: Any) -> None:
        raise BadEvent("nothing of this is published here")

    replay = publish_dead_letter


def is_heard(hub: Hub) -> bool:
    """Whether any stream is open."""
    return bool(hub._streams)


@dataclass
class World:
    """What a test calls, and what stands behind it."""

    here: Here
    hub: Hub
    worker: Worker

    def app(self, *keys: Key, requests_a_minute: int = 100_000) -> FastAPI:
        """With these keys; without any whoever calls may everything."""
        parts = WebParts(self.here.store, self.here.features, self.worker, self.hub, lambda: NOW)
        return application(parts, Access(keys), requests_a_minute=requests_a_minute)

    async def asked(
        self, user: str, conversation: str, turn: int = 1, text: str = "I am a nurse", **changes: Any
    ) -> str:
        """A question as conversation logging leaves it; its id."""
        whose = {"conversationId": conversation, "userId": user, "questionId": f"{conversation}-q{turn}"}
        message = said(turn, text, **(whose | {"messageId": whose["questionId"]} | changes))
        await self.here.store.add_message(message)
        await self.here.store.touch_conversation(message)
        return whose["questionId"]

    async def answered(self, user: str, conversation: str, turn: int = 1, **changes: Any) -> AnswerReady:
        """Its answer as report generation leaves it."""
        whose = {"conversationId": conversation, "userId": user, "questionId": f"{conversation}-q{turn}"}
        event = AnswerReady.model_validate(whose | {"text": "Wash your hands.", "turn": turn, "cost": COST} | changes)
        whose["questionId"] = event.question_id
        kept = whose | {"messageId": answer_id(event.question_id), "role": "ASSISTANT", "status": event.status}
        await self.here.store.add_message(said(turn, event.text, event=event.to_json().decode(), **kept))
        return event

    async def learnt(self, user: str, conversation: str, turn: int = 1, **changes: Any) -> TrackEntry:
        """Its track entry as update arbitration leaves it."""
        whose = {"conversationId": conversation, "userId": user, "questionId": f"{conversation}-q{turn}"}
        entry = track_entry(turn, **(whose | changes))
        await self.here.store.add_entry(entry)
        return entry

    async def knows(self, user: str, slot: str, value: str) -> str:
        """A feature set by hand; its id."""
        command = MemoryCommand(user_id=user, kind="ADD_FEATURE", command_id=f"{user}-{slot}", slot=slot, value=value)
        await self.worker._work_on(command)
        return next(one.feature_id for one in await self.here.features.features(command.user_id) if one.value == value)

    async def talked(self, user: str, turns: int = 2) -> ConversationId:
        """A conversation of a user with all that there can be in one, and a feature beside it."""
        conversation = ConversationId(f"{user}-talk")
        for turn in range(1, turns + 1):
            await self.asked(user, conversation, turn)
            await self.answered(user, conversation, turn)
            await self.learnt(user, conversation, turn)
        await self.here.store.put_summary(conversation, Summary(target="to nurse", turn=turns), after=0)
        return conversation


def track_entry(turn: int, **changes: Any) -> TrackEntry:
    issued: GuidanceIssued = guidance(turn, "The user is a nurse.", cost=COST)
    whose = {name: changes.get(name, "c") for name in ("userId", "conversationId", "questionId")}
    fields: dict[str, Any] = {
        "turn": turn,
        "userQuery": "I am a nurse",
        "decision": "CREATE" if turn == 1 else "UPDATE",
        "identityDecision": "UPDATE",
        "reason": "they agree",
        "conversationAnalysis": {"confidenceScore": 0.8, "interactionCount": turn},
        "identifiedRole": {
            "possibleIdentities": ["nurse"],
            "primaryCharacteristics": [],
            "evidenceSummary": [],
            "confidenceLevel": "MEDIUM",
        },
        "communicationPreferences": {},
        "userOverview": "a nurse",
        "createTime": NOW + timedelta(minutes=turn),
        "identities": [{"name": "nurse", "origin": "stated", "support": turn, "lastTurn": turn, "score": 0.8}],
        "event": GuidanceIssued.model_validate(issued.model_dump(by_alias=True) | whose).to_json().decode(),
        "observed": '{"a": "secret of the machinery"}',
    }
    return TrackEntry.model_validate(fields | changes)


def refused(user: str, conversation: str, question: str, reason: str) -> QuestionRefused:
    return QuestionRefused(
        processor="conversation-logging",
        conversation_id=conversation,
        user_id=user,
        question_id=question,
        reason=reason,
    )


@asynccontextmanager
async def world_of(services: Embedded, names: Names) -> AsyncIterator[World]:
    """A world with nobody in it; a receipt that does not come is waited for shortly."""
    async with database_of(services, names) as here:
        hub = Hub(patience=0.2)
        yield World(here, hub, Worker(here.worker(), hub))


def of(answer: Any) -> Any:
    """The data of an answer that succeeded."""
    body = answer.json()
    assert (body["code"], body["status"]) == (answer.status_code, "success"), body
    return body["data"]
