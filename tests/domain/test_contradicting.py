"""Which facts cannot both hold, and what becomes of those that were overheard."""

import pytest

from pipeline.domain.contradicting import contradicts, ends
from pipeline.domain.recall import recall
from schemas.features import UserFeature
from tests.domain.features import kept, says

VEGAN = kept("diet", "vegan", source="MANUAL")
LOW_SUGAR = kept("milk", "low sugar", source="MANUAL")


def told(question: str, *facts: UserFeature) -> list[str]:
    return [one.slot for one in recall(facts, question, turn=1).features]


@pytest.mark.parametrize(
    ("heard", "held"),
    [
        (("steak", "loves"), ("diet", "vegan")),
        (("eat meat", "eat meat"), ("diet", "vegetarian")),
        (("cheese", "eats again"), ("diet", "vegan")),
        (("烤鸭", "喜欢"), ("饮食", "素食")),
        (("beer", "drinks"), ("alcohol", "doesn't drink")),
        (("红酒", "喜欢"), ("饮食", "不喝酒")),
        (("almonds", "loves"), ("nuts", "allergic")),
        (("peanut butter", "likes"), ("peanuts", "allergic")),
        (("whole milk", "likes"), ("milk", "low sugar")),
        (("low sugar", "doesn't like"), ("milk", "low sugar")),
        (("全脂牛奶", "喜欢"), ("牛奶", "低糖")),
        (("spicy hotpot", "loves"), ("spicy", "doesn't eat")),
        (("nuts", "not allergic"), ("nut allergy", "yes, severe")),
        (("nuts", "no longer allergic"), ("nut allergy", "severe")),
        (("nuts", "can eat it now"), ("nut allergy", "yes, severe")),
        (("nuts", "not allergic"), ("food", "no nuts")),
        (("nuts", "allergic"), ("nut allergy", "no")),
        (("nuts", "allergic"), ("allergies", "none")),
        (("shellfish", "not allergic"), ("allergies", "nuts and shellfish")),
        (("almonds", "eats"), ("allergies", "nuts, shellfish")),
        (("peanut butter", "likes"), ("food allergies", "peanuts, soy")),
        (("nuts", "likes"), ("nut allergy", "no nuts at all, not mild")),
        (("lactose", "not intolerant"), ("lactose intolerance", "yes")),
        (("diet", "not vegan"), ("vegan", "yes")),
        (("diet", "vegan"), ("vegan", "no")),
        (("steak", "loves"), ("vegan", "yes")),
        (("pork", "eats"), ("eats pork", "no")),
        (("花生", "不过敏"), ("过敏", "花生")),
        (("坚果", "不再过敏"), ("坚果过敏", "有，严重")),
        (("坚果", "过敏"), ("坚果过敏", "没有")),
        (("虾", "喜欢"), ("过敏", "海鲜、花生")),
        (("牛排", "喜欢"), ("素食者", "是")),
        (("猪肉", "爱吃"), ("吃猪肉", "不")),
    ],
)
def test_what_cannot_both_hold(heard: tuple[str, str], held: tuple[str, str]) -> None:
    """What a diet or an allergy keeps off, a dislike of what is wanted, another kind of the same thing."""
    assert contradicts(kept(*heard), kept(*held))


@pytest.mark.parametrize(
    ("heard", "held"),
    [
        (("vegan cheese", "loves"), ("diet", "vegan")),
        (("oat milk", "likes"), ("diet", "vegan")),
        (("meat", "doesn't eat"), ("diet", "vegan")),
        (("fish", "likes"), ("diet", "pescatarian")),
        (("steak", "loves"), ("diet", "no longer vegan")),
        (("milk tea", "likes"), ("milk", "low sugar")),
        (("green tea", "doesn't like"), ("tea", "likes")),
        (("car colour", "red"), ("colour", "blue")),
        (("football", "plays"), ("basketball", "doesn't like")),
        (("nuts", "allergic"), ("nut allergy", "yes, severe")),
        (("nuts", "likes"), ("nut allergy", "no")),
        (("cats", "not allergic"), ("allergies", "nuts, shellfish")),
        (("shellfish", "allergic"), ("allergies", "nuts")),
        (("coffee", "likes"), ("allergies", "nuts, shellfish")),
        (("dog", "a"), ("allergies", "none")),
        (("nuts", "likes"), ("allergies", "no known allergies")),
        (("nuts", "not allergic"), ("cats", "doesn't like")),
        (("steak", "loves"), ("vegan", "no")),
        (("猫", "不过敏"), ("过敏", "花生")),
        (("坚果", "喜欢"), ("坚果过敏", "没有")),
    ],
)
def test_what_can_both_hold(heard: tuple[str, str], held: tuple[str, str]) -> None:
    """What only goes by the name, an exception, another thing."""
    assert not contradicts(kept(*heard), kept(*held))


def test_what_contradicts_a_fact_set_by_hand_is_not_told() -> None:
    """In whatever slot it stands; what was overheard of other things is, and the hand's word comes first."""
    steak, whole = kept("steak", "loves"), kept("whole milk", "likes", "The user likes whole milk best of all milk.")
    assert told("steak or tofu?", steak, kept("city", "Leeds"), VEGAN) == ["diet", "city"]
    assert told("which milk?", whole, kept("milk tea", "likes"), LOW_SUGAR) == ["milk", "milk tea"]
    assert told("steak?", steak, kept("diet", "vegan")) == ["steak", "diet"], "both were overheard"


@pytest.mark.parametrize(
    ("question", "heard", "slot", "value"),
    [
        ("can I eat nuts?", ("nuts", "not allergic"), "nut allergy", "yes, severe"),
        ("can I eat prawns?", ("prawns", "likes"), "allergies", "nuts, shellfish"),
        ("what's for dinner?", ("steak", "loves"), "vegan", "yes"),
        ("我能吃花生酱吗？", ("花生", "不过敏"), "过敏", "花生"),
    ],
)
def test_an_allergy_set_by_hand_is_told_alone(question: str, heard: tuple[str, str], slot: str, value: str) -> None:
    """However its slot and its value put it, it comes first, and nothing that lifts it stands beside it."""
    held = kept(slot, value, source="MANUAL")
    assert told(question, kept("city", "Oslo"), kept(*heard), held) == [slot, "city"]


def test_a_wish_to_remember_does_not_outrank_the_hand() -> None:
    """Neither in the slot of what was set by hand nor in another."""
    for wish in (says("milk", "whole"), says("whole milk", "likes")):
        (feature,) = recall([LOW_SUGAR], "milk?", wishes=[wish], turn=1).features
        assert feature.value == "low sugar"


@pytest.mark.parametrize(
    ("slot", "value", "identity", "is_over"),
    [
        ("meat", "eats again", "vegetarian", True),
        ("肉", "又吃肉了", "素食者", True),
        ("diet", "no longer vegan", "vegan", True),
        ("wine", "drinks again", "teetotaler", True),
        ("smoking", "gave up", "smoker", True),
        ("meat", "doesn't eat", "vegan", False),
        ("steak", "loves", "vegan", False),
        ("vegan cheese", "eats", "vegan", False),
        ("meat", "eats again", "nurse", False),
    ],
)
def test_a_fact_may_end_what_somebody_was(slot: str, value: str, identity: str, is_over: bool) -> None:
    """Who eats meat is no vegetarian, and who gave up smoking no smoker; a liking ends nothing."""
    assert ends(says(slot, value), identity) is is_over
