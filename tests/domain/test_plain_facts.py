"""Plain facts that stand side by side, go on without their "I", or come after words that fill a sentence."""

import pytest

from pipeline.adapters.rules.own_words import own_words
from pipeline.adapters.rules.statements import claims
from pipeline.domain.extraction import read_extraction
from pipeline.domain.facts import facts
from pipeline.domain.observing import read_changes
from pipeline.ports import Json
from schemas.features import KnownFeature
from tests.domain.telling import told


def _learnt(*messages: str) -> dict[str, str]:
    return {slot: feature.value for slot, feature in told(*messages).items()}


@pytest.mark.parametrize(
    ("messages", "learnt"),
    [
        (
            ("I'm left-handed", "I'm colour blind", "remember I'm an introvert"),
            {"handedness": "left-handed", "colour vision": "colour blind", "temperament": "an introvert"},
        ),
        (("我是左撇子", "我是色盲", "我有点社恐"), {"惯用手": "左撇子", "色觉": "色盲", "性格": "社恐"}),
        (
            ("I'm dyslexic, short-sighted and a night owl",),
            {"reading difficulty": "dyslexic", "eyesight": "short-sighted", "daily rhythm": "a night owl"},
        ),
        (("I'm married", "I'm an only child"), {"marital status": "married", "siblings": "an only child"}),
        (("我结婚了", "我是独生子女"), {"婚姻状况": "结婚", "兄弟姐妹": "独生子女"}),
    ],
)
def test_different_traits_stand_side_by_side(messages: tuple[str, ...], learnt: dict[str, str]) -> None:
    """Each in the slot of its kind, told one by one or in a list."""
    assert _learnt(*messages) == learnt


@pytest.mark.parametrize(
    ("messages", "learnt"),
    [
        (("I'm left-handed", "I'm right-handed"), {"handedness": "right-handed"}),
        (("I'm an introvert", "I'm actually an extrovert"), {"temperament": "an extrovert"}),
        (("I'm single", "I'm married now"), {"marital status": "married"}),
        (("我是夜猫子", "我是早起的人"), {"作息": "早起的人"}),
        (("我单身", "我结婚了"), {"婚姻状况": "结婚"}),
    ],
)
def test_a_trait_takes_the_place_of_another_of_its_kind(messages: tuple[str, ...], learnt: dict[str, str]) -> None:
    """Nobody is both."""
    assert _learnt(*messages) == learnt


@pytest.mark.parametrize(
    ("messages", "slot"),
    [
        (("I'm colour blind", "I'm color-blind"), "colour vision"),
        (("I'm a night owl", "I'm a night person"), "daily rhythm"),
        (("我是左撇子", "我是左撇子"), "惯用手"),
        (("我是左撇子", "I'm left-handed"), "惯用手"),
    ],
)
def test_a_repeated_trait_is_confirmed(messages: tuple[str, ...], slot: str) -> None:
    """In another form and in another language, too."""
    assert {name: (feature.confidence, feature.history) for name, feature in told(*messages).items()} == {slot: (2, [])}


@pytest.mark.parametrize(
    ("messages", "learnt"),
    [
        (
            ("I'm colour blind", "I'm left-handed", "I'm not colour blind"),
            {"colour vision": "not colour blind", "handedness": "left-handed"},
        ),
        (("我是色盲", "我是左撇子", "我不是色盲"), {"色觉": "不是色盲", "惯用手": "左撇子"}),
        (("I'm a night owl", "I'm not an early bird"), {"daily rhythm": "a night owl"}),
        (("I'm left-handed but not colour blind",), {"handedness": "left-handed"}),
        (("I'm not colour blind",), {}),
    ],
)
def test_a_denied_trait_ends_alone(messages: tuple[str, ...], learnt: dict[str, str]) -> None:
    """And only where it is the one that is held."""
    assert _learnt(*messages) == learnt


@pytest.mark.parametrize(
    ("held", "text", "said"),
    [
        (("trait", "left-handed"), "I'm left-handed", ("trait", "left-handed")),
        (("trait", "left-handed"), "I'm right-handed", ("trait", "right-handed")),
        (("trait", "left-handed"), "I'm colour blind", ("colour vision", "colour blind")),
        (("trait", "colour blind"), "I'm not colour blind", ("trait", "not colour blind")),
        (("特点", "色盲"), "我不是色盲", ("特点", "不是色盲")),
        (("特点", "左撇子"), "我是色盲", ("色觉", "色盲")),
    ],
)
def test_a_trait_without_its_kind_goes_on(held: tuple[str, str], text: str, said: tuple[str, str]) -> None:
    """What is stored of its kind as any trait is confirmed, changed and ended there; another stands beside it."""
    known = [KnownFeature(slot=held[0], value=held[1], category="PERSONAL_INFO")]
    assert [(fact.slot, fact.value) for fact in facts(text, known=known)] == [said]


@pytest.mark.parametrize(
    ("known", "value", "slot"),
    [
        ([], "an introvert", "temperament"),
        ([], "stubborn", "stubborn"),
        ([("trait", "stubborn")], "stubborn", "trait"),
        ([("trait", "an extrovert")], "an introvert", "trait"),
        ([("trait", "left-handed")], "an introvert", "temperament"),
    ],
)
def test_a_trait_that_a_model_proposes_has_a_slot_of_its_own(
    known: list[tuple[str, str]], value: str, slot: str
) -> None:
    """By its kind or its name, unless the like of it is held as any trait."""
    proposed: Json = {"changes": [{"slot": "trait", "value": value, "quote": f"I'm {value}"}]}
    observed = read_changes(proposed, f"I'm {value}.", [KnownFeature(slot=at, value=was) for at, was in known])
    assert observed is not None
    assert [change.slot for change in observed.changes] == [slot]


@pytest.mark.parametrize(
    "text",
    [
        "I'm deaf to his pleas",
        "I'm single-minded",
        "I'm engaged in a project",
        "I'm blind tasting wine",
        "我想结婚",
        "我近视眼镜怎么选",
        "老师说我是左撇子",
        "I'm separated from my luggage at Heathrow.",
        "I'm divorced from reality.",
        "I'm married to my job",
        "I'm engaged now on line 2.",
        "I'm a bachelor now, degree arrived!",
        "I'm single again in The Sims.",
        "I'm blind on the left side of the car, the mirror broke",
        "I'm a heavy smoker in the film we shoot.",
        "我离异家庭长大",
        "我离婚一年的朋友",
        "我离婚了在游戏里",
        "我结婚一周年礼物怎么选",
        "我单身公寓漏水",
        "我单身时养过猫",
        "我一个人住院了",
        "我一个人住过三天",
        "我一个人住不惯",
        "我是聋人学校老师",
        "我是盲人按摩师",
        "我是独生子女政策的研究者",
        "我E人朋友",
        "我散光灯坏了",
        "我早起的人设崩了",
        "我双手都能写字典",
        "我夜猫子酒吧老板",
    ],
)
def test_what_only_begins_like_a_trait_is_none(text: str) -> None:
    """A trait ends its clause; nor is what is wished for one, or what another says."""
    assert _learnt(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "I'm a guest, single.",
        "I'm a host, vegan.",
        "I'm a caterer, vegan and gluten-free",
        "I'm a waiter, an early bird",
        "I'm a dog, 12 years old, in the story.",
        "I'm late, from Heathrow.",
        "I'm a student, from January.",
    ],
)
def test_what_stands_bare_behind_a_role_is_not_of_the_user(text: str) -> None:
    """Without an "and" it may be an order, a guest or an hour."""
    assert _learnt(text) == {}


@pytest.mark.parametrize(
    "place",
    ["Spotify", "Cornell", "Goldman Sachs", "Pfizer", "Red Cross", "Reddit", "Android", "Tinder", "Day One", "Now On"],
)
def test_whom_somebody_works_for_is_no_origin(place: str) -> None:
    """A name behind "from" is that of a place only where nothing but the user comes from it."""
    assert _learnt(f"I'm a developer from {place}.") == {}
    assert _learnt(f"I'm from {place}.") == {"origin": place}


@pytest.mark.parametrize(
    ("text", "learnt"),
    [
        (
            "I'm a nurse from Oslo, I love hiking, hate raisins, am allergic to nuts and have two kids.",
            {"hiking": "loves", "raisins": "hates", "nuts": "allergic", "kids": "two"},
        ),
        ("I am allergic to nuts and have two kids", {"nuts": "allergic", "kids": "two"}),
        ("I work in a bank, am vegan and can't eat gluten", {"diet": "vegan", "gluten": "can't have"}),
        ("We live in Leeds, have two dogs and are vegan", {"city": "Leeds", "dogs": "two", "diet": "vegan"}),
        (
            "I hate raisins, adore cats and am married",
            {"raisins": "hates", "cats": "adores", "marital status": "married"},
        ),
        ("I'm 29 and married", {"age": "29", "marital status": "married"}),
        ("I'm a nurse and left-handed and vegan", {"handedness": "left-handed", "diet": "vegan"}),
        ("I'm vegan, left-handed", {"diet": "vegan", "handedness": "left-handed"}),
        ("I'm single, 25 years old and from Kyoto", {"marital status": "single", "age": "25", "origin": "Kyoto"}),
        ("我29岁，已婚，左撇子", {"年龄": "29岁", "婚姻状况": "已婚", "惯用手": "左撇子"}),
        ("I'm vegan and have you tried tofu?", {"diet": "vegan"}),
        ("I'm looking for scissors, left-handed", {}),
        ("My brother is 12 and left-handed", {}),
        ("I'm 29 years old, my brother is 12, left-handed", {"age": "29"}),
        ("I have a brother, left-handed and single", {"brother": "a"}),
    ],
)
def test_clauses_go_on_without_their_subject(text: str, learnt: dict[str, str]) -> None:
    """ "Am" and "have" ask something only of somebody: "have you"."""
    assert _learnt(text) == learnt


@pytest.mark.parametrize(
    ("text", "learnt"),
    [
        ("I'm 29", {"age": "29"}),
        ("I'm thirty-two years old", {"age": "thirty-two"}),
        ("I just turned 64", {"age": "64"}),
        ("I'm a 34-year-old nurse", {"age": "34"}),
        ("I'm a 25 year old woman from Oslo", {"age": "25"}),
        ("I'm 29. What should I eat?", {"age": "29"}),
        ("My age is thirty-four", {"age": "thirty-four"}),
        ("I'm colour blind, which palette can I use?", {"colour vision": "colour blind"}),
        ("I'm single again", {"marital status": "single"}),
        ("I'm engaged to be married", {"marital status": "engaged to be married"}),
        ("我结婚3年了", {"婚姻状况": "结婚"}),
        ("我一个人住，养猫", {"居住状况": "一个人住", "猫": "养"}),
        ("I'm in my late twenties", {"age": "late twenties"}),
        ("我今年29岁", {"年龄": "29岁"}),
        ("我已经四十五岁了", {"年龄": "四十五岁"}),
        ("I drink two cups of coffee a day", {"drink coffee": "drink two cups of coffee a day"}),
        ("I drink tea daily", {"drink tea": "drink tea daily"}),
        ("I run 5 km a day", {"run": "run 5 km a day"}),
        ("I eat breakfast at 9 now", {"breakfast time": "eat breakfast at 9"}),
        ("I drink coffee at 7 now", {"coffee": "drinks coffee at 7"}),
        ("I have dinner at 7 every day", {"dinner time": "have dinner at 7"}),
        ("我一般九点吃早饭", {"早饭时间": "九点吃早饭"}),
        ("我现在都九点吃早饭了", {"早饭时间": "九点吃早饭"}),
        ("I practice guitar daily", {"practice guitar": "practice guitar daily"}),
        ("I play tennis twice a week", {"play tennis": "play tennis twice a week"}),
        ("比起咖啡我更喜欢茶", {"茶": "更喜欢"}),
        ("跟咖啡相比我还是更喜欢喝茶", {"茶": "更喜欢"}),
        ("我喜欢茶胜过咖啡", {"茶": "更喜欢"}),
        ("I'm a Go beginner", {"skill": "Go beginner"}),
        ("I'm now an expert in Go", {"skill": "expert in Go"}),
        ("I'm an expert in machine learning", {"skill": "expert in machine learning"}),
        ("I became a Rust expert", {"skill": "Rust expert"}),
    ],
)
def test_plain_facts_are_learnt(text: str, learnt: dict[str, str]) -> None:
    """Age, how much a day, when one eats, what one rather has, and how skilled one is."""
    assert _learnt(text) == learnt


@pytest.mark.parametrize(
    "text",
    [
        "I'm 29 minutes late",
        "I'm 100% sure",
        "I'm 15 in line",
        "if I'm 29, can I get it?",
        "My son is 12",
        "我女儿3岁",
        "我快30岁了",
        "我今年几岁？",
        "can I drink two cups of coffee a day?",
        "I have two meetings a day",
        "I'm not an expert in Go",
        "I want to be a Go expert",
        "I'm an engineer from Microsoft",
        "I'm a caller from Sales",
        "I'm a recruiter from HR",
        "I'm a gift from God",
        "I'm a MacBook Pro",
        "我和朋友更喜欢茶吗",
        "I'm a 30-year-old bug in the codebase.",
        "I'm a 10-year-old account holder.",
        "I'm a 12-year-old whisky fan",
        "My age is a secret.",
        "My age is 300",
        "I'm 112",
        "I'm almost 50",
        "I'm 80, my phone battery says.",
        "I'm 50, percent wise.",
        "Here is my CV template:\nI'm 45 years old, a chef and left-handed.",
        "用这个模板：我今年45岁，已婚",
        "我35了，快到终点",
        "我100了",
        "我已经90了，还差10分及格",
        "I'm a passenger from Paris, my bag is lost.",
        "I have dinner at 7, what should I wear?",
        "I have lunch at 1, can we meet at 2?",
        "We eat dinner at six, you're invited!",
        "我七点吃晚饭，别迟到",
        "我8点吃早餐，9点出发",
        "I run the server daily.",
        "I run the server every day",
        "I practice on CI weekly",
        "I've become an expert at waiting, lol.",
        "I'm an expert in waiting",
        "I'm a real pro now.",
    ],
)
def test_what_only_looks_like_a_plain_fact_is_none(text: str) -> None:
    """Other numbers, other people, questions, wishes."""
    assert _learnt(text) == {}


def test_more_a_day_takes_the_place_of_less() -> None:
    """The habit is named by the thing, and not by how much of it."""
    assert _learnt("I drink two cups of coffee a day", "I drink three cups of coffee a day") == {
        "drink coffee": "drink three cups of coffee a day"
    }


@pytest.mark.parametrize(
    ("text", "learnt"),
    [
        ("推荐晚饭，顺便说我不吃猪肉", {"猪肉": "不吃"}),
        ("推荐晚饭，顺便说一下我对虾过敏", {"虾": "过敏"}),
        ("推荐几部电影，顺带提一句我讨厌恐怖片", {"恐怖片": "讨厌"}),
        ("说实话我讨厌香菜", {"香菜": "讨厌"}),
        ("老实说我不喜欢跑步", {"跑步": "不喜欢"}),
        ("坦白讲我不喝酒", {"酒": "不喝"}),
        ("Recommend dinner btw I don't eat pork", {"pork": "doesn't eat"}),
        ("他顺便说我不吃猪肉", {}),
        ("顺便问一下我能吃虾吗", {}),
    ],
)
def test_words_that_fill_a_sentence_are_no_part_of_a_fact(text: str, learnt: dict[str, str]) -> None:
    """Neither its slot, nor what hides it; what another says by the way is none."""
    assert _learnt(text) == learnt


@pytest.mark.parametrize(
    "question",
    [
        "我在哪上班？",
        "我在哪儿工作？",
        "我在哪里工作比较好？",
        "我在干什么工作？",
        "我在深圳哪里上班好？",
        "我在几楼上班？",
        "我是做什么的？",
        "我卖啥的",
        "我读的是什么专业",
        "我是怎样的老师？",
        "where do I work?",
        "what am I working as?",
        "I work as what?",
        "I'm studying what subject?",
        "I work as whatever engineer",
    ],
)
def test_a_question_states_no_role(question: str) -> None:
    """No question word is part of a role."""
    assert claims(own_words(question)) == []


@pytest.mark.parametrize(
    ("text", "role"), [("我在医院上班", "医院职员"), ("我是几何老师", "几何老师"), ("I work as a nurse", "nurse")]
)
def test_a_statement_still_states_its_role(text: str, role: str) -> None:
    """几 counts in a question alone."""
    assert [claim.name for claim in claims(own_words(text))] == [role]


def test_a_model_makes_no_role_of_a_question() -> None:
    """What it quotes is in the question, and asks all the same."""
    question = "我在哪家医院上班？"
    named: Json = {"identities": ["哪家医院职员"], "states": ["哪家医院职员"], "evidence": ["我在哪家医院上班"]}
    extraction = read_extraction(named, question)
    assert extraction is not None
    assert extraction.identities == extraction.states == []
