"""Faults that other memories are known for, as a whole deployment shows them: outages, short sessions, restarts."""

import asyncio
from collections import Counter
from contextlib import ExitStack

import pytest

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.client import connect
from pipeline.ports import Wanted
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working
from tests.integration.test_health import free_port
from tests.integration.test_health import until as until_shown
from tests.integration.test_memory import answered, features_of, has_feature, until
from tests.scripted_model import Call, Reply, ScriptedModel, default_reply, gives, unreachable


def _learns_goats(call: Call) -> Reply:
    goats = {"operation": "OBSERVE", "slot": "goats", "value": "keeps them", "quote": "I keep goats"}
    return gives({"changes": [goats]}) if call.kind == "features" else default_reply(call)


async def test_a_model_that_refuses_connections_is_told_from_a_record_that_is_no_event(
    services: Services, names: Names
) -> None:
    """plastic-labs/honcho#963: the first is tried again at once and by a replay, the second is a dead letter, once.

    The dead letters name the one or the other, and calls that failed have a figure of their own.
    """
    refusing = ExitStack()
    url = refusing.enter_context(unreachable())
    model, port = {"base_url": url, "api_key": "k", "retries": 1}, free_port()
    settings = settings_for(services, names, model=model, health={"port": port})
    async with deployed(settings) as here, working(settings):
        await here.publish("questions", b"no event", key=b"other")
        await here.ask("I keep goats.", mode="log")
        await here.records("dead-letters", 3)
        letters = await here.documents("dead_letters")
        assert Counter(letter["exception"] for letter in letters) == {"BadEvent": 1, "ModelFailed": 2}
        counted = (
            'rolestream_dead_letters_total{processor="conversation-logging"} 1.0',
            'rolestream_model_failures_total{stage="feature-extraction"} 1.0',
            'rolestream_model_retries_total{stage="feature-extraction"} 1.0',
        )
        await until_shown(settings, "/metrics", lambda _, text: all(figure in text for figure in counted))
        assert await features_of(here) == {}

        refusing.close()
        async with ScriptedModel(otherwise=_learns_goats, port=int(url.split(":")[2].removesuffix("/v1"))):
            await bootstrap.replay_letters(settings, await bootstrap.read_dead_letters(settings, Wanted(key=b"c"), 10))
            await until(has_feature(here, "goats"))
            await here.records("guidance", 2)
        assert len(await here.records("dead-letters", 3)) == 3


@pytest.mark.parametrize(
    ("wish", "question", "skill"),
    [
        ("Always explain things to me as to a beginner.", "What is a mutex?", "beginner"),
        ("以后都把我当初学者来讲解。", "什么是互斥锁？", "初学者"),
    ],
)
async def test_one_turn_is_enough_to_be_known_in_the_next_conversation(
    services: Services, names: Names, wish: str, question: str, skill: str
) -> None:
    """plastic-labs/honcho#703: no number of turns has to be reached; the next conversation's answer goes by it."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await answered(here, wish, 1)

        async def known() -> bool:
            return (await features_of(here)).get("skill") == skill

        await until(known, within=20)
        assert skill in await answered(here, question, 2, conversation="another")
        assert skill in (await here.events("guidance", 2))[-1]["text"]


def test_an_application_may_start_again_in_one_process(services: Services, names: Names) -> None:
    """pytest-dev/pytest-asyncio#844: each start has a loop and clients of its own, and both read and write."""
    settings = settings_for(services, names)

    async def lifespan(vegetable: str) -> set[str]:
        async with working(settings), connect(settings) as client:
            question = await client.ask(f"I like {vegetable}.", user_id="u", conversation_id=vegetable)
            await client.answer(question)
            async with asyncio.timeout(30):
                while vegetable not in (known := {one.slot for one in await client.features("u")}):
                    await asyncio.sleep(0.05)
            return known

    async def cleared() -> None:
        async with deployed(settings):
            pass

    asyncio.run(cleared())
    try:
        assert asyncio.run(lifespan("turnips")) == {"turnips"}
        assert asyncio.run(lifespan("leeks")) == {"turnips", "leeks"}
    finally:
        asyncio.run(cleared())
