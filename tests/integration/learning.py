"""What is learnt of one user on a real database, from a model server's replies or by the rules."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from pipeline.domain.guidance import compose_guidance
from pipeline.domain.recall import recall
from pipeline.processing import Failure, Output, Services
from pipeline.processors import (
    conversation_logging,
    feature_extraction,
    feature_memory,
    role_extraction,
    update_arbitration,
)
from schemas.events import GuidanceIssued, RoleExtracted, TurnLogged
from schemas.features import UserFeature, UserProfile
from schemas.memory_events import FeaturesObserved
from schemas.role import CommunicationPreferences
from schemas.wire import UserId
from tests.adapters.openai.serving import model_at
from tests.processors.factories import NOW, Here, asked, record
from tests.scripted_model import Reply, ScriptedModel, says

U = UserId("u")


@dataclass
class Memory:
    """What is kept of one user, learnt by way of a model server."""

    here: Here
    server: ScriptedModel
    worker: Services
    failed: list[Failure] = field(default_factory=list)
    _turns: int = 0

    async def hears(self, text: str, *replies: Reply | list[dict[str, Any]] | str, conversation: str = "c") -> None:
        """A turn, and what the server replies to it: changes, or the very text."""
        for output in await self.observes(text, *replies, conversation=conversation):
            if isinstance(output, Failure):
                self.failed.append(output)
            else:
                await self.merges(cast(FeaturesObserved, output))

    async def observes(
        self, text: str, *replies: Reply | list[dict[str, Any]] | str, conversation: str = "c"
    ) -> Sequence[Output]:
        self._turns += 1
        self.server.script += [reply if isinstance(reply, Reply) else says(written(reply)) for reply in replies]
        question = asked(text, conversationId=conversation, questionId=f"q{self._turns}", mode="log")
        at = NOW + timedelta(minutes=self._turns)
        (turn,) = await conversation_logging.handle(question, record("questions", time=at), self.worker)
        return await feature_extraction.handle(cast(TurnLogged, turn), record("turns"), self.worker)

    async def is_guided_by(self, text: str) -> str:
        """What the answering model is told in the very turn, once its role is decided."""
        self._turns += 1
        question = asked(text, questionId=f"q{self._turns}")
        (turn,) = await conversation_logging.handle(question, record("questions"), self.worker)
        (extracted,) = await role_extraction.handle(cast(TurnLogged, turn), record("turns"), self.worker)
        found = cast(RoleExtracted, extracted)
        guidance, *observed = await update_arbitration.handle(found, record("extractions"), self.worker)
        for event in observed:
            await self.merges(cast(FeaturesObserved, event))
        return cast(GuidanceIssued, guidance).text

    async def merges(self, event: FeaturesObserved) -> None:
        await feature_memory.handle(event, record("features"), self.worker)

    async def features(self) -> list[UserFeature]:
        return [one for one in await self.here.features.features(U) if one.status == "ACTIVE"]

    async def values(self) -> dict[str, str]:
        return {one.slot: one.value for one in await self.features()}

    async def profile(self) -> UserProfile | None:
        return await self.here.features.profile(U)

    async def told(self, question: str) -> str:
        """What an answering model is told in another conversation."""
        recalled = recall(await self.here.features.features(U), question, turn=1)
        return compose_guidance(None, CommunicationPreferences(), [], "hello", recalled).text


def written(reply: list[dict[str, Any]] | str) -> str:
    return reply if isinstance(reply, str) else json.dumps({"changes": reply}, ensure_ascii=False)


def change(slot: str, value: str, quote: str, content: str = "", **more: Any) -> dict[str, Any]:
    return {"operation": "OBSERVE", "slot": slot, "value": value, "quote": quote, "content": content, **more}


@asynccontextmanager
async def served(here: Here, *, together: int = 1) -> AsyncIterator[Memory]:
    """With a server that answers once so many calls have come."""
    async with ScriptedModel(otherwise=lambda call: pytest.fail("a call too many"), together=together) as server:
        model = model_at(server.base_url)
        try:
            yield Memory(here, server, replace(here.worker(), model=model))
        finally:
            await model.aclose()
