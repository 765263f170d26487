"""The profile is what is active, the newest of each, and nothing else."""

from datetime import timedelta

from pipeline.domain.profile import MAX_PREFERENCES, render_profile, with_left
from schemas.features import MAX_HISTORY, UserFeature, UserProfile
from schemas.wire import UserId
from tests.domain.features import kept
from tests.processors.factories import NOW

U = UserId("u")


def rendered(*features: UserFeature, previous: UserProfile | None = None) -> UserProfile:
    profile = render_profile(U, features, previous, NOW)
    assert profile is not None
    return profile


def liked(slot: str, value: str, *, days: float = 0) -> UserFeature:
    return kept(slot, value, category="PREFERENCE", days=days)


def test_skill_target_and_preferences_have_their_places() -> None:
    """Reserved slots fill their fields, what is preferred the map, and other facts none."""
    profile = rendered(
        kept("skill", "new to Go"),
        kept("target", "a shop with Gin and GORM"),
        liked("milk", "low sugar"),
        kept("detailLevel", "CONCISE"),
        kept("city", "Leeds", category="PERSONAL_INFO"),
    )
    assert (profile.skill, profile.target) == ("new to Go", "a shop with Gin and GORM")
    assert profile.preferences == {"milk": "low sugar", "detailLevel": "CONCISE"}


def test_a_skill_is_no_preference() -> None:
    """Whatever category it comes with."""
    profile = rendered(liked("skill", "expert"), liked("target", "a marathon"))
    assert (profile.skill, profile.target, profile.preferences) == ("expert", "a marathon", {})


def test_the_stale_and_the_deleted_are_not_in_it() -> None:
    """A fact that is not told any more is in no profile either."""
    profile = rendered(
        kept("skill", "expert", status="STALE"), kept("milk", "", status="DELETED"), liked("tea", "green")
    )
    assert (profile.skill, profile.preferences) == ("", {"tea": "green"})


def test_what_says_nothing_of_a_field_leaves_it() -> None:
    """langchain-ai/langmem#36: a fact more fills its own field and clears no other."""
    before = rendered(kept("skill", "expert"), liked("milk", "low sugar"))
    features = (kept("skill", "expert"), liked("milk", "low sugar"), liked("age band", "40s", days=1))
    after = rendered(*features, previous=before)
    assert after.skill == "expert"
    assert after.preferences == {"milk": "low sugar", "age band": "40s"}
    assert after.record_time == NOW + timedelta(days=1)


def test_the_same_again_is_the_same_profile() -> None:
    """Nothing is written where nothing has changed, and nothing at all of a user of whom nothing is known."""
    before = rendered(liked("milk", "low sugar"))
    assert render_profile(U, [liked("milk", "low sugar")], before, NOW + timedelta(days=1)) is before
    assert render_profile(U, [], None, NOW) is None
    emptied = render_profile(U, [], before, NOW + timedelta(days=1))
    assert emptied is not None
    assert emptied.preferences == {}
    assert render_profile(U, [], emptied, NOW + timedelta(days=2)) is emptied


def test_the_preferences_are_bounded() -> None:
    """letta-ai/letta#3241: those set by hand stay, then the surest, then the newest."""
    likes = [liked(f"like {number}", "likes it", days=number / 1000) for number in range(2 * MAX_PREFERENCES)]
    sure, by_hand = liked("tea", "green"), liked("milk", "low sugar")
    sure = sure.model_copy(update={"confidence": 2})
    by_hand = by_hand.model_copy(update={"source": "MANUAL"})
    preferences = rendered(*likes, sure, by_hand).preferences
    assert len(preferences) == MAX_PREFERENCES
    assert {"tea", "milk", f"like {2 * MAX_PREFERENCES - 1}"} <= preferences.keys()
    assert "like 0" not in preferences


def test_what_left_for_want_of_room_is_noted_once() -> None:
    """letta-ai/letta#3241: the slots of the last that left stand in the profile, without their values."""
    profile, leaving = rendered(liked("tea", "green")), [kept("milk", "low sugar"), kept("old", "", status="DELETED")]
    noted = with_left(profile, leaving)
    assert [left.slot for left in noted.left] == ["milk"]
    assert with_left(noted, leaving) is noted
    assert rendered(liked("tea", "black", days=1), previous=noted).left == noted.left
    many = with_left(noted, [kept(f"s{number}", "x") for number in range(2 * MAX_HISTORY)])
    assert [left.slot for left in many.left][-1] == f"s{2 * MAX_HISTORY - 1}"
    assert len(many.left) == MAX_HISTORY
