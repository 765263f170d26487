"""What is forgotten stays so: by whom, what is left of it, and what was said before or long ago."""

from datetime import timedelta

import pytest

from pipeline.domain import features as why
from pipeline.domain.features import merge
from schemas.features import FeatureChange
from tests.domain.features import (
    LONG_AGO,
    LOW,
    NO,
    STALE,
    after,
    command,
    forgets,
    imported,
    kept,
    merged,
    says,
    turn,
    values,
    wish,
)
from tests.processors.factories import NOW


@pytest.mark.parametrize("words", [" ", "。", "that", "everything", "the fact that I am", "我"])
def test_words_that_name_nothing_forget_nothing(words: str) -> None:
    """letta-ai/letta#1616: an empty wish never means everything."""
    known = list(after(turn(1, LOW, says("name", "Anna"), says("苹果", "不要酸的"))).values())
    assert merged(known, wish(2, forgets(words))).changed == []


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


@pytest.mark.parametrize(
    ("deleted", "old"),
    [
        (says("squash", "loves", "The user loves squash."), says("favourite sport", "Squash")),
        (says("squash", "loves"), says("最喜欢的运动", "壁球")),
        (says("hobby", "chess"), says("chess", "likes")),
        (says("最喜欢的水果", "芒果"), says("芒果", "喜欢")),
    ],
)
def test_an_old_message_about_the_deleted_thing_teaches_nothing(deleted: FeatureChange, old: FeatureChange) -> None:
    """Whatever it says that the user does about it; another thing, and a later message, do."""
    known = [*after(turn(1, deleted), command(2, forgets(deleted.slot))).values()]
    assert values(after(imported(3, old), known=known)) == {}
    assert values(after(imported(3, says("favourite sport", "tennis")), known=known)) == {"favourite sport": "tennis"}
    assert list(values(after(turn(3, old), known=known)).values()) == [old.value]
