"""Merging what is observed: nothing twice, nothing lost, nothing that was set by hand overruled."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.domain import features as why
from schemas.features import MAX_FEATURES, MAX_HISTORY, MAX_SEEN, MAX_VALUE
from tests.domain.features import LOW, NO, after, check, command, forgets, kept, merged, says, turn, values, wish
from tests.processors.factories import NOW


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
    ("before", "ended", "now"),
    [("works as a nurse", "not nurse", "runs a bakery"), ("护士", "不是护士", "开面包店")],
)
def test_what_a_turn_ends_gives_way_to_what_it_says_instead(before: str, ended: str, now: str) -> None:
    """Whichever of the two comes first, and once; another value of the same turn changes nothing then."""
    was, end, new = turn(1, says("job", before)), wish(2, says("job", ended)), turn(2, says("job", now))
    for events in ((end, new), (end, new, end, new), (new, end)):
        (feature,) = after(was, *events).values()
        assert (feature.value, feature.confidence) == (now, 1)
    (feature,) = after(was, end, new, turn(2, says("job", "keeps goats"))).values()
    assert feature.value == now
    (feature,) = after(was, end, turn(3, says("job", ended)), turn(2, says("job", now))).values()
    assert feature.value == ended
    (feature,) = after(wish(2, says("apples", "not sour")), turn(2, says("apples", "sweet"))).values()
    assert feature.value == "not sour"


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


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_switch_that_was_cut_short_is_whole_once_it_is_delivered_again(done: int) -> None:
    """However many of its writes a worker lived to do, the new fact holds alone, and its history is kept."""
    said = {"quote": "I switched to coffee"}
    known = list(after(turn(1, says("tea", "drinks every day"))).values())
    event = turn(2, forgets("tea", **said), says("coffee", "drinks", **said))
    changed = merged(known, event).changed
    assert len(changed) == 2
    cut_short = {feature.slot: feature for feature in (*known, *changed[:done])}
    whole = after(event, known=list(cut_short.values()))
    assert values(whole) == {"coffee": "drinks"}
    assert [earlier.value for earlier in whole["coffee"].history] == ["drinks every day"]


def test_the_unknown_is_skipped_and_the_rest_applies() -> None:
    """mem0ai/mem0#3931: a change that names nothing known is counted, the others of its event are made."""
    outcome = merged([], turn(1, forgets("desk"), says("habit", "works by the window")))
    assert outcome.skipped == [why.UNKNOWN]
    assert [feature.value for feature in outcome.changed] == ["works by the window"]


def test_what_passes_the_size_is_refused_as_a_whole() -> None:
    """letta-ai/letta#1616: a value too long is no change, so that the stored one stays."""
    with pytest.raises(ValidationError):
        says("milk", "x" * (MAX_VALUE + 1))
    assert merged([], turn(1, says("milk", " \u200b"))).skipped == [why.EMPTY]


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


def test_what_takes_the_place_of_another_has_its_history() -> None:
    """By the words that give the one up for the other, once; what goes by other words leaves none."""
    tea = kept("drink tea", "usually drinks tea")
    switch = turn(1, says("coffee", "switched", quote="tea to coffee"), forgets("drink tea", quote="tea to coffee"))
    known = after(switch, switch, known=[tea])
    assert values(known) == {"coffee": "switched"}
    assert [earlier.value for earlier in known["coffee"].history] == ["usually drinks tea"]
    apart = after(turn(1, says("coffee", "likes", quote="coffee"), forgets("drink tea", quote="no tea")), known=[tea])
    assert apart["coffee"].history == []
