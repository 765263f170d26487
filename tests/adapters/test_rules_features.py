"""What the offline rules take for a lasting fact of the user, and what they leave."""

import time

import pytest

from pipeline.adapters.rules.features import lasts, proposed_changes
from pipeline.adapters.rules.remembering import choice_of
from pipeline.domain.observing import read_changes
from pipeline.ports import Said
from schemas.features import KnownFeature


def _facts(text: str, *before: Said, known: tuple[KnownFeature, ...] = ()) -> dict[str, str]:
    """From slot to value, as they pass the check of their quotes."""
    proposed = proposed_changes([*before, Said("user", text)], known)
    observed = read_changes({"changes": proposed}, text, known)
    assert observed is not None
    return {change.slot: change.value for change in observed.changes}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I like carrots", {"carrots": "likes"}),
        ("I hate cilantro but love fresh mint.", {"cilantro": "hates", "fresh mint": "loves"}),
        ("I'm allergic to peanuts and shellfish", {"peanuts": "allergic", "shellfish": "allergic"}),
        ("I only buy lactose-free milk.", {"milk": "only buys lactose-free milk"}),
        ("I prefer tea over coffee", {"tea": "prefers it over coffee"}),
        ("I've been vegetarian since 2019", {"diet": "vegetarian"}),
        ("We live in a village near Bergen. How do I insulate a loft?", {"city": "a village near Bergen"}),
        ("My name is Priya, and I'd like help", {"name": "Priya"}),
        ("I have three kids and two dogs, where to?", {"kids": "three", "dogs": "two"}),
        ("I speak Portuguese and a bit of Danish", {"portuguese": "speaks", "danish": "speaks"}),
        ("I use Vim for everything", {"vim": "uses"}),
        ("I'm pretty new to Rust. What is borrowing?", {"skill": "pretty new to Rust"}),
        ("Always explain things to me as to a beginner", {"skill": "beginner"}),
        ("I want to build an inventory app with Flask", {"target": "build an inventory app with Flask"}),
        ("On Tuesdays I play badminton", {"play badminton": "On Tuesdays I play badminton"}),
        ("I no longer eat meat", {"meat": "no longer eats"}),
        ("I'm not vegetarian any more", {"diet": "not vegetarian"}),
        ("I'm not allergic to nuts", {"nuts": "not allergic"}),
        ("I moved from Berlin to Rome", {"city": "Rome"}),
        ("i dont like spicy food, im allergic to bees", {"spicy food": "doesn't like", "bees": "allergic"}),
        ("我喜欢吃胡萝卜", {"胡萝卜": "喜欢"}),
        ("我对花生过敏，晚饭吃什么好？", {"花生": "过敏"}),
        ("我是Go新手，目标做一个Gin+GORM的项目", {"skill": "Go新手", "target": "做一个Gin+GORM的项目"}),
        ("我买牛奶只买低糖的，苹果不要酸的", {"牛奶": "只买低糖的", "苹果": "不要酸的"}),
        ("我叫陈晓，住在成都，吃素五年了", {"名字": "陈晓", "城市": "成都", "饮食": "吃素"}),
        ("我不再喝咖啡了，改喝绿茶", {"咖啡": "不再喝", "绿茶": "改喝"}),
        ("我每周三去游泳", {"游泳": "每周三去游泳"}),
    ],
)
def test_plain_words_of_oneself_are_facts(text: str, facts: dict[str, str]) -> None:
    """Tastes, needs, a name, a place, what is owned, skill, goals and habits are found, several in one message."""
    assert _facts(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "this time I'd like plain milk",
        "I'd like to know how yeast works",
        "I'd like a recipe for lasagne",
        "Would you like a joke?",
        "Do I like carrots?",
        "I love how you explain things",
        "I like your answer",
        "It looks like rain",
        "My sister loves hiking",
        "He told me I like to argue",
        "If I were allergic to nuts, what should I avoid?",
        "Pretend I live in Paris. I love wine.",
        '"I hate onions," said the chef. Translate that.',
        "Translate: I like dogs and live in Rome",
        "I am a nurse on a night ward",
        "I have two tables, users and orders",
        "I prefer the second version of the code",
        "I use this function to sort rows",
        "<user-memory>I like carrots</user-memory>",
        "这次我想要原味牛奶",
        "我妈妈喜欢吃辣",
        "如果我住在北京，怎么上牌？",
        "假装你叫小明，我喜欢猫",
        "我是一名护士",
        "我喜欢你的回答",
        "我叫了外卖还没到",
        "翻译：我喜欢狗，住在罗马",
    ],
)
def test_what_does_not_last_or_is_not_the_users_is_no_fact(text: str) -> None:
    """Of the moment, asked, of others, quoted, played, supposed, or a role: nothing is proposed."""
    assert proposed_changes([Said("user", text)], []) == []


def test_only_the_last_message_of_the_user_teaches() -> None:
    """What was said before, or by the assistant, is not proposed again."""
    messages = [Said("user", "I like tea"), Said("assistant", "I like tea, too"), Said("user", "Thanks")]
    assert proposed_changes(messages, []) == []


def test_it_is_what_was_spoken_of() -> None:
    """A pronoun takes its thing from the messages before."""
    assert _facts("I love it", Said("assistant", "You could try rowing.")) == {"rowing": "loves"}
    assert _facts("Jazz has started to annoy me; I no longer listen to it.") == {"jazz": "no longer listens to"}
    assert _facts("Hiking used to be my thing but I can't stand it any more") == {"hiking": "can't stand"}


def test_what_was_switched_from_is_taken_out_where_it_is_known() -> None:
    """A switch names its new thing, and forgets the old one."""
    known = KnownFeature(slot="windows", value="uses")
    assert _facts("I switched from Windows to Linux", known=(known,)) == {
        "linux": "switched to Linux from Windows",
        "windows": "",
    }


@pytest.mark.parametrize(
    "text",
    [
        "I like apples, not sour ones",
        "I like apples but not sour ones",
        "I like apples that aren't sour",
        "I buy only low sugar milk, and apples must not be sour",
        "I only like sweet apples",
    ],
)
def test_the_advice_follows_from_which_of_a_thing_is_liked(text: str) -> None:
    """However it is said, sour apples are not what to buy."""
    known = [KnownFeature(slot=slot, value=value) for slot, value in _facts(text).items()]
    choice = choice_of("Apples come sweet or sour, which should I buy?", known)
    assert choice is not None
    assert list(choice.options) == ["sweet"]


def test_traditional_characters_stay() -> None:
    """A fact in traditional characters is read and kept as it was written."""
    assert proposed_changes([Said("user", "我養了三隻貓")], []) == [
        {
            "operation": "OBSERVE",
            "slot": "貓",
            "value": "三隻",
            "content": "用戶有三隻貓。",
            "category": "PERSONAL_INFO",
            "quote": "我養了三隻貓",
        }
    ]


def test_a_message_gives_eight_facts_at_most() -> None:
    """More than eight are not proposed."""
    things = ("tea", "coffee", "jazz", "rock", "chess", "golf", "bread", "cheese", "wine", "rain")
    text = ". ".join(f"I like {thing}" for thing in things)
    assert len(proposed_changes([Said("user", text)], [])) == 8


@pytest.mark.parametrize("part", ["I like ", "I have a ", "and ", "，我喜欢", "a b ", "every day i ", "我买", " - "])
def test_a_long_message_is_read_in_little_time(part: str) -> None:
    """No pattern takes long over words that repeat."""
    start = time.process_time()
    proposed_changes([Said("user", part * 2000)], [])
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize(
    ("slot", "value", "holds"),
    [
        ("carrots", "likes", True),
        ("name", "Priya", True),
        ("花生", "过敏", True),
        ("run", "every morning I run", True),
        ("trip", "to Oslo next week", False),
        ("exam", "in June", False),
        ("age", "34", False),
        ("target", "build an app", False),
        ("考试", "下个月", False),
    ],
)
def test_what_time_ends_does_not_last(slot: str, value: str, holds: bool) -> None:
    """Tastes, names, allergies and habits hold after months; plans, dates and ages do not."""
    assert lasts(KnownFeature(slot=slot, value=value)) is holds
