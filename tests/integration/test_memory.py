"""Memory beyond one conversation through the whole chain, offline: what is said once is used later, and elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for, working

Check = Callable[[], Awaitable[bool]]


async def until(check: Check, *, within: float = 60.0) -> None:
    """Wait for an effect in the database."""
    async with asyncio.timeout(within):
        while not await check():
            await asyncio.sleep(0.05)


async def answered(here: Deployment, text: str, number: int, **fields: Any) -> str:
    """Ask, and return the text of the `number`th answer there is."""
    await here.ask(text, questionId=f"q{number}", **fields)
    answers = await here.events("answers", number)
    assert (answers[-1]["questionId"], answers[-1]["status"]) == (f"q{number}", "ok")
    return str(answers[-1]["text"])


async def features_of(here: Deployment, user: str = "u") -> dict[str, str]:
    found = await here.documents("user_features", userId=user)
    return {feature["slot"]: feature["value"] for feature in found if feature["status"] == "ACTIVE"}


def has_feature(here: Deployment, slot: str) -> Check:
    async def check() -> bool:
        return slot in await features_of(here)

    return check


async def test_a_taste_told_in_one_conversation_is_known_in_another(services: Services, names: Names) -> None:
    """ "I like carrots" here, asked about there; another user knows nothing of it."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await answered(here, "I like carrots.", 1)
        await until(has_feature(here, "carrots"))
        assert "carrots" in await answered(here, "Which vegetable do I like?", 2, conversation="another")
        guidance = (await here.events("guidance", 2))[-1]
        assert [feature["slot"] for feature in guidance["features"]] == ["carrots"]
        assert "carrots" not in await answered(here, "Which vegetable do I like?", 3, conversation="theirs", user="v")


async def test_the_project_and_the_apples(services: Services, names: Names) -> None:
    """Skill, goal and tastes are kept; the answer follows them; the goal outlives the aside in the summary."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await answered(here, "我是Go新手，目标做一个Gin+GORM的项目", 1)
        await answered(here, "GORM报no such table错误", 2)
        await answered(here, "我买牛奶只买低糖的，苹果不要酸的", 3)
        await until(has_feature(here, "苹果"))
        await until(has_feature(here, "牛奶"))
        answer = await answered(here, "苹果有甜的有酸的，我买哪种？", 4)
        assert "建议选：甜（" in answer
        known = await features_of(here)
        assert "酸" in known["苹果"]
        assert "低糖" in known["牛奶"]
        (profile,) = await here.documents("user_profiles")
        assert "Go" in profile["skill"]
        assert "Gin" in profile["target"]

        async def summarised() -> bool:
            (conversation,) = await here.documents("conversations")
            return conversation["summary"] is not None

        await until(summarised)
        for number, text in enumerate(("今天天气不错", "讲个笑话", "谢谢"), 5):
            await answered(here, text, number)

        async def up_to_date() -> bool:
            (conversation,) = await here.documents("conversations")
            return int(conversation["summary"]["turn"]) >= 6

        await until(up_to_date)
        (conversation,) = await here.documents("conversations")
        assert "Gin+GORM" in conversation["summary"]["target"]


async def test_remember_shapes_the_same_turn_and_forget_takes_it_out(services: Services, names: Names) -> None:
    """An explicit wish is in this turn's guidance and a feature soon; what is forgotten is injected no more."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await answered(here, "Remember that I am vegetarian. What is for dinner?", 1)
        first = (await here.events("guidance", 1))[0]
        assert "vegetarian" in first["text"]

        async def held() -> bool:
            return any("vegetarian" in f"{slot} {value}" for slot, value in (await features_of(here)).items())

        await until(held)
        await answered(here, "Forget that I am vegetarian.", 2)

        async def gone() -> bool:
            return not await held()

        await until(gone)
        await answered(here, "What is for dinner?", 3, conversation="another")
        assert "vegetarian" not in (await here.events("guidance", 3))[-1]["text"]


async def test_everything_is_forgotten_by_one_wish(services: Services, names: Names) -> None:
    """In plain words, without a command; what is said afterwards is learnt again."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        await answered(here, "I like carrots. I live in Lyon.", 1)
        await until(has_feature(here, "carrots"))
        await answered(here, "Forget everything you know about me.", 2)

        async def empty() -> bool:
            return not await features_of(here)

        await until(empty)
        await answered(here, "I like turnips.", 3)
        await until(has_feature(here, "turnips"))
