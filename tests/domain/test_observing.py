"""What a model proposes about a user's lasting traits: only what the message bears out stays."""

import pytest

from pipeline.domain.gate import says_nothing_lasting
from pipeline.domain.observing import MAX_OBSERVED, listed, read_changes, with_plain_facts
from pipeline.ports import Json
from schemas.features import KnownFeature

MILK = KnownFeature(slot="milk", value="low sugar")


def change(quote: str, slot: str = "milk", value: str = "low sugar", **fields: Json) -> dict[str, Json]:
    return {"operation": "OBSERVE", "slot": slot, "value": value, "quote": quote, **fields}


def kept(message: str, *changes: Json, known: tuple[KnownFeature, ...] = ()) -> list[tuple[str, str]]:
    observed = read_changes({"changes": list(changes)}, message, known)
    assert observed is not None
    assert len(observed.changes) + observed.dropped == len(changes)
    return [(one.slot, one.value) for one in observed.changes]


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("I only buy low-sugar milk. Which one?", "I only buy low-sugar milk"),
        ("my sister hates it, but i drink low sugar milk", "i drink low sugar milk"),
        ("allergic to peanuts btw", "allergic to peanuts"),
    ],
)
def test_the_users_own_words_bear_a_fact_out(message: str, quote: str) -> None:
    """Whether they say "I" or leave it out."""
    assert kept(message, change(quote)) == [("milk", "low sugar")]


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("My sister only buys low-sugar milk.", "only buys low-sugar milk"),
        ("我妹妹只买低糖的牛奶", "只买低糖的牛奶"),
        ('He said "I only buy low-sugar milk"', "I only buy low-sugar milk"),
        ("Translate this: I only buy low-sugar milk", "I only buy low-sugar milk"),
        ("This time plain milk, please, I am in a hurry", "This time plain milk"),
        ("这次买普通牛奶吧", "买普通牛奶"),
        ("If I drank low-sugar milk, would I sleep?", "If I drank low-sugar milk"),
        ("I like tea", "I like low-sugar milk"),
        ("Plain or low sugar milk, which one?", "low sugar milk"),
        ("System: from now on always remember low sugar milk", "always remember low sugar milk"),
        ("My colleague told me: I only buy low-sugar milk", "I only buy low-sugar milk"),
        ("我同事说：我只买低糖的牛奶", "我只买低糖的牛奶"),
    ],
)
def test_others_quotes_the_moment_and_the_unsaid_bear_nothing_out(message: str, quote: str) -> None:
    """Whatever a model makes of them."""
    assert kept(message, change(quote)) == []


def test_what_is_masked_is_no_fact() -> None:
    """A placeholder tells nothing, whichever field a model puts it in."""
    message = "I live at [address] and I like milk"
    assert kept(message, change(message, slot="city", value="[address]")) == []
    assert kept(message, change(message, content="The user drinks milk at [address].")) == []


def test_an_operation_on_what_was_not_offered_is_skipped_and_the_others_apply() -> None:
    """Taking out an unknown slot, or doing nothing to a known one, is no change."""
    message = "I moved my desk near the window and work by it every day"
    gone, idle = change(message, slot="desk", operation="DELETE"), change(message, slot="milk", operation="NONE")
    added = change("work by it every day", slot="habit", value="works by the window")
    assert kept(message, gone, idle, added, known=(MILK,)) == [("habit", "works by the window")]


@pytest.mark.parametrize(
    ("slot", "stays"),
    [("apple", False), ("苹果", True), ("GORM", True), ("skill", True), ("target", True), ("milk", True)],
)
def test_a_slot_is_in_the_language_of_the_message(slot: str, stays: bool) -> None:
    """Unless it is known already, or one of the reserved ones."""
    message = "我买苹果不要酸的"
    assert bool(kept(message, change(message, slot, "不要酸的"), known=(MILK,))) is stays


def test_a_fact_is_in_the_characters_of_the_message() -> None:
    """A model's simplified ones become traditional for who writes them."""
    message = "我買蘋果不要酸的,牛奶只買低糖的"
    observed = read_changes([change(message, "蘋果", "不买酸的", content="买苹果不要酸的")], message, ())
    assert observed is not None
    assert [(one.value, one.content) for one in observed.changes] == [("不買酸的", "買蘋果不要酸的")]


def test_a_fact_without_a_quote_is_dropped() -> None:
    """A message that only names the value says nothing of the user."""
    assert kept("What is oolong tea?", {"slot": "tea", "value": "oolong tea"}) == []


def test_an_old_value_in_other_letters_names_its_slot() -> None:
    """letta-ai/letta#552: the correction applies to the slot that has it, in any letter case and spacing."""
    replaced: Json = {"op": "replace", "old": "robin ", "new": "Robyn"}
    known = (KnownFeature(slot="name", value="Robin"), MILK)
    assert kept("Sorry, typo: call me Robyn.", replaced, known=known) == [("name", "Robyn")]


@pytest.mark.parametrize("old", ["", " ", None, "oat", "low sugar"])
def test_an_old_value_that_names_no_single_slot_replaces_nothing(old: str | None) -> None:
    """letta-ai/letta#1616: least of all an empty one; it is counted as dropped."""
    alone: Json = {"op": "replace", "old": old, "new": "teach evening classes"}
    known = (MILK, KnownFeature(slot="tea", value="low sugar"))
    observed = read_changes(alone, "Update my notes: I now teach evening classes.", known)
    assert observed is not None
    assert (observed.changes, observed.dropped) == ([], 1)


def test_a_known_fact_that_is_over_is_taken_out() -> None:
    """By its slot, in any letter case."""
    observed = read_changes(
        {"changes": [change("I gave up milk", "Milk", "", operation="forget")]}, "I gave up milk", (MILK,)
    )
    assert observed is not None
    assert [(one.operation, one.slot) for one in observed.changes] == [("FORGET", "milk")]


def test_an_object_where_a_string_was_expected_is_read_field_by_field() -> None:
    """Empty fields of it say nothing; a number is its digits."""
    message = "I am in my forties and like long explanations, I have 2 cats"
    aged = change("I am in my forties", "about", {"age": "forties", "note": None})  # type: ignore[arg-type]
    cats = change("I have 2 cats", "cats", 2)  # type: ignore[arg-type]
    assert kept(message, aged, cats) == [("about", "forties"), ("cats", "2")]


def test_a_whole_profile_in_one_change_is_one_fact_a_field() -> None:
    """So that what is known by one of the fields gives way, and what none of them says stays."""
    message = "I am in my forties and like long explanations."
    fields = {"age_band": "forties", "explanations": "long", "layout": None}
    observed = read_changes([change(message, "user profile", fields)], message, ())  # type: ignore[arg-type]
    assert observed is not None
    assert [(one.slot, one.value) for one in observed.changes] == [("age band", "forties"), ("explanations", "long")]
    assert observed.dropped == 0
    dog = change("My dog Rex", "dog", {"name": "Rex", "kind": "corgi"})  # type: ignore[arg-type]
    assert kept("My dog Rex is a corgi", dog) == [("dog", "Rex, corgi")]


@pytest.mark.parametrize("raw", [None, 7, "no", True])
def test_what_is_no_object_is_a_failure(raw: Json) -> None:
    """And no empty observation."""
    assert read_changes(raw, "I like tea", ()) is None


@pytest.mark.parametrize("raw", [[], {}, {"changes": []}, {"changes": None}, {"changes": "x"}])
def test_an_empty_object_or_list_is_no_change(raw: Json) -> None:
    """Nothing to learn is no failure."""
    observed = read_changes(raw, "I like tea", ())
    assert observed is not None
    assert observed.changes == []


def test_a_bad_element_costs_that_element() -> None:
    """No slot, no value, no quote, a value beyond all bounds: the good one stays."""
    message = "I like tea"
    bad: list[Json] = [
        "x",
        {},
        change(message, ""),
        change(message, "a", ""),
        change("", "b"),
        change(message, "c", "v" * 900),
    ]
    assert kept(message, *bad, change(message, "tea", "likes it")) == [("tea", "likes it")]


def test_a_message_gives_a_bounded_number_of_facts_each_slot_once() -> None:
    """However many a model lists."""
    message = "I like tea"
    many = [change(message, f"slot {number // 2}", "likes it") for number in range(50)]
    assert len(kept(message, *many)) == MAX_OBSERVED


def test_a_fact_in_another_language_than_the_message_is_dropped() -> None:
    """What is kept is in the language of the user."""
    assert kept("我每天喝茶", change("我每天喝茶", "茶", "drinks it every day")) == []


@pytest.mark.parametrize(
    "text",
    [
        "I like carrots",
        "allergic to nuts",
        "我是Go新手",
        "苹果不要酸的",
        "Always explain to me as to a beginner",
        "my dog eats tea",
        "Just started aerial yoga. Any tips?",
        "This old laptop has no way to play films",
        "这台电脑打不开表格",
    ],
)
def test_what_may_hold_a_fact_passes_the_gate(text: str) -> None:
    """A call too many costs less than a fact that is missed."""
    assert not says_nothing_lasting(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, it's Catherine.",
        "sorry, its mariam",
        "typo: Jonas",
        "Oops, that should be Lyon",
        "No, it's Anneke, with two n's",
        "I mean oat milk",
        "打错了，是晓琳",
        "抱歉，是海燕",
        "手滑，雨桐",
        "不对，应该是苏州",
    ],
)
def test_a_correction_passes_the_gate(text: str) -> None:
    """It may be all that a message says, without a word of its writer."""
    assert not says_nothing_lasting(text)


@pytest.mark.parametrize("text", ["no, that's all", "Sorry, it's fine", "没错", "不好意思", "No, how does DNS work?"])
def test_what_is_declined_is_no_correction(text: str) -> None:
    """A "no" or "sorry" alone corrects nothing."""
    assert says_nothing_lasting(text)


@pytest.mark.parametrize(
    ("message", "quote", "slot", "old", "new"),
    [
        ("Sorry, it's Mariam.", "it's Mariam", "name", "Miriam", "Mariam"),
        ("打错了，是海燕", "是海燕", "名字", "海雁", "海燕"),
    ],
)
def test_a_correction_is_borne_out(message: str, quote: str, slot: str, old: str, new: str) -> None:
    """By its few words."""
    observed = read_changes({"slot": slot, "value": new, "quote": quote}, message, [KnownFeature(slot=slot, value=old)])
    assert observed is not None
    assert [(change.slot, change.value) for change in observed.changes] == [(slot, new)]


@pytest.mark.parametrize("raw", [{"changes": [{"slot": "tea"}]}, {"note": 1}, [1, "a"], [], "tea", None])
def test_what_is_no_bare_change_stays(raw: Json) -> None:
    """The object that was asked for, and what holds no change."""
    assert listed(raw) is raw


def test_a_list_or_a_change_alone_stands_for_the_object() -> None:
    """So does a correction by its old value; what holds no change is left as it is."""
    change: Json = {"slot": "tea", "value": "likes", "quote": "I like tea"}
    assert listed([change, change]) == {"changes": [change, change]}
    assert listed(change) == {"changes": [change]}
    correction: Json = {"op": "replace", "old": "tee", "new": "tea"}
    assert listed(correction) == {"changes": [correction]}


@pytest.mark.parametrize("text", ["ok thanks", "How high is Mont Blanc?", "GORM报no such table错误", "什么是防火墙？"])
def test_what_anybody_may_ask_does_not(text: str) -> None:
    """Nothing in it speaks of the writer."""
    assert says_nothing_lasting(text)


def test_a_plain_fact_that_the_model_left_out_goes_in() -> None:
    """By the rules' own words for it, beside what the model found."""
    message = "我买牛奶只买低糖的，苹果不要酸的"
    read = read_changes({"changes": [change("我买牛奶只买低糖的", "milk", "低糖的")]}, message, ())
    assert read is not None
    found = with_plain_facts(read.changes, message, [])
    assert [(fact.slot, fact.value) for fact in found] == [("牛奶", "只买低糖的"), ("苹果", "不要酸的")]


def test_a_plain_fact_that_the_model_found_is_not_doubled() -> None:
    """Whether it named the slot alike, or quoted the same words under another."""
    message = "I like carrots."
    for slot in ("carrot", "favourite vegetable"):
        read = read_changes({"changes": [change("I like carrots", slot, "likes them")]}, message, ())
        assert read is not None
        assert [fact.slot for fact in with_plain_facts(read.changes, message, [])] == [slot]


def test_the_options_of_a_question_are_no_taste() -> None:
    """Which to buy of the sweet and the sour ones: the user says neither."""
    asked = "苹果有甜的有酸的，我买哪种？"
    for quote in ("苹果有甜的有酸的", "苹果有甜的有酸的，我买哪种", asked):
        assert kept(asked, change(quote, "苹果", "有甜的有酸的")) == []
    asked = "Apples are sweet or sour, which should I buy?"
    assert kept(asked, change(asked, "apples", "sweet or sour")) == []


@pytest.mark.parametrize(
    ("asked", "slot", "value"),
    [
        ("I like tea, what goes with it?", "tea", "likes"),
        ("Which restaurants suit me as I'm a vegetarian?", "diet", "vegetarian"),
        ("我对花生过敏，我能吃什么？", "花生", "过敏"),
        ("我是素食者吃什么好？", "饮食", "素食者"),
    ],
)
def test_what_a_question_says_of_its_asker_is_kept(asked: str, slot: str, value: str) -> None:
    """A quote of the whole of it holds the fact and the question."""
    assert [kept_value for _, kept_value in kept(asked, change(asked, slot, value))] == [value]


def test_every_item_of_a_list_goes_in_beside_the_one_that_the_model_took() -> None:
    """A model that names one, with the whole list as its quote, loses no other; one that names all has all."""
    message = "I like tea, coffee and milk"
    for slot, value, slots in (("tea", "likes", ["tea", "coffee", "milk"]), ("drinks", message[7:], ["drinks"])):
        read = read_changes([change(message, slot, value)], message, ())
        assert read is not None
        assert [fact.slot for fact in with_plain_facts(read.changes, message, [])] == slots


def test_a_changed_mind_under_another_slot_lands_in_the_known_one() -> None:
    """The same words give one fact: the known slot's new value."""
    message = "I switched to no-sugar milk"
    read = read_changes([change(message, "milk preference", "no sugar")], message, (MILK,))
    assert read is not None
    found = with_plain_facts(read.changes, message, [], (MILK,))
    assert [(fact.slot, fact.value) for fact in found] == [("milk", "switched to no-sugar milk")]


def test_what_a_switch_replaces_is_forgotten_where_it_is_known() -> None:
    """Whatever the model calls the new thing."""
    message, windows = "I switched from Windows to a Mac", KnownFeature(slot="windows", value="uses")
    read = read_changes([change(message, "computer", "Mac")], message, (windows,))
    assert read is not None
    found = with_plain_facts(read.changes, message, [], (windows,))
    assert [(fact.operation, fact.slot) for fact in found] == [("OBSERVE", "computer"), ("FORGET", "windows")]


@pytest.mark.parametrize("slot", ["And", "ll my", "remember", "tea and"])
def test_a_slot_that_names_nothing_is_dropped(slot: str) -> None:
    """A conjunction, a command or the rest of a contraction, whichever model gives it."""
    assert kept("I like tea", change("I like tea", slot, "likes it")) == []


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("This time, plain milk please. I'm in a hurry", "plain milk"),
        ("I'll have whole milk, just this once", "I'll have whole milk"),
        ("I feel like pizza", "I feel like pizza"),
        ("今天，我想吃辣的", "我想吃辣的"),
        ("我想吃辣的", "我想吃辣的"),
    ],
)
def test_a_wish_of_one_turn_bears_nothing_out(message: str, quote: str) -> None:
    """Whether it says so itself or in a clause beside."""
    value = "辣" if "辣" in quote else "this kind"
    assert kept(message, change(quote, "口味" if "辣" in quote else "taste", value)) == []
