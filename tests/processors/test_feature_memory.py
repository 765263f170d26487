"""Feature memory: one writer of features and profiles, whatever comes twice, at once, or while others write."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from pipeline.adapters.embedded import Services
from pipeline.errors import RolestreamError
from pipeline.ports import FeatureStore
from pipeline.processing import Output
from pipeline.processing import Services as Worker
from pipeline.processors.feature_memory import check_stale, handle
from schemas.features import MAX_FEATURES, FeatureChange, UserFeature, UserProfile
from schemas.memory_events import CommandDone, FeaturesObserved
from schemas.wire import UserId
from tests.conftest import Names
from tests.domain.features import LOW, NO, command, forgets, kept, says, turn, wish
from tests.processors.factories import FAILS, NOW, Crash, Here, crash, database_of, meddled, only, record

FEATURES = record("features")
U = UserId("u")


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


async def merged(here: Here, *events: FeaturesObserved) -> Sequence[Output]:
    """What comes of the last of the events."""
    outputs: Sequence[Output] = []
    for event in events:
        outputs = await handle(event, FEATURES, here.worker())
    return outputs


async def known(here: Here) -> dict[str, UserFeature]:
    return {feature.slot: feature for feature in await here.features.features(U)}


async def values(here: Here) -> dict[str, str]:
    return {slot: feature.value for slot, feature in (await known(here)).items() if feature.status == "ACTIVE"}


async def profile(here: Here) -> UserProfile:
    found = await here.features.profile(U)
    assert found is not None
    return found


def interrupted(worker: Worker, **before: Any) -> Worker:
    """A worker of whose feature store some methods are preceded, once, by something else."""
    store = meddled(cast(Any, worker.features), **before)
    return replace(worker, features=cast(FeatureStore, store))


async def test_features_and_their_profile_are_written(here: Here) -> None:
    """A turn's facts are features, what is preferred is in the profile, and no event comes of it."""
    preference = says("milk", "low sugar", "buys low sugar milk", category="PREFERENCE", quote="only low sugar")
    assert await merged(here, turn(1, preference, says("skill", "new to Go"))) == []
    milk = (await known(here))["milk"]
    assert (milk.value, milk.category, milk.source, milk.version) == ("low sugar", "PREFERENCE", "CHAT_EXTRACT", 1)
    assert [(seen.conversation_id, seen.question_id, seen.quote) for seen in milk.evidence] == [
        ("c", "q1", "only low sugar")
    ]
    assert (await profile(here)).skill == "new to Go"
    assert (await profile(here)).preferences == {"milk": "low sugar"}


async def test_a_redelivery_writes_nothing(here: Here) -> None:
    """The documents are the same to the field, the times of the database's own included."""
    events = [
        turn(1, says("skill", "new"), LOW),
        turn(2, NO),
        wish(3, forgets("skill")),
        command(4, says("tea", "green")),
    ]
    await merged(here, *events)
    before = [await here.documents(name) for name in ("user_features", "user_profiles")]
    await merged(here, *events)
    assert [await here.documents(name) for name in ("user_features", "user_profiles")] == before


async def test_what_another_worker_wrote_meanwhile_is_not_lost(here: Here) -> None:
    """A write on a version that has moved on is merged anew, onto what is there now."""

    async def another() -> None:
        await merged(here, turn(2, LOW, says("tea", "green")))

    await merged(here, turn(1, LOW))
    await handle(turn(3, LOW), FEATURES, interrupted(here.worker(), replace_feature=another))
    assert (await known(here))["milk"].confidence == 3
    await handle(
        turn(5, says("city", "Leeds")),
        FEATURES,
        interrupted(here.worker(), add_feature=lambda: merged(here, turn(4, says("city", "York")))),
    )
    city = (await known(here))["city"]
    assert (city.value, [earlier.value for earlier in city.history]) == ("Leeds", ["York"])


async def test_a_profile_that_was_overtaken_is_rendered_anew(here: Here) -> None:
    """Another worker's features and profile, written just before the older profile is, are not undone by it."""

    async def another() -> None:
        await merged(here, turn(2, says("skill", "expert")))

    await handle(turn(1, says("target", "a shop")), FEATURES, interrupted(here.worker(), put_profile=another))
    assert ((await profile(here)).skill, (await profile(here)).target) == ("expert", "a shop")


async def test_two_workers_at_once_count_every_turn_once(here: Here) -> None:
    """Each of ten turns is delivered to two workers at the same time."""
    await asyncio.gather(*(handle(turn(number % 10 + 1, LOW), FEATURES, here.worker()) for number in range(20)))
    milk = (await known(here))["milk"]
    assert (milk.confidence, len(milk.evidence)) == (10, 10)


async def test_whoever_never_gets_to_write_says_so(here: Here) -> None:
    """The record is a dead letter, and no endless loop."""

    class Contended:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.features, name)

        async def replace_feature(self, feature: UserFeature, version: int) -> bool:
            return False

    await merged(here, turn(1, LOW))
    with pytest.raises(RolestreamError, match="written by others"):
        await handle(turn(2, LOW), FEATURES, replace(here.worker(), features=cast(FeatureStore, Contended())))


@pytest.mark.parametrize("before", ["add_feature", "replace_feature", "put_profile"])
async def test_a_crash_between_writes_is_made_good(here: Here, before: str) -> None:
    """The next delivery does what is missing: every feature and the profile, and nothing twice."""
    await merged(here, turn(1, LOW))
    event = turn(2, LOW, says("skill", "expert"))
    with pytest.raises(Crash):
        await handle(event, FEATURES, interrupted(here.worker(), **{before: crash}))
    await merged(here, event)
    assert (await known(here))["milk"].confidence == 2
    assert (await profile(here)).skill == "expert"


async def test_names_with_dots_and_dollars_are_safe(here: Here) -> None:
    """They come back as they were, out of the database's documents, too."""
    slots = ["node.js", "$cost", "a.b.$c", "$ref", "$id", ".net", "$$", "x_1: y"]
    await merged(here, turn(1, *(says(slot, "likes", category="PREFERENCE") for slot in slots)))
    assert set((await profile(here)).preferences) == set(slots)
    assert set(await known(here)) == set(slots)
    await merged(here, turn(2, says("$ref", "hates", category="PREFERENCE")))
    assert (await profile(here)).preferences["$ref"] == "hates"
    (document,) = await here.documents("user_profiles")
    assert not any("." in name or "$" in name for name in document["preferences"])


async def test_two_users_may_share_every_name(here: Here) -> None:
    """Whatever ids and slots are made of, no two features have one key."""
    await merged(here, turn(1, says("b", "x"), userId="u:a"), turn(1, says("a b", "y"), userId="u"))
    await merged(here, turn(1, says("a:b", "z"), userId="u"))
    assert {document["value"] for document in await here.documents("user_features")} == {"x", "y", "z"}


async def test_a_forgotten_feature_leaves_the_profile(here: Here) -> None:
    """A deletion clears its field, and no other."""
    await merged(here, turn(1, says("skill", "new"), says("target", "a shop")), wish(2, forgets("skill")))
    assert ((await profile(here)).skill, (await profile(here)).target) == ("", "a shop")


async def test_a_command_is_answered_the_same_each_time(here: Here) -> None:
    """Added, edited and deleted: the receipt names the feature and its version, whatever has come since."""
    feature_id = "milk"
    first = only(await merged(here, command(1, LOW, commandKind="ADD_FEATURE")), CommandDone)
    feature_id = (await known(here))["milk"].feature_id
    assert (first.kind, first.status, first.feature_id, first.version) == ("ADD_FEATURE", "done", feature_id, 1)
    edit = command(2, says("milk", "none", feature_id=feature_id, version=1))
    delete = command(3, forgets("milk"))
    receipts = [only(await merged(here, event), CommandDone) for event in (edit, delete)]
    assert [(receipt.kind, receipt.status, receipt.version) for receipt in receipts] == [
        ("EDIT_FEATURE", "done", 2),
        ("DELETE_FEATURE", "done", 3),
    ]
    assert [only(await merged(here, event), CommandDone) for event in (edit, delete)] == receipts


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (command(5, says("milk", "x", feature_id="12")), "there is no such feature"),
        (command(5, says("tea", "x"), commandKind="EDIT_FEATURE"), "there is no such feature"),
        (command(5, forgets("tea")), "there is no such feature"),
        (command(5, says("milk", "x", version=7)), "the feature has moved on: read it again"),
        (command(5, forgets("milk", version=7)), "the feature has moved on: read it again"),
        (command(1, says("milk", "x")), "something later is known"),
    ],
)
async def test_a_refused_command_says_why(here: Here, event: FeaturesObserved, reason: str) -> None:
    """In plain words, and the value stays."""
    await merged(here, command(3, LOW))
    receipt = only(await merged(here, event), CommandDone)
    assert (receipt.status, receipt.reason, receipt.feature_id) == ("refused", reason, None)
    assert await values(here) == {"milk": "low sugar"}


async def test_what_is_skipped_is_counted_without_a_word_of_it(here: Here, caplog: pytest.LogCaptureFixture) -> None:
    """mem0ai/mem0#3931: how many changes and why, no text; the other changes of the event are made."""
    caplog.set_level(logging.INFO)
    await merged(here, turn(1, forgets("secret desk"), says("habit", "works by the window")))
    assert [
        (entry.__dict__["reason"], entry.__dict__["count"]) for entry in caplog.records if "reason" in entry.__dict__
    ] == [("there is no such feature", 1)]
    assert "secret" not in caplog.text
    assert await values(here) == {"habit": "works by the window"}


async def test_who_leaves_for_want_of_room_is_noted(here: Here, caplog: pytest.LogCaptureFixture) -> None:
    """letta-ai/letta#3241: the bound holds in the database, the log counts and the profile names who left."""
    for number in range(MAX_FEATURES):
        await here.features.add_feature(kept(f"like {number}", "likes it", days=number / MAX_FEATURES))
    late = turn(2000, says("one more", "likes it"))
    with pytest.raises(Crash):
        await handle(late, FEATURES, interrupted(here.worker(), add_feature=crash))
    await merged(here, late, late)
    assert len(await known(here)) == MAX_FEATURES
    assert [left.slot for left in (await profile(here)).left] == ["like 0"]
    assert any(entry.__dict__.get("action") == "features_left" for entry in caplog.records)


async def test_a_feature_of_a_newer_version_is_read(here: Here) -> None:
    """A field that we do not know does not stop the merge."""
    await merged(here, turn(1, LOW))
    await here.database["user_features"].update_many({}, {"$set": {"fromTheFuture": 1}})
    await merged(here, turn(2, NO))
    assert await values(here) == {"milk": "no sugar"}


def long_ago(slot: str, **changes: Any) -> UserFeature:
    return kept(slot, "x", **{"days": -100, **changes})


async def test_the_weekly_check_asks_what_still_holds(here: Here) -> None:
    """What the model says holds is as good as said again, the rest is stale and no part of the profile."""
    for feature in (long_ago("milk", category="PREFERENCE"), long_ago("city"), kept("tea", "green", days=-1)):
        await here.features.add_feature(feature)
    here.model.script = [{"holds": ["City", "unknown", 7]}]
    (event,) = await check_stale(here.worker())
    assert [feature.slot for feature in here.model.looked_at[0][0]] == ["city", "milk"]
    assert here.model.looked_at[0][1] == 90
    assert (event.observed_by, event.record_time) == ("weekly-check", datetime(2026, 4, 27, tzinfo=NOW.tzinfo))
    await merged(here, event, event)
    features = await known(here)
    assert {slot: feature.status for slot, feature in features.items()} == {
        "city": "ACTIVE",
        "milk": "STALE",
        "tea": "ACTIVE",
    }
    assert (await profile(here)).preferences == {}
    assert await check_stale(here.worker()) == []


async def test_two_workers_check_one_week_once(here: Here) -> None:
    """Their events are one and the same, and where their models disagree what holds stays."""
    await here.features.add_feature(long_ago("milk"))
    here.model.script = [{"holds": []}, {"holds": []}, {"holds": ["milk"]}]
    (one,), (other,), (third,) = [await check_stale(here.worker()) for _ in range(3)]
    assert one == other
    assert one.event_id == third.event_id
    for event in (one, third, other):
        await merged(here, event)
    assert (await known(here))["milk"].status == "ACTIVE"
    assert (await known(here))["milk"].version == 3


async def test_what_is_set_by_hand_is_never_looked_at(here: Here) -> None:
    """Nor what is deleted, or stale already."""
    for feature in (
        long_ago("a", source="MANUAL"),
        long_ago("b", source="SYSTEM"),
        long_ago("c", status="STALE"),
        long_ago("d", status="DELETED"),
    ):
        await here.features.add_feature(feature)
    assert await check_stale(here.worker()) == []


@pytest.mark.parametrize("trouble", [FAILS, "no object", {}, {"holds": "milk"}])
async def test_a_model_that_fails_leaves_a_user_for_the_next_time(here: Here, trouble: Any) -> None:
    """So does a reply that cannot be read: the others are looked at, and nothing of the one goes stale unasked."""
    for user in ("a", "b"):
        await here.features.add_feature(long_ago("milk", userId=user, featureId=f"{user}:milk"))
    here.model.script = [trouble, {"holds": []}, {"holds": []}, {"holds": []}]
    assert [event.user_id for event in await check_stale(here.worker())] == ["b"]
    assert [event.user_id for event in await check_stale(here.worker())] == ["a", "b"]


async def test_users_who_always_fail_starve_nobody(here: Here, caplog: pytest.LogCaptureFixture) -> None:
    """Though they fill a whole look, the next ones come in their place; one line tells of the round."""
    for number in range(4):
        await here.features.add_feature(long_ago(f"s{number}", userId="ab"[number % 2], days=-200))
    await here.features.add_feature(long_ago("milk", userId="c"))
    here.model.script = [FAILS, FAILS, {"holds": []}]
    assert [event.user_id for event in await check_stale(here.worker(), limit=4)] == ["c"]
    assert [entry.__dict__["count"] for entry in caplog.records if entry.levelno >= logging.WARNING] == [2]


async def test_a_round_ends_where_the_model_is_away(here: Here) -> None:
    """No more users are tried than it would have looked at features."""
    for user in "abcdef":
        await here.features.add_feature(long_ago("milk", userId=user, featureId=f"{user}:milk"))
    here.model.script = [FAILS, FAILS, FAILS]
    assert await check_stale(here.worker(), limit=3) == []


async def test_what_is_said_again_is_active_again(here: Here) -> None:
    """A stale feature that a later turn confirms, or replaces, is in the profile once more."""
    await here.features.add_feature(long_ago("milk", status="STALE", category="PREFERENCE"))
    later: FeatureChange = says("milk", "x", category="PREFERENCE")
    await merged(here, turn(1, later, recordTime=NOW + timedelta(days=1)))
    assert (await profile(here)).preferences == {"milk": "x"}
