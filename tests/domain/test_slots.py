"""Slots compared, and which feature the words of a wish to forget mean."""

from datetime import UTC, datetime

import pytest

from pipeline.domain.slots import EVERYTHING, fuller_of, is_meant, is_same, subject_of
from schemas.features import UserFeature
from schemas.wire import UserId

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _feature(slot: str, value: str, content: str = "") -> UserFeature:
    times = dict.fromkeys(("create_time", "update_time", "last_seen_time", "record_time"), _NOW)
    return UserFeature.model_validate(
        {"feature_id": slot, "user_id": UserId("u"), "slot": slot, "value": value, "content": content, "version": 1}
        | {"category": "OTHER", "source": "CHAT_EXTRACT", **times}
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("favourite colour", "favorite color"),
        ("fave color", "Favorite_Colors"),
        ("最喜欢的颜色", "favourite colour"),
        ("城市", "city"),
        ("牛奶", "milk"),
        ("花生", "peanuts"),
    ],
)
def test_one_subject_has_many_names(one: str, other: str) -> None:
    """Spellings, numbers and the two languages."""
    assert subject_of(one) == subject_of(other)


@pytest.mark.parametrize(("one", "other"), [("favorite city", "city"), ("almond milk", "milk"), ("奶茶", "牛奶")])
def test_other_subjects_stay_apart(one: str, other: str) -> None:
    """A longer name is another thing."""
    assert subject_of(one) != subject_of(other)


@pytest.mark.parametrize(
    ("wish", "slot", "value"),
    [
        ("where I live", "city", "Leeds"),
        ("address", "city", "Leeds"),
        ("住在哪儿", "城市", "成都"),
        ("peanut allergy", "peanuts", "allergic"),
        ("allergy to peanuts", "food allergy", "peanuts"),
        ("what I'm allergic to", "pine nuts", "allergic"),
        ("花生过敏", "花生", "过敏"),
        ("花生过敏", "过敏", "花生"),
        ("对花生过敏", "食物过敏", "花生"),
        ("name is", "name", "Priya"),
        ("when I was born", "birthday", "3 May"),
        ("goal", "target", "build an app"),
        ("languages I speak", "portuguese", "speaks"),
        ("milk preference", "milk", "only buys oat milk"),
        ("饮食习惯", "饮食", "吃素"),
        ("milk", "drink oat milk", "drink oat milk"),
        ("喝燕麦奶", "燕麦奶", "每天喝燕麦奶"),
        ("detailLevel CONCISE", "detailLevel", "CONCISE"),
        ("responseFormat STRUCTURED_WITH_EXAMPLES", "responseFormat", "STRUCTURED_WITH_EXAMPLES"),
        ("喝低糖牛奶", "牛奶", "低糖"),
        ("每天喝低糖牛奶", "牛奶", "低糖"),
        ("养了一只猫", "宠物", "猫"),
        ("metric in answers", "metric units", "always, in answers"),
        ("回答里公制单位", "公制单位", "回答里总是用"),
        ("回答语言英文", "回答语言", "英文"),
        (EVERYTHING, "milk", "low sugar"),
    ],
)
def test_a_wish_means_the_feature_that_holds_it(wish: str, slot: str, value: str) -> None:
    """By a question, a general word, another form of the word, or whichever part is the slot."""
    assert is_meant(wish, _feature(slot, value))


@pytest.mark.parametrize(
    ("wish", "slot", "value"),
    [
        ("walnut allergy", "peanuts", "allergic"),
        ("核桃过敏", "花生", "过敏"),
        ("sister's peanut allergy", "peanuts", "allergic"),
        ("where my sister lives", "city", "Leeds"),
        ("apple juice", "apple", "likes"),
        ("花生", "牛奶", "低糖"),
        ("妈妈喝低糖牛奶", "牛奶", "低糖"),
        ("喝高糖牛奶", "牛奶", "低糖"),
        ("吃低糖牛奶巧克力", "牛奶", "低糖"),
        ("养了一只猫", "猫粮", "进口"),
        ("detailLevel CONCISE", "detailLevel", "COMPREHENSIVE"),
        ("tables in answers", "table tennis", "loves"),
        ("answer language French", "french", "speaks"),
        ("metric in answers", "metric spanners", "owns"),
    ],
)
def test_a_wish_for_another_thing_does_not(wish: str, slot: str, value: str) -> None:
    """Nor for somebody else's."""
    assert not is_meant(wish, _feature(slot, value))


@pytest.mark.parametrize(
    ("value", "other", "same"),
    [
        ("每天喝燕麦奶", "喝燕麦奶", True),
        ("usually runs", "runs", True),
        ("每天跑两次步", "跑步", False),
        ("不喝酒", "喝酒", False),
        ("每天喝茶", "平时喝茶", False),
    ],
)
def test_how_often_changes_nothing_that_is_done(value: str, other: str, same: bool) -> None:
    """Beside a value that does not say it; a number, a no and another frequency do."""
    assert is_same(value, other) == same
    assert is_same(other, value) == same
    assert not same or fuller_of(value, other) == fuller_of(other, value) == value
