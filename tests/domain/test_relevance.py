"""Which facts are told with a question, and in what order."""

import time

import pytest

from pipeline.domain.recall import recall
from pipeline.domain.relevance import (
    MOST_CHARACTERS,
    MOST_FEATURES,
    _kept_terms,
    by_relevance,
    fitting,
    line_of,
    terms,
)
from schemas.features import FeatureChange, KnownFeature, Summary, UserFeature
from schemas.role import CommunicationPreferences
from tests.domain.features import kept

FACTS = [
    kept("pet", "a dog", "Keeps a dog called Oliver."),
    kept("race", "charity race", "Ran a charity race for mental health."),
    kept("pottery", "class", "Signed up for a pottery class."),
    kept("milk", "low sugar", "Buys milk with little sugar."),
    kept("city", "Lyon", "Lives in Lyon."),
]
FACTS_ZH = [
    kept("苹果", "不要酸的"),
    kept("牛奶", "只买低糖的"),
    kept("城市", "住在上海"),
    kept("项目", "做一个Gin+GORM的项目"),
]


def slots(features: list[UserFeature] | list[KnownFeature]) -> list[str]:
    return [feature.slot for feature in features]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did she run races?", "race"),
        ("Which classes did I sign up for?", "pottery"),
        ("Is there any sugary milk?", "milk"),
        ("where do I live?", "city"),
        ("what are my dogs called", "pet"),
    ],
)
def test_the_fact_that_shares_words_comes_first(question: str, first: str) -> None:
    """In whatever form the words stand: plural, past, irregular."""
    assert slots(by_relevance(FACTS, question))[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("苹果有甜的有酸的，我买哪种？", "苹果"),
        ("蘋果怎麼挑", "苹果"),
        ("买什么牛奶好", "牛奶"),
        ("GORM报no such table错误", "项目"),
        ("上海明天下雨吗", "城市"),
    ],
)
def test_chinese_is_compared_by_pairs_of_characters(question: str, first: str) -> None:
    """Simplified and traditional alike; English names within it by their words."""
    assert slots(by_relevance(FACTS_ZH, question))[0] == first


def test_a_rare_word_counts_more_than_one_that_is_everywhere() -> None:
    """Caroline is in every fact; the violin in one."""
    facts = [kept(f"f{n}", "x", f"Caroline likes Caroline's garden number {n}.") for n in range(30)]
    facts.append(kept("violin", "x", "Plays the violin."))
    assert slots(by_relevance(facts, "Does Caroline play the violin?"))[0] == "violin"


def test_where_words_do_not_tell_the_users_own_the_surest_and_the_newest_come_first() -> None:
    """In this order, and the same whatever the order they are given in."""
    facts = [
        kept("old", "a", confidence=1),
        kept("new", "b", confidence=1, days=3),
        kept("sure", "c", confidence=4),
        kept("own", "d", source="MANUAL"),
    ]
    for given in (facts, facts[::-1]):
        assert slots(by_relevance(given, "tides?")) == ["own", "sure", "new", "old"]


def test_what_is_told_is_bounded() -> None:
    """In number and in characters; a fact that does not fit leaves its room to the next."""
    short = [KnownFeature(slot=f"s{n}", value="v") for n in range(99)]
    assert len(fitting(short)) == MOST_FEATURES
    long = [KnownFeature(slot=f"l{n}", value="v", content=f"{n:03}" * 90) for n in range(9)]
    told = fitting([*long, *short])
    assert sum(len(f"- {line_of(one)}\n") for one in told) <= MOST_CHARACTERS
    assert {"l0", "l4", "s0"} <= set(slots(told))


def test_the_same_sentence_is_told_once() -> None:
    """However many slots hold it."""
    same = [KnownFeature(slot=slot, value="v", content="Cannot open spreadsheets.") for slot in ("laptop", "files")]
    assert slots(fitting(same)) == ["laptop"]


def test_five_hundred_facts_take_no_time() -> None:
    """A question is on the path of the answer: ranking all of a user stays under a tenth of a second."""
    facts = [kept(f"slot {n}", f"value {n}", f"Fact {n} about bread, gardens and 面包 {n % 7}.") for n in range(500)]
    by_relevance(facts, "warm up the tables")
    began = time.process_time()
    by_relevance(facts, "which bread goes with a garden party?")
    assert time.process_time() - began < 0.1


def test_only_active_facts_are_recalled() -> None:
    """What is stale or deleted is not told, however much it is like the question."""
    facts = [kept("milk", "low sugar", status="STALE"), kept("bread", "", status="DELETED"), kept("tea", "green")]
    assert slots(list(recall(facts, "milk, bread or tea?", turn=1).features)) == ["tea"]


def test_the_wishes_of_the_turn_count_at_once() -> None:
    """What is to be remembered comes first and replaces what its slot held; what is to be forgotten is not told."""
    facts = [kept("milk", "low sugar"), kept("dog", "Oliver"), kept("tea", "green")]
    wishes = [
        FeatureChange(slot="Milk", value="no sugar", category="PREFERENCE"),
        FeatureChange(operation="FORGET", slot="my dog"),
    ]
    told = recall(facts, "tea?", wishes=wishes, turn=2).features
    assert [(one.slot, one.value) for one in told] == [("Milk", "no sugar"), ("tea", "green")]


def test_slots_that_say_how_to_answer_are_rules_and_no_facts() -> None:
    """The skill and the stable preferences, whose stored slots are folded; a value that is none is passed over."""
    facts = [
        kept("skill", "Go beginner"),
        kept("detaillevel", "CONCISE", category="PREFERENCE"),
        kept("responseformat", "as a poem", category="PREFERENCE"),
    ]
    recalled = recall(facts, "x", turn=1)
    assert (list(recalled.features), recalled.skill) == ([], "Go beginner")
    assert recalled.preferences == CommunicationPreferences(detail_level="CONCISE")


@pytest.mark.parametrize("source", ["MANUAL", "SYSTEM"])
def test_what_was_set_by_hand_goes_first(source: str) -> None:
    """Whoever set it: of two records of one slot it is told, and it comes before the surest that was overheard."""
    by_hand, newer = kept("identity", "nurse", source=source), kept("Identity", "baker", days=2)
    assert [one.value for one in recall([newer, by_hand], "who am I?", turn=1).features] == ["nurse"]
    sure = kept("city", "Lyon", confidence=9)
    assert slots(by_relevance([sure, by_hand], "x")) == ["identity", "city"]


def test_long_texts_are_not_kept() -> None:
    """A question may have tens of thousands of characters; the facts of users are short."""
    before = _kept_terms.cache_info().currsize
    assert terms(200 * "rare words ")[:2] == terms("rare words")
    assert _kept_terms.cache_info().currsize <= before + 1


def test_a_denied_identity_is_not_recalled() -> None:
    """A fact that says the user to be what they deny to be is not told in that conversation."""
    facts = [kept("job", "ward nurse", category="PERSONAL_INFO"), kept("city", "Lyon", category="PERSONAL_INFO")]
    assert slots(list(recall(facts, "x", turn=2, denied=["nurse"]).features)) == ["city"]


def test_two_records_of_one_slot_are_told_once() -> None:
    """The newest of them, though two were stored."""
    facts = [kept("identity", "nurse", days=1), kept("Identity", "baker", days=2)]
    assert [one.value for one in recall(facts, "who am I?", turn=1).features] == ["baker"]


@pytest.mark.parametrize(
    ("summary", "told"),
    [(Summary(turn=1), False), (Summary(target="t", turn=2), True), (Summary(target="t", turn=3), False)],
)
def test_a_summary_is_of_what_was_before(summary: Summary, told: bool) -> None:
    """An empty one is not told, nor one that covers the turn itself, as a late replay may find."""
    assert (recall([], "x", turn=3, summary=summary).summary is not None) == told
