"""Merging what is observed: nothing twice, nothing lost, nothing that was set by hand or deleted overruled."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.domain import features as why
from pipeline.domain.features import Merged, merge
from pipeline.domain.slots import is_same, subject_of
from schemas.features import MAX_FEATURES, MAX_HISTORY, MAX_SEEN, MAX_VALUE, FeatureChange, UserFeature
from schemas.memory_events import FeaturesObserved
from tests.domain.features import kept, written
from tests.processors.factories import NOW

STALE = timedelta(days=90)


def says(slot: str, value: str, content: str = "", **changes: Any) -> FeatureChange:
    return FeatureChange.model_validate({"slot": slot, "value": value, "content": content, **changes})


def forgets(words: str, **changes: Any) -> FeatureChange:
    return FeatureChange.model_validate({"operation": "FORGET", "slot": words, **changes})


def turn(number: int, *changes: FeatureChange, by: str = "feature-extraction", **fields: Any) -> FeaturesObserved:
    """What the turn of that number, asked so many minutes after the first, was observed to say."""
    return FeaturesObserved.model_validate(
        {
            "userId": "u",
            "observedBy": by,
            "source": "CHAT_EXTRACT",
            "recordTime": NOW + timedelta(minutes=number),
            "conversationId": "c",
            "questionId": f"q{number}",
            "turn": max(number, 1),
            "changes": list(changes),
            **fields,
        }
    )


def wish(number: int, *changes: FeatureChange) -> FeaturesObserved:
    """What the user asked for outright."""
    return turn(number, *changes, by="update-arbitration")


def command(number: int, *changes: FeatureChange, source: str = "MANUAL", **fields: Any) -> FeaturesObserved:
    is_edit = any(change.feature_id or change.version for change in changes)
    kind = "DELETE_FEATURE" if changes[0].operation == "FORGET" else "EDIT_FEATURE" if is_edit else "ADD_FEATURE"
    origin = {"conversationId": None, "questionId": None, "turn": None, "commandId": f"m{number}", "source": source}
    return turn(number, *changes, by="memory-commands", **{**origin, "commandKind": kind, **fields})


def check(at: datetime, *changes: FeatureChange) -> FeaturesObserved:
    origin = {"conversationId": None, "questionId": None, "turn": None, "source": "SYSTEM", "recordTime": at}
    return turn(1, *changes, by="weekly-check", **origin)


def merged(features: Sequence[UserFeature], event: FeaturesObserved) -> Merged:
    return merge(features, event, now=NOW, stale=STALE, key="key")


def after(*events: FeaturesObserved, known: Sequence[UserFeature] = ()) -> dict[str, UserFeature]:
    """The features after the events, by slot."""
    features = list(known)
    for event in events:
        features = written(features, merged(features, event))
    return {feature.slot: feature for feature in features}


def values(features: dict[str, UserFeature]) -> dict[str, str]:
    return {slot: feature.value for slot, feature in features.items() if feature.status != "DELETED"}


LOW, NO = says("milk", "low sugar"), says("milk", "no sugar")


def test_a_verbatim_repeat_is_no_second_fact() -> None:
    """mem0ai/mem0#1674: at most confidence, evidence and the time last seen change."""
    work = says("occupation", "school librarian", "I work as a school librarian")
    (first,) = after(turn(1, work)).values()
    (again,) = after(turn(1, work), turn(2, work)).values()
    assert (again.value, again.content, again.history) == (first.value, first.content, [])
    assert (first.confidence, again.confidence) == (1, 2)
    assert [seen.question_id for seen in again.evidence] == ["q1", "q2"]


def test_a_repeated_value_does_not_grow() -> None:
    """memodb-io/memobase#143: said in other spelling, the value is stored as it was first."""
    lunch = [says("lunch", "rice and tofu"), says("Lunch", "Rice and tofu."), says("lunch ", "ｒｉｃｅ and  tofu")]
    (feature,) = after(*(turn(number, change) for number, change in enumerate(lunch, 1))).values()
    assert (feature.value, feature.confidence) == ("rice and tofu", 3)


def test_a_paraphrase_is_one_fact_with_all_its_evidence() -> None:
    """plastic-labs/honcho#729: three sessions say one thing, and it is one feature with three pieces of evidence."""
    quotes = ["I cannot open spreadsheets", "no way to view spreadsheet files", "Spreadsheets won't open"]
    said = [
        says("spreadsheets", "can't open"),
        says("Spreadsheet", "cannot open"),
        says("spreadsheets", "can not open"),
    ]
    events = [
        turn(number, change.model_copy(update={"quote": quote}), conversationId=f"c{number}")
        for number, change, quote in zip((1, 2, 3), said, quotes, strict=True)
    ]
    (feature,) = after(*events).values()
    assert [seen.quote for seen in feature.evidence] == quotes
    assert feature.confidence == 3
    assert feature.source_conversation_id == "c1"


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("cannot open on this laptop", "won't open", "cannot open on this laptop"),
        ("can't open", "has no way to open it", "can't open"),
        ("is unable to open them", "cannot open on my computer", "cannot open on my computer"),
        ("plays tennis", "plays tennis in the park", "plays tennis in the park"),
    ],
)
def test_the_same_in_other_words_is_confirmed(one: str, other: str, kept: str) -> None:
    """Not being able, words that point, and a place or a time beside: the fuller value stays, nothing is replaced."""
    (feature,) = after(turn(1, says("spreadsheets", one)), turn(2, says("spreadsheets", other))).values()
    assert (feature.value, feature.confidence, len(feature.evidence), feature.history) == (kept, 2, 2, [])
    assert after(turn(2, says("fact", other)), turn(1, says("fact", one)))["fact"].confidence == 2


@pytest.mark.parametrize(
    ("slot", "old", "new"),
    [
        ("milk", "low sugar", "no sugar"),
        ("hiking", "loves it", "can't stand it"),
        ("music", "enjoys jazz at work", "jazz annoys, no longer listens"),
        ("name", "Robin", "Robyn"),
        ("牛奶", "低糖", "无糖"),
    ],
)
def test_a_changed_mind_replaces_and_is_remembered(slot: str, old: str, new: str) -> None:
    """mem0ai/mem0#4536, letta-ai/letta#552: one present value, the earlier one in the history with a reason."""
    (feature,) = after(turn(1, says(slot, old)), turn(2, says(slot, new))).values()
    assert (feature.value, feature.confidence) == (new, 1)
    assert [(earlier.value, earlier.reason != "") for earlier in feature.history] == [(old, True)]
    assert [seen.question_id for seen in feature.evidence] == ["q2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("can eat nuts", "can't eat nuts"),
        ("喜欢", "不喜欢"),
        ("2 children", "3 children"),
        ("-5 degrees", "5 degrees"),
        ("version 1.5", "version 15"),
        ("a child", "children"),
        ("dessert", "desert"),
        ("C++", "C#"),
        ("parent", "parents"),
        ("かき", "がき"),
        ("my sister is a nurse", "I am a nurse"),
        ("can open", "cannot open"),
        ("works in Leeds", "works in York"),
        ("York", "New York"),
        ("likes jazz", "likes jazz and rock"),
        ("lives in Leeds", "lives in Leeds in 2 houses"),
        ("works", "works at home no more"),
        ("manager", "IT manager"),
        ("vitamin A", "vitamin"),
    ],
)
def test_what_merely_looks_alike_is_another_value(one: str, other: str) -> None:
    """Another polarity, number or subject replaces; it never counts as the same again."""
    assert not is_same(one, other)
    (feature,) = after(turn(1, says("fact", one)), turn(2, says("fact", other))).values()
    assert (feature.value, feature.confidence, len(feature.history)) == (other, 1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("programmer", "软件工程师"),
        ("low-sugar", "Low Sugar"),
        ("don’t know", "do not know"),
        ("無糖", "无糖"),
        ("程序员", "Programmer."),
    ],
)
def test_the_same_in_other_letters_is_the_same(one: str, other: str) -> None:
    """Letter case, width, script, contractions and the known names of one role make no other value."""
    (feature,) = after(turn(1, says("fact", one)), turn(2, says("fact", other))).values()
    assert (feature.value, feature.confidence) == (one, 2)


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("Milk", "milk ", True),
        ("apples", "apple", True),
        ("程序员", "软件工程师", True),
        ("蘋果", "苹果", True),
        ("DetailLevel", "detailLevel", True),
        ("C++", "C#", False),
        ("dinner", "diner", False),
        ("milk chocolate", "chocolate milk", False),
        ("coffee", "coffee shop", False),
        ("咖啡", "咖啡师", False),
        ("pet 1", "pet 2", False),
    ],
)
def test_a_slot_is_one_where_its_subject_is(one: str, other: str, is_one: bool) -> None:
    """letta-ai/letta#3397: one feature a label however it is spelled, and two subjects are never one label."""
    assert (subject_of(one) == subject_of(other)) is is_one
    assert len(after(turn(1, says(one, "a")), turn(2, says(other, "b")))) == (1 if is_one else 2)


def test_one_turn_counts_once() -> None:
    """A redelivery, another window over the same turn and another observer of it raise no confidence."""
    events = [turn(1, LOW), turn(1, LOW), wish(1, LOW), turn(2, LOW), turn(1, LOW), wish(2, LOW)]
    assert after(*events)["milk"].confidence == 2


def test_one_event_says_one_thing_of_a_slot() -> None:
    """The last word counts, and a redelivery does not take it back."""
    event = turn(1, LOW, NO)
    assert values(after(event, event)) == {"milk": "no sugar"}
    assert after(event)["milk"].history == []


def test_a_turn_counts_once_after_many_others() -> None:
    """Beyond the evidence that is kept, confidence goes on, and what is older than all of it counts nothing."""
    events = [turn(number, LOW) for number in range(1, MAX_SEEN + 11)]
    known = after(*events)
    assert known["milk"].confidence == MAX_SEEN + 10
    assert len(known["milk"].evidence) == MAX_SEEN
    for number in (1, 5, 11, MAX_SEEN):
        assert after(turn(number, LOW), known=[*known.values()]) == known


def test_a_late_event_never_overturns() -> None:
    """What was said before is heard of after: it goes to the history, or counts, and once."""
    known = after(turn(5, NO), turn(2, LOW), turn(2, LOW), turn(4, NO), turn(4, NO))
    assert values(known) == {"milk": "no sugar"}
    assert known["milk"].confidence == 2
    assert [earlier.value for earlier in known["milk"].history] == ["low sugar"]
    assert [seen.question_id for seen in known["milk"].evidence] == ["q4", "q5"]
    assert known["milk"].last_seen_time == NOW + timedelta(minutes=5)


def test_what_was_confirmed_since_is_later() -> None:
    """A value that was said again after another one was, stands, however late the other is heard of."""
    assert values(after(turn(1, NO), turn(6, NO), turn(3, LOW))) == {"milk": "no sugar"}


@pytest.mark.parametrize("source", ["MANUAL", "SYSTEM"])
def test_what_is_set_by_hand_is_not_overruled_by_a_chat(source: str) -> None:
    """Extraction neither overwrites nor deletes it, nor does a turn that is later; the same again counts."""
    by_hand = command(1, LOW, source=source)
    known = after(by_hand, turn(2, NO), turn(3, forgets("milk")), wish(4, NO))
    assert values(known) == {"milk": "low sugar"}
    assert (known["milk"].source, known["milk"].history) == (source, [])
    assert after(by_hand, turn(2, LOW))["milk"].confidence == 2
    assert merged([*known.values()], turn(5, NO)).skipped == [why.BY_HAND]


def test_a_hand_overrules_a_chat_and_an_earlier_hand() -> None:
    """Also where the chat is later; between two hands the later one counts."""
    assert values(after(turn(5, LOW), command(2, NO))) == {"milk": "no sugar"}
    assert values(after(command(1, LOW), command(2, NO, source="SYSTEM"))) == {"milk": "no sugar"}
    late = after(command(4, NO), turn(6, NO), command(2, LOW))
    assert values(late) == {"milk": "no sugar"}
    assert late["milk"].history == []
    assert values(after(command(4, NO), turn(6, NO), command(5, LOW))) == {"milk": "low sugar"}


def test_a_hand_may_take_a_chats_word_over() -> None:
    """The same value by hand is from then on set by hand."""
    known = after(turn(1, LOW), command(2, LOW), turn(3, NO))
    assert (values(known), known["milk"].source) == ({"milk": "low sugar"}, "MANUAL")
    assert known["milk"].confidence == 1


def test_an_edit_needs_the_version_that_was_read() -> None:
    """Where the feature has moved on, or is not there, nothing changes and the reason is given."""
    known = list(after(turn(1, LOW), turn(2, LOW)).values())
    edit = {"feature_id": known[0].feature_id, "value": "none", "slot": "milk"}
    stale = merged(known, command(3, says(**edit, version=1)))
    assert (stale.changed, stale.skipped) == ([], [why.MOVED_ON])
    fresh = merged(known, command(3, says(**edit, version=2)))
    assert ([feature.value for feature in fresh.changed], fresh.done) == (["none"], (known[0].feature_id, 3))
    unknown = merged(known, command(3, says("milk", "none", feature_id="12")))
    assert (unknown.changed, unknown.skipped) == ([], [why.UNKNOWN])
    by_slot = merged(known, command(3, says("tea", "none"), commandKind="EDIT_FEATURE"))
    assert (by_slot.changed, by_slot.skipped) == ([], [why.UNKNOWN])


def test_a_command_has_its_effect_once() -> None:
    """Delivered again after others it changes nothing, and is known by the version that it made."""
    commands = [command(1, LOW), command(2, NO), command(3, forgets("milk"))]
    known = after(*commands)
    assert known["milk"].status == "DELETED"
    for number, event in enumerate(commands, 1):
        again = merged([*known.values()], event)
        assert (again.changed, again.skipped, again.done) == ([], [why.HEARD], (known["milk"].feature_id, number))


def test_the_unknown_is_skipped_and_the_rest_applies() -> None:
    """mem0ai/mem0#3931: a change that names nothing known is counted, the others of its event are made."""
    outcome = merged([], turn(1, forgets("desk"), says("habit", "works by the window")))
    assert outcome.skipped == [why.UNKNOWN]
    assert [feature.value for feature in outcome.changed] == ["works by the window"]


@pytest.mark.parametrize("words", [" ", "。", "that", "everything", "the fact that I am", "我"])
def test_words_that_name_nothing_forget_nothing(words: str) -> None:
    """letta-ai/letta#1616: an empty wish never means everything."""
    known = list(after(turn(1, LOW, says("name", "Anna"), says("苹果", "不要酸的"))).values())
    assert merged(known, wish(2, forgets(words))).changed == []


def test_what_passes_the_size_is_refused_as_a_whole() -> None:
    """letta-ai/letta#1616: a value too long is no change, so that the stored one stays."""
    with pytest.raises(ValidationError):
        says("milk", "x" * (MAX_VALUE + 1))
    assert merged([], turn(1, says("milk", " \u200b"))).skipped == [why.EMPTY]


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("milk", {"milk"}),
        ("that I like carrots", {"carrots"}),
        ("I only buy low sugar milk", {"milk"}),
        ("my sister likes carrots", set()),
        ("apple juice", set()),
        ("Anna", {"name"}),
        ("the car", set()),
        ("我喜欢胡萝卜", {"胡萝卜"}),
        ("关于胡萝卜的事", {"胡萝卜"}),
        ("我妹妹喜欢胡萝卜", set()),
        ("我喜欢吃苹果", {"苹果"}),
        ("苹果汁", set()),
        ("my name", {"name"}),
    ],
)
def test_words_of_a_wish_mean_what_they_name(words: str, gone: set[str]) -> None:
    """By the slot, or by what the feature says; not what only shares a word with it."""
    known = [
        kept("milk", "low sugar", "I buy only low sugar milk"),
        kept("carrots", "likes", "I like carrots"),
        kept("apple", "not sour", "I like apples that are not sour"),
        kept("name", "Anna"),
        kept("hobby", "hiking", "I go hiking by car"),
        kept("胡萝卜", "喜欢", "我喜欢吃胡萝卜"),
        kept("苹果", "不要酸的"),
    ]
    outcome = merged(known, wish(1, forgets(words)))
    assert {feature.slot for feature in outcome.changed} == gone
    assert all(feature.status == "DELETED" for feature in outcome.changed)


def test_who_may_delete_what_is_set_by_hand() -> None:
    """The user's own word and a command may, a model's proposal may not."""
    known = list(after(command(1, LOW)).values())
    assert merged(known, wish(2, forgets("milk"))).changed[0].status == "DELETED"
    assert merged(known, command(2, forgets("milk"))).changed[0].status == "DELETED"
    assert merged(known, turn(2, forgets("milk"))).changed == []


def test_nothing_is_left_of_a_deleted_feature_but_its_mark() -> None:
    """Slot, times and a keyed hash: no value, sentence, quote or earlier value."""
    known = after(
        turn(1, LOW), turn(2, says("milk", "secret", "it is secret", quote="secret")), wish(3, forgets("milk"))
    )
    mark = known["milk"]
    assert (mark.value, mark.content, mark.evidence, mark.history, mark.heard) == ("", "", [], [], [])
    assert "secret" not in mark.model_dump_json()
    assert "q2" not in mark.model_dump_json()
    assert mark.deleted_hash
    other = merge([*after(turn(2, LOW)).values()], wish(3, forgets("milk")), now=NOW, stale=STALE, key="other")
    assert other.changed[0].deleted_hash != after(turn(2, LOW), wish(3, forgets("milk")))["milk"].deleted_hash


def test_the_deleted_is_learnt_again_from_a_new_statement_alone() -> None:
    """Not from the turn that deleted it, from no earlier one, and not in another slot; a later one brings it back."""
    low = says("milk", "low sugar", "I buy low sugar milk")
    forgotten = (turn(1, low), wish(4, forgets("milk")))
    for late in (turn(4, LOW), turn(2, LOW), turn(2, NO), turn(3, says("drink", "sweet", "I buy low-sugar milk."))):
        assert values(after(*forgotten, late)) == {}
    assert values(after(*forgotten, turn(2, says("tea", "green")))) == {"tea": "green"}
    known = after(*forgotten, turn(5, LOW))
    assert (values(known), known["milk"].confidence, known["milk"].history) == ({"milk": "low sugar"}, 1, [])
    assert after(wish(4, forgets("milk")), turn(1, LOW), known=[*known.values()]) == known


@pytest.mark.parametrize(("value", "carrots", "tea"), [("likes", "carrots", "tea"), ("喜欢", "胡萝卜", "茶")])
@pytest.mark.parametrize("sentence", ["", "{} it is"])
def test_the_deleted_takes_no_other_subject_with_it(value: str, carrots: str, tea: str, sentence: str) -> None:
    """An older word of something else that comes late is learnt, though the value is the same."""
    told, late = (says(slot, value, sentence.format(slot) if sentence else "") for slot in (carrots, tea))
    assert values(after(turn(1, told), wish(4, forgets(carrots)), turn(2, late))) == {tea: value}


LONG_AGO = NOW - timedelta(days=2000)


def imported(number: int, *changes: FeatureChange, days: int = 0, by: str = "feature-extraction") -> FeaturesObserved:
    """A turn of an old conversation, taken in so many minutes after the first turn, and said so many days later."""
    return turn(number, *changes, by=by, saidAt=LONG_AGO + timedelta(days=days), conversationId="old")


BERLIN, PARIS = says("city", "Berlin"), says("city", "Paris")


def test_what_was_said_long_ago_never_replaces_what_is_newer() -> None:
    """Whenever the old conversation is taken in; among old ones the later stands, and history is in their order."""
    known = after(turn(1, BERLIN), imported(5, PARIS))
    assert (values(known), [one.value for one in known["city"].history]) == ({"city": "Berlin"}, ["Paris"])
    assert known["city"].last_seen_time == NOW + timedelta(minutes=1)
    assert values(after(imported(5, PARIS), turn(1, BERLIN))) == {"city": "Berlin"}
    rome = says("city", "Rome")
    known = after(imported(5, PARIS, days=2), imported(6, rome), turn(1, BERLIN))
    assert [one.value for one in known["city"].history] == ["Rome", "Paris"]
    assert known["city"].record_time == NOW + timedelta(minutes=1)


def test_what_was_said_long_ago_is_as_old_as_that() -> None:
    """It is last seen then, it confirms no later value as new, and a time to come is that of the record."""
    city = after(imported(5, PARIS))["city"]
    assert (city.last_seen_time, city.record_time) == (LONG_AGO, NOW + timedelta(minutes=5))
    assert (city.said_at, city.evidence[0].said_at) == (LONG_AGO, LONG_AGO)
    assert values(after(imported(5, PARIS), imported(6, PARIS, days=1), imported(7, BERLIN))) == {"city": "Paris"}
    assert values(after(imported(1, PARIS, days=9999), turn(2, BERLIN))) == {"city": "Berlin"}


def test_what_was_said_long_ago_neither_brings_back_nor_takes_out() -> None:
    """A deletion stands against it, and a wish of then forgets nothing that is newer."""
    assert values(after(turn(1, PARIS), wish(2, forgets("city")), imported(5, PARIS))) == {}
    assert values(after(turn(1, PARIS), imported(5, forgets("city"), by="update-arbitration"))) == {"city": "Paris"}
    forgotten = (imported(4, PARIS), imported(5, forgets("city"), days=1, by="update-arbitration"))
    assert values(after(*forgotten, turn(1, PARIS))) == {"city": "Paris"}


def test_forgetting_twice_forgets_what_was_said_between() -> None:
    """The mark moves to the later wish, so that what is still in flight between the two is not learnt."""
    assert values(after(turn(1, LOW), wish(2, forgets("milk")), wish(6, forgets("milk")), turn(4, NO))) == {}


def test_one_wish_may_replace_what_it_forgets() -> None:
    """The old value leaves no trace, not in the history either; a redelivery changes nothing."""
    event = wish(2, forgets("low sugar milk"), NO)
    known = after(turn(1, LOW), event)
    assert (values(known), known["milk"].history) == ({"milk": "no sugar"}, [])
    assert merged([*known.values()], event).changed == []


def test_a_wish_forgets_what_its_own_turn_was_taken_to_say() -> None:
    """Where the extraction of the same turn came first, the user's word stands."""
    known = after(turn(1, LOW), turn(2, LOW), wish(2, forgets("milk")))
    assert values(known) == {}


def test_a_later_statement_outlives_an_earlier_wish() -> None:
    """A wish to forget that is heard of after what was said since changes nothing."""
    outcome = merged([*after(turn(1, LOW), turn(5, LOW)).values()], wish(3, forgets("milk")))
    assert (outcome.changed, outcome.skipped) == ([], [why.LATE])


def test_the_memory_is_bounded_and_says_what_leaves() -> None:
    """letta-ai/letta#3241: the least confident and longest unseen leave first, what was set by hand last."""
    by_hand = command(0, says("name", "Anna"))
    sure = [turn(number, says("city", "Leeds")) for number in (1, 2)]
    likes = [turn(number, says(f"like {number}", "likes it")) for number in range(3, 603)]
    known = after(by_hand, *sure, *likes)
    assert len(known) == MAX_FEATURES
    assert {"name", "city", "like 602", "like 105"} <= known.keys()
    assert "like 104" not in known
    outcome = merged([*known.values()], turn(700, says("one more", "likes it")))
    assert [feature.slot for feature in outcome.leaving] == ["like 105"]
    assert after(turn(3, says("like 3", "likes it")), known=[*known.values()]) == known


def test_a_full_memory_still_learns() -> None:
    """What was said last of all stays, though everything else was said twice; never at the cost of a hand's word."""
    twice = [kept(f"s{number}", "x", confidence=2) for number in range(MAX_FEATURES)]
    assert "new" in after(turn(1, says("new", "x")), known=twice)
    by_hand = [kept(f"s{number}", "x", source="MANUAL") for number in range(MAX_FEATURES)]
    outcome = merged(by_hand, turn(1, says("new", "x")))
    assert (outcome.changed, outcome.leaving, outcome.skipped) == ([], [], [why.FULL])


def test_marks_of_the_deleted_take_no_room() -> None:
    """They are bounded apart: the oldest leaves, and no feature for it."""
    marks = [kept(f"s{n}", "", status="DELETED", days=n / 1000) for n in range(MAX_FEATURES)]
    outcome = merged([*marks, kept("milk", "low sugar")], wish(9999, forgets("milk"), says("tea", "green")))
    assert [feature.slot for feature in outcome.leaving] == ["s0"]
    assert {feature.slot for feature in outcome.changed} == {"milk", "tea"}


def test_the_history_is_bounded() -> None:
    """The oldest values leave."""
    history = after(*(turn(n, says("mood", f"mood {n}")) for n in range(1, 2 * MAX_HISTORY)))["mood"].history
    assert len(history) == MAX_HISTORY
    assert history[-1].value == f"mood {2 * MAX_HISTORY - 2}"


def test_the_weekly_check_marks_and_lifts() -> None:
    """What was not said for long is stale until it holds or is said again; twice the same check changes nothing."""
    week = NOW + timedelta(days=100)
    stale, holds = check(week, says("milk", "", operation="STALE")), check(week, says("milk", "", operation="HOLDS"))
    known = [kept("milk", "low sugar")]
    assert after(stale, known=known)["milk"].status == "STALE"
    assert after(stale, turn(1, LOW, recordTime=week), known=known)["milk"].status == "ACTIVE"
    for events in ((holds, stale), (stale, holds), (stale, holds, stale, holds)):
        held = after(*events, known=known)["milk"]
        assert (held.status, held.last_seen_time, held.confidence) == ("ACTIVE", week, 1)
    once = after(stale, known=known)
    assert after(stale, known=[*once.values()]) == once


@pytest.mark.parametrize("changes", [{"source": "MANUAL"}, {"source": "SYSTEM"}, {"days": 20}, {"status": "DELETED"}])
def test_the_weekly_check_leaves_alone(changes: dict[str, Any]) -> None:
    """What was set by hand, what was said since, and what is deleted."""
    known = [kept("milk", "low sugar", **changes)]
    event = check(NOW + timedelta(days=100), says("milk", "", operation="STALE"))
    assert merged(known, event).changed == []


SLOTS = ["milk", "Milk", "apples", "apple", "苹果", "name", "detailLevel", "pet.dog", "$cost"]
VALUES = ["low sugar", "no sugar", "Low Sugar", "likes", "can't stand", "不要酸的", "2", "3"]
changes = st.one_of(
    st.builds(says, st.sampled_from(SLOTS), st.sampled_from(VALUES)),
    st.builds(forgets, st.sampled_from([*SLOTS, "that I like apples", "low sugar"])),
)
said_by = st.sampled_from([turn, wish, command])


@st.composite
def events(draw: st.DrawFn) -> FeaturesObserved:
    """A turn or a command. Several may be of one time, and one turn observed twice, but for what is to be forgotten.

    Some turns are of old conversations.
    """
    number, make = draw(st.integers(1, 12)), draw(said_by)
    said = draw(st.lists(changes, min_size=1, max_size=1 if make is command else 3))
    if any(change.operation == "FORGET" for change in said):
        return make(100 * number + (turn, wish, command).index(make), *said)
    minutes = timedelta(minutes=draw(st.integers(0, 12)) * 100 + 50)
    long_ago = draw(st.booleans()) and make is not command
    said_at = LONG_AGO + draw(st.integers(0, 3)) * timedelta(days=1) if long_ago else None
    return make(number, *said).model_copy(update={"record_time": NOW + minutes, "said_at": said_at})


def once_each(observed: list[FeaturesObserved]) -> list[FeaturesObserved]:
    return list({event.event_id: event for event in observed}.values())


QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(st.lists(events(), max_size=12).map(once_each), st.booleans(), st.data())
def test_a_replay_changes_nothing(observed: list[FeaturesObserved], is_late: bool, data: st.DataObject) -> None:
    """What is delivered again from some point on leaves the features as they are, also where others came late.

    Of late ones none forgets: what was in flight when it was to be forgotten is taken out by the second delivery.
    """
    if is_late:
        observed = [event for event in observed if all(one.operation == "OBSERVE" for one in event.changes)]
    else:
        observed = sorted(observed, key=lambda event: event.said_at or event.record_time)
    known = after(*observed)
    start = data.draw(st.integers(0, len(observed)))
    assert after(*observed, *observed[start:]) == known


@QUICK
@given(st.lists(events(), max_size=8).map(once_each), st.data())
def test_duplicates_in_any_order_count_once(observed: list[FeaturesObserved], data: st.DataObject) -> None:
    """Confidence is never more than the turns that said the value, however often and when each is delivered."""
    again = data.draw(st.lists(st.sampled_from(observed), max_size=8)) if observed else []
    order = data.draw(st.permutations([*observed, *again]))
    turns = {event.question_id for event in observed if event.question_id}
    for feature in after(*order).values():
        assert feature.confidence <= max(len(turns), 1) + 1
        assert len({seen.question_id for seen in feature.evidence}) == len(feature.evidence)


@QUICK
@given(st.lists(events(), max_size=25))
def test_the_bounds_hold_and_every_slot_is_one(observed: list[FeaturesObserved]) -> None:
    """What is written is valid, one feature a subject, and nothing is left of what was deleted."""
    features = list(after(*observed).values())
    for feature in features:
        assert UserFeature.model_validate_json(feature.to_json()) == feature
        assert (feature.value == "") == (feature.status == "DELETED")
    assert len({subject_of(feature.slot) for feature in features}) == len(features)


@QUICK
@given(st.lists(st.one_of(changes), max_size=8), st.integers(0, 9))
def test_a_hand_is_never_lost_to_a_chat(said: list[FeatureChange], start: int) -> None:
    """Whatever an extraction proposes, before and after: what was set by hand is there as it was set."""
    chats = [turn(start + number, change) for number, change in enumerate(said)]
    known = after(command(3, says("apples", "not sour")), *chats, known=[*after(*chats[:4]).values()])
    (apples,) = (feature for feature in known.values() if subject_of(feature.slot) == subject_of("apples"))
    assert (apples.value, apples.status) == ("not sour", "ACTIVE")
