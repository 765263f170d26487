"""Tombstones on a real server: what is covered, what is removed, and what stays."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from pipeline.adapters.embedded import Services as Embedded
from pipeline.adapters.mongo import Database, MongoTombstones
from pipeline.adapters.mongo.export import held_about
from pipeline.ports import Origin
from schemas.events import DeadLetter
from schemas.features import Seen, UserFeature, UserProfile
from schemas.wire import ConversationId, QuestionId, UserId
from tests.conftest import Names
from tests.processors.factories import NOW, Crash, Here, database_of, said

U = UserId("u")
BEFORE, AFTER = NOW - timedelta(milliseconds=1), NOW + timedelta(milliseconds=1)
ALL = ("conversations", "messages", "extractions", "role_tracks", "user_features", "user_profiles", "dead_letters")


@pytest.fixture
async def here(services: Embedded, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as prepared:
        yield prepared


def seen(conversation: str = "c", question: str = "q1", *, at: datetime = NOW) -> Seen:
    return Seen(
        conversation_id=ConversationId(conversation),
        question_id=QuestionId(question),
        quote="low sugar",
        record_time=at,
    )


def feature(slot: str, *evidence: Seen, **changes: Any) -> UserFeature:
    fields = {
        "featureId": f"{slot}-id",
        "userId": "u",
        "slot": slot,
        "value": "low sugar",
        "content": "only low sugar",
        "category": "OTHER",
        "source": "CHAT_EXTRACT",
        "sourceConversationId": evidence[0].conversation_id if evidence else None,
        "evidence": list(evidence),
        "createTime": NOW - timedelta(days=1),
        "updateTime": NOW,
        "lastSeenTime": NOW,
        "recordTime": max((item.record_time for item in evidence), default=NOW),
    }
    return UserFeature.model_validate(fields | changes)


def profile(**changes: Any) -> UserProfile:
    return UserProfile.model_validate({"userId": "u", "updateTime": NOW, "recordTime": NOW} | changes)


def letter(offset: int, **changes: Any) -> DeadLetter:
    fields = {
        "processor": "p",
        "sourceTopic": "questions",
        "sourcePartition": 0,
        "sourceOffset": offset,
        "exception": "BadEvent",
        "message": "wrong",
        "recordTime": AFTER,
        "createTime": AFTER,
        "questionTime": NOW,
        "value": b"what was said",
    }
    return DeadLetter.model_validate(fields | changes)


async def features_left(here: Here) -> dict[str, UserFeature]:
    return {kept.slot: kept for kept in await here.features.features(U)}


@pytest.mark.parametrize(
    ("marked", "asked", "covered"),
    [
        (Origin("u", None, NOW), Origin("u", "c", NOW), True),
        (Origin("u", None, NOW), Origin("u", None, BEFORE), True),
        (Origin("u", None, NOW), Origin("u", "c", AFTER), False),
        (Origin("u", None, NOW), Origin("u", "c", None), True),
        (Origin("u", None, NOW), Origin("v", "c", NOW), False),
        (Origin("u", None, NOW), Origin(None, None, NOW), False),
        (Origin("u", "c", NOW), Origin("u", "c", NOW), True),
        (Origin("u", "c", NOW), Origin("u", "d", NOW), False),
        (Origin("u", "c", NOW), Origin("u", None, NOW), False),
        (Origin("u", "c", NOW), Origin("v", "c", NOW), False),
        (Origin("u", "c", NOW), Origin(None, "c", NOW), True),
        (Origin("u", None, NOW), Origin(None, "c", NOW), True),
        (Origin("u:c", None, NOW), Origin("u", "c", NOW), False),
        (
            Origin("u", None, NOW + timedelta(microseconds=900)),
            Origin("u", None, NOW + timedelta(microseconds=950)),
            True,
        ),
    ],
)
async def test_what_is_covered(here: Here, marked: Origin, asked: Origin, *, covered: bool) -> None:
    """The user's, or the one conversation of theirs, up to the time to the millisecond; nobody else's."""
    message = said(1, "hello")
    await here.store.touch_conversation(message)
    await here.tombstones.add(marked)
    assert await here.tombstones.covers(asked) is covered


async def test_a_tombstone_tells_nobody_who_it_is_for_and_never_goes_back_in_time(here: Here) -> None:
    """It holds a keyed hash and a time, the latest."""
    await here.tombstones.add(Origin("ada", None, NOW))
    await here.tombstones.add(Origin("ada", None, BEFORE))
    (stone,) = await here.database["tombstones"].find().to_list(None)
    assert set(stone) == {"_id", "hash", "time", "removed"}
    assert stone["time"] == NOW
    assert "ada" not in str(stone)


async def test_many_that_ask_at_once_are_told_each_its_own(here: Here) -> None:
    """More than one read looks up; nobody hears of another's tombstone."""
    await here.tombstones.add(Origin("u7", None, NOW))
    told = await asyncio.gather(*(here.tombstones.covers(Origin(f"u{number}", "c", NOW)) for number in range(500)))
    assert [number for number, covered in enumerate(told) if covered] == [7]


async def test_nothing_is_erased_that_no_tombstone_covers(here: Here) -> None:
    """Without one, and of what was asked later, everything stays."""
    await here.logged(1)
    assert await here.tombstones.erase(Origin("u", "c", NOW)) == {}
    await here.tombstones.add(Origin("u", None, BEFORE))
    assert set((await here.tombstones.erase(Origin("u", "c", NOW))).values()) == {0}
    assert len(await here.documents("messages")) == 1


async def test_what_went_is_counted_whoever_removed_it_until_it_is_forgotten_again(here: Here) -> None:
    """What was removed for a record in flight is in the count as well."""
    await here.logged(1)
    origin = Origin("u", None, NOW)
    await here.tombstones.add(origin)
    await here.tombstones.erase(Origin("u", "c", NOW))
    assert set((await here.tombstones.erase(origin)).values()) == {0}
    assert (await here.tombstones.removed(origin))["messages"] == 1
    await here.tombstones.add(Origin("u", None, AFTER))
    assert await here.tombstones.removed(origin) == {}


async def test_documents_of_an_older_version_carry_no_time_and_go(here: Here) -> None:
    """What was written before record times were kept is older than any tombstone."""
    await here.logged(1)
    await here.database["messages"].update_many({}, {"$unset": {"recordTime": 1}})
    await here.database["conversations"].update_many({}, {"$set": {"lastRecordTime": None}})
    await here.tombstones.add(Origin("u", None, NOW))
    removed = await here.tombstones.erase(Origin("u", None, NOW))
    assert (removed["messages"], removed["conversations"]) == (1, 1)


async def test_dead_letters_go_by_the_time_of_their_question(here: Here) -> None:
    """Also those whose record is later, and those that name no user in a conversation of theirs; nobody else's."""
    await here.logged(1)
    theirs = (letter(1, userId="u", conversationId="c"), letter(2, conversationId="c"))
    others = (letter(3, userId="v", conversationId="d"), letter(4, userId="u", questionTime=AFTER), letter(5))
    for each in (*theirs, *others):
        await here.store.add_dead_letter(each)
    await here.tombstones.add(Origin("u", None, NOW))
    assert (await here.tombstones.erase(Origin("u", None, NOW)))["dead_letters"] == len(theirs)
    left = await here.database["dead_letters"].find().to_list(None)
    assert sorted(document["sourceOffset"] for document in left) == [3, 4, 5]


async def test_unreadable_dead_letters_go_with_the_user_whom_they_name(
    here: Here, services: Embedded, names: Names
) -> None:
    """By their key or in their text, where they say nobody else's to be; later ones stay, and an export tells both."""
    theirs = (
        letter(1, key=b"ada"),
        letter(2, value=b'{"userId": "ada", "text": "cut o'),
        letter(3, value=b"userId=ada"),
        letter(4, sourceTopic="commands", key=b"ada", userId="v", value=b'{"userId": "v", "kind": "FORGET_USER"}'),
    )
    others = (
        letter(5, value=b"adam said so"),
        letter(6, userId="v", value=b'{"userId": "v", "text": ["ada"]}'),
        letter(7, value=b"userId=ada", questionTime=AFTER),
        letter(8, key=b"ada", userId="v", value=b'{"userId": "v", "text": ""}'),
    )
    for each in (*theirs, *others):
        await here.store.add_dead_letter(each)
    database = Database(services.mongo_url, names.database, patience=20)
    held = (await held_about(database, "ada"))["deadLetters"]
    await database.aclose()
    assert held == [f"p:{one.source_topic}:0:{one.source_offset}" for one in (theirs[3], *theirs[:3], others[2])]
    ada = Origin("ada", None, NOW)
    await here.tombstones.add(ada)
    assert (await here.tombstones.erase(ada))["dead_letters"] == len(theirs)
    left = await here.database["dead_letters"].find().to_list(None)
    assert sorted(document["sourceOffset"] for document in left) == [5, 6, 7, 8]


async def test_a_conversation_that_goes_on_keeps_no_summary_of_what_is_forgotten(here: Here) -> None:
    """A question that was asked after the command, and logged before it, stays; the summary goes."""
    await here.logged(1)
    late = said(2, "and now?", recordTime=AFTER)
    await here.store.add_message(late)
    await here.store.touch_conversation(late)
    await here.database["conversations"].update_many({}, {"$set": {"summary": {"target": "old"}, "guidedTurn": 1}})
    await here.tombstones.add(Origin("u", None, NOW))
    await here.tombstones.erase(Origin("u", None, NOW))
    (conversation,) = await here.documents("conversations")
    assert (conversation["summary"], conversation["guidedTurn"], conversation["turnCount"]) == (None, None, 2)
    assert [message["turn"] for message in await here.documents("messages")] == [2]


async def test_what_one_had_who_owned_a_conversation_before_gives_way(here: Here) -> None:
    """A late write of a forgotten user is removed for the one who has opened the conversation since."""
    await here.store.touch_conversation(said(1, "hello"))
    await here.tombstones.add(Origin("u", "c", NOW))
    await here.tombstones.erase(Origin("u", "c", NOW))
    await here.store.add_message(said(1, "late"))
    await here.tombstones.erase(Origin("v", "c", AFTER))
    assert await here.documents("messages") == []


async def test_what_another_user_asked_in_a_forgotten_conversation_stays(here: Here) -> None:
    """Refused, or logged once the conversation was gone: only what names the forgetting user, or nobody, goes."""
    await here.logged(1)
    for each in (letter(1, userId="v", conversationId="c"), letter(2, conversationId="c")):
        await here.store.add_dead_letter(each)
    await here.tombstones.add(Origin("u", "c", NOW))
    await here.store.add_message(said(2, "mine", userId="v"))
    for _ in range(2):
        await here.tombstones.erase(Origin("u", "c", NOW))
    assert [letter["sourceOffset"] for letter in await here.database["dead_letters"].find().to_list(None)] == [1]
    assert [message["userId"] for message in await here.documents("messages")] == ["v"]


async def test_a_feature_keeps_what_other_conversations_taught(here: Here) -> None:
    """Evidence, confidence, history and words of the forgotten conversation go; what was set by hand stays."""
    old = {"value": "full fat", "source": "CHAT_EXTRACT", "until": NOW, "reason": "replaced"}
    history = [old | {"conversationId": "c"}, old | {"conversationId": "d"}]
    stay = seen("d", "q2")
    await here.features.add_feature(feature("milk", seen("c"), stay, confidence=2, history=history))
    await here.features.add_feature(feature("tea", seen("c"), source="MANUAL"))
    await here.features.add_feature(feature("bread", seen("c")))
    await here.features.add_feature(feature("rice", stay))
    await here.features.put_profile(profile())
    await here.tombstones.add(Origin("u", "c", NOW))
    assert (await here.tombstones.erase(Origin("u", "c", NOW)))["user_features"] == 3
    left = await features_left(here)
    assert set(left) == {"milk", "tea", "rice"}
    milk = left["milk"]
    assert (milk.evidence, milk.confidence, milk.version) == ([stay], 1, 2)
    assert [earlier.conversation_id for earlier in milk.history] == ["d"]
    assert (milk.source_conversation_id, milk.content) == ("d", "low sugar")
    assert (left["tea"].value, left["tea"].evidence) == ("low sugar", [])
    assert left["rice"].version == 1
    assert await here.documents("user_profiles") == []
    assert (await here.tombstones.erase(Origin("u", "c", NOW)))["user_features"] == 0


async def test_of_a_forgotten_user_a_feature_keeps_what_was_said_since(here: Here) -> None:
    """A statement that was merged with an older one, in flight, stays alone."""
    since = seen("d", "q2", at=AFTER)
    await here.features.add_feature(feature("milk", seen("c"), since, confidence=2))
    await here.features.add_feature(feature("bread", seen("c")))
    await here.features.add_feature(feature("rice", since, createTime=AFTER))
    await here.tombstones.add(Origin("u", None, NOW))
    assert (await here.tombstones.erase(Origin("u", None, NOW)))["user_features"] == 2
    left = await features_left(here)
    assert set(left) == {"milk", "rice"}
    assert (left["milk"].evidence, left["milk"].confidence) == ([since], 1)
    assert (await here.tombstones.erase(Origin("u", None, NOW)))["user_features"] == 0


async def test_erasing_at_once_loses_nothing_that_was_written_before(here: Here) -> None:
    """Each of many that erase beside one another finds its own write gone."""
    await here.tombstones.add(Origin("u", None, NOW))

    async def write_late(number: int) -> bool:
        message = said(number, "late", conversationId=f"c{number}")
        await here.store.add_message(message)
        await here.store.touch_conversation(message)
        await here.tombstones.erase(Origin("u", f"c{number}", NOW))
        return await here.store.message(ConversationId(f"c{number}"), message.message_id) is None

    assert all(await asyncio.gather(*(write_late(number) for number in range(1, 60))))
    assert [await here.documents(name) for name in ALL] == [[]] * len(ALL)


class Dying(Database):
    """A database whose worker ends before anything is removed."""

    async def remove(self, collection: str, query: Mapping[str, Any]) -> int:
        raise Crash


async def test_a_crash_on_the_way_leaves_nothing_that_the_next_does_not_remove(
    here: Here, services: Embedded, names: Names
) -> None:
    """The summary goes before the messages that tell whose it is, and the second erasure removes the rest."""
    await here.logged(1)
    late = said(2, "and now?", recordTime=AFTER)
    await here.store.add_message(late)
    await here.store.touch_conversation(late)
    await here.database["conversations"].update_many({}, {"$set": {"summary": {"target": "old"}, "guidedTurn": 1}})
    await here.tombstones.add(Origin("u", None, NOW))
    dying = Dying(services.mongo_url, names.database, patience=20)
    with pytest.raises(Crash):
        await MongoTombstones(dying, "key").erase(Origin("u", None, NOW))
    await dying.aclose()
    (conversation,) = await here.documents("conversations")
    assert (conversation["summary"], conversation["guidedTurn"], conversation["epoch"]) == (None, None, 1)
    assert (await here.tombstones.erase(Origin("u", None, NOW)))["messages"] == 1


async def test_a_new_owners_track_stays_where_a_late_write_of_the_old_one_goes(here: Here) -> None:
    """What is forgotten of one who had the conversation before tells nothing of who has it now."""
    await here.tombstones.add(Origin("u", None, NOW))
    await here.store.touch_conversation(said(1, "hello", userId="v"))
    await here.database["role_tracks"].insert_one({"conversationId": "c", "userId": "v", "turn": 1, "since": 1})
    await here.store.add_message(said(2, "late"))
    await here.tombstones.erase(Origin("u", "c", NOW))
    assert len(await here.documents("role_tracks")) == 1
    assert "epoch" not in (await here.documents("conversations"))[0]
