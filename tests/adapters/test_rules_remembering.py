"""What the offline rules model makes of what is remembered: preferences that decide, facts that bear on a question."""

from collections.abc import Sequence

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.adapters.rules.remembering import choice_of, mentioned
from pipeline.ports import AnswerRequest
from schemas.features import KnownFeature, Summary


def likes(slot: str, value: str, content: str = "") -> KnownFeature:
    return KnownFeature(slot=slot, value=value, content=content, category="PREFERENCE")


EN = [likes("apples", "not sour"), likes("milk", "low sugar"), likes("coffee", "hates it"), likes("drink", "tea")]
ZH = [likes("苹果", "不要酸的"), likes("牛奶", "只买低糖的"), likes("咖啡", "不喝")]


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("sweet or sour apples?", ["sweet"]),
        ("Should I get the sour apples or the sweet ones?", ["sweet"]),
        ("apples come in sweet and sour, which should I buy?", ["sweet"]),
        ("milk: full sugar, low sugar or no sugar?", ["low sugar"]),
        ("tea or coffee?", ["tea"]),
        ("苹果有甜的有酸的，我买哪种？", ["甜"]),
        ("蘋果有甜的有酸的，我買哪種？", ["甜"]),
        ("我买甜苹果还是酸苹果？", ["甜苹果"]),
        ("牛奶有全糖的、低糖的和无糖的，选哪个", ["低糖的"]),
        ("我喝茶还是咖啡", ["茶"]),
    ],
)
def test_a_preference_decides_between_the_options_of_a_question(question: str, options: list[str]) -> None:
    """What it rejects is left out, and what it names is taken."""
    choice = choice_of(question, [*EN, *ZH])
    assert choice is not None
    assert list(choice.options) == options


@pytest.mark.parametrize(
    "question",
    [
        "sweet or sour oranges?",
        "pears or plums?",
        "is it hot or cold today?",
        "橙子有甜的有酸的，我买哪种？",
        "what is a queue",
    ],
)
def test_a_preference_of_another_thing_decides_nothing(question: str) -> None:
    """Sour apples say nothing of oranges."""
    assert choice_of(question, [*EN, *ZH]) is None


@pytest.mark.parametrize(
    ("question", "slots"),
    [
        ("what do I like to eat?", ["carrots"]),
        ("do I like carrots?", ["carrots"]),
        ("which city do I live in?", ["city"]),
        ("what is a queue?", []),
        ("我喜欢吃什么？", ["carrots"]),
    ],
)
def test_what_is_remembered_is_mentioned_where_it_bears_on_the_question(question: str, slots: Sequence[str]) -> None:
    """By a shared word, or because the question is about the user's likes."""
    known = [likes("carrots", "likes", "I like carrots"), KnownFeature(slot="city", value="Lyon")]
    assert [feature.slot for feature in mentioned(question, known)] == slots


async def test_an_answer_follows_preferences_goal_and_level() -> None:
    """Each has a line, in the language of the question."""
    request = AnswerRequest(
        "苹果有甜的有酸的，我买哪种？", features=ZH, summary=Summary(target="做一个Gin项目"), skill="Go新手"
    )
    lines = (await RulesModel().answer(request)).text.splitlines()
    assert "建议选：甜（苹果：不要酸的）。" in lines
    assert "朝着您的目标：做一个Gin项目" in lines
    assert "按您的水平讲解：Go新手。" in lines
