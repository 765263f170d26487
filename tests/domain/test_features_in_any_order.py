"""Whatever is observed, in whatever order and however often: replays, bounds, and the word of a hand."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.domain.slots import subject_of
from schemas.features import FeatureChange, UserFeature
from schemas.memory_events import FeaturesObserved
from tests.domain.features import LONG_AGO, after, command, forgets, says, turn, wish
from tests.processors.factories import NOW

SLOTS = ["milk", "Milk", "apples", "apple", "苹果", "name", "detailLevel", "pet.dog", "$cost", "photos", "printer"]

VALUES = ["low sugar", "no sugar", "Low Sugar", "likes", "can't stand", "不要酸的", "2", "3"]
# One fact under two names.
TOLD = [("photos", "cannot be printed on my printer"), ("printer", "has no way to print pictures")]

changes = st.one_of(
    st.builds(says, st.sampled_from(SLOTS), st.sampled_from(VALUES)),
    st.sampled_from(TOLD).map(lambda told: says(*told)),
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
