"""The MongoDB store on a real server: keyed writes, order, bounds, outages."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from pipeline.adapters.embedded import Services
from pipeline.adapters.mongo import Database, MongoStore
from pipeline.errors import AlreadyStored, Outage, SettingsInvalid
from pipeline.ports import Wanted
from schemas.documents import Message
from schemas.events import DeadLetter
from schemas.role import TrackEntry
from schemas.wire import ConversationId, UserId
from tests.conftest import Names

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
C = ConversationId("c")


@pytest.fixture
async def store(services: Services, names: Names) -> AsyncIterator[MongoStore]:
    database = Database(services.mongo_url, names.database, patience=20)
    await database.prepare()
    yield MongoStore(database)
    await database.aclose()


def message(turn: int, *, role: str = "USER", **changes: Any) -> Message:
    fields = {
        "conversationId": "c",
        "messageId": f"{role}-{turn}",
        "userId": "u",
        "role": role,
        "text": f"{role} {turn}",
        "questionId": f"q{turn}",
        "turn": turn,
        "createTime": NOW + timedelta(minutes=turn),
        "event": "{}",
    }
    return Message.model_validate(fields | changes)


def entry(turn: int) -> TrackEntry:
    fields = {
        "userId": "u",
        "conversationId": "c",
        "questionId": f"q{turn}",
        "turn": turn,
        "userQuery": "hello",
        "decision": "SKIPPED",
        "identityDecision": "SKIPPED",
        "reason": "nothing to learn",
        "conversationAnalysis": {"confidenceScore": 0, "interactionCount": turn},
        "identifiedRole": {
            "possibleIdentities": [],
            "primaryCharacteristics": [],
            "evidenceSummary": [],
            "confidenceLevel": "LOW",
        },
        "communicationPreferences": {},
        "userOverview": "",
        "createTime": NOW,
    }
    return TrackEntry.model_validate(fields)


async def test_a_turn_is_taken_once(store: MongoStore) -> None:
    """Of many workers that number the same turn one succeeds: a conversation cannot fork."""

    async def take(number: int) -> bool:
        try:
            await store.add_message(message(1, messageId=f"m{number}"))
        except AlreadyStored:
            return False
        return True

    assert sum(await asyncio.gather(*(take(number) for number in range(10)))) == 1


async def test_a_question_is_stored_once_whatever_its_turn(store: MongoStore) -> None:
    """The same message under another turn is refused."""
    await store.add_message(message(1))
    with pytest.raises(AlreadyStored):
        await store.add_message(message(2, messageId="USER-1"))


async def test_ids_with_colons_do_not_collide(store: MongoStore) -> None:
    """The key is made so that no id can pose as another conversation's turn."""
    await store.add_message(message(1, conversationId="a"))
    await store.add_message(message(1, conversationId="a:1"))
    await store.add_message(message(11, conversationId="a:1:USER"))


async def test_messages_come_back_as_they_were_in_order(store: MongoStore) -> None:
    """Times, texts and roles survive; a turn's question stands before its answer; the limit keeps the last."""
    said = [message(turn, role=role) for turn in (1, 2, 3) for role in ("USER", "ASSISTANT")]
    for each in reversed(said):
        await store.add_message(each)
    await store.add_message(message(1, conversationId="other", text="not ours"))
    assert await store.messages(C, 3, 100) == said
    assert await store.messages(C, 2, 3) == said[1:4]
    assert await store.questions(C, 3, 10) == ["USER 1", "USER 2"]
    assert await store.questions(C, 3, 1) == ["USER 2"]
    assert await store.questions(C, 3, 0) == []
    assert await store.question_at(C, 3) == said[4]
    assert await store.message(C, "ASSISTANT-2") == said[3]
    assert await store.message(C, "nobody") is None


async def test_context_reaches_back_over_failed_answers_and_turns_without_one(store: MongoStore) -> None:
    """The limit counts what was said: a failed answer is passed over, and a turn that is only logged has a question."""
    for turn in (1, 2, 3, 4):
        await store.add_message(message(turn))
    await store.add_message(message(1, role="ASSISTANT"))
    await store.add_message(message(3, role="ASSISTANT", status="failed"))
    kept = [(said.turn, said.role) for said in await store.messages(C, 4, 5)]
    assert kept == [(1, "USER"), (1, "ASSISTANT"), (2, "USER"), (3, "USER"), (4, "USER")]


async def test_the_log_is_read_by_turns_with_all_that_there_is(store: MongoStore) -> None:
    """Whole turns, failed answers among them, each question before its answer; a long log costs no more."""
    said = [message(turn, role=role) for turn in (1, 2, 3) for role in ("USER", "ASSISTANT")]
    said[3] = message(2, role="ASSISTANT", status="failed")
    for each in reversed(said):
        await store.add_message(each)
    assert await store.log(C, 4, 100) == said
    assert await store.log(C, 3, 1) == said[2:4]
    assert await store.log(C, 1, 10) == []


async def test_first_questions_are_found_for_many_conversations_at_once(store: MongoStore) -> None:
    """Where there is none, nothing is said of the conversation."""
    for name in ("a", "b"):
        await store.add_message(message(1, conversationId=name, text=f"I am {name}"))
    await store.add_message(message(1, conversationId="a", role="ASSISTANT"))
    await store.add_message(message(2, conversationId="c"))
    found = await store.first_questions([ConversationId(name) for name in ("a", "b", "c", "d")])
    assert found == {"a": "I am a", "b": "I am b"}
    assert await store.first_questions([]) == {}


async def test_the_track_is_read_forwards(store: MongoStore) -> None:
    """After a turn, oldest first, over gaps, no more than the limit."""
    for turn in (4, 1, 2, 9):
        await store.add_entry(entry(turn))
    assert [found.turn for found in await store.track_after(C, 0, 2)] == [1, 2]
    assert [found.turn for found in await store.track_after(C, 2, 100)] == [4, 9]
    assert await store.track_after(C, 9, 100) == []


async def test_conversations_are_listed_of_some_users_or_of_all(store: MongoStore) -> None:
    """The last active first; read on from one of them none is lost or told twice, though all are of one moment."""
    whose = {"a": "u", "b": "v", "c": "u", "d": "w", "e": "u"}
    for name, user in whose.items():
        await store.touch_conversation(message(1, conversationId=name, userId=user))
    await store.touch_conversation(message(2, conversationId="b", userId="v"))

    async def names(*users: str, **where: Any) -> str:
        wanted = [UserId(user) for user in users] or None
        found = await store.conversations_of(wanted, where.pop("before", None), where.pop("limit", 100), **where)
        return "".join(conversation.conversation_id for conversation in found)

    first, second = NOW + timedelta(minutes=2), NOW + timedelta(minutes=1)
    assert await names() == "bedca"
    assert await names("u", "v") == "beca"
    assert await names("nobody") == ""
    assert await names(limit=2) == "be"
    assert await names(before=first) == "edca"
    assert await names(before=first, before_id="b") == "edca"
    assert await names(before=second, before_id="d") == "ca"
    assert await names(before=second, before_id="d", limit=1) == "c"
    assert await names("u", before=second, before_id="e") == "ca"
    assert await names(before=second) == ""


async def test_the_last_entries_are_found_over_a_gap(store: MongoStore) -> None:
    """A turn whose extraction became a dead letter left no entry: the one before it is what the next goes on from."""
    for turn in (1, 2, 4):
        await store.add_entry(entry(turn))
    assert [found.turn for found in await store.last_entries(C, 4)] == [4, 2]
    assert [found.turn for found in await store.last_entries(C, 3)] == [2]
    assert [found.turn for found in await store.last_entries(C, 7)] == [4]
    assert [found.turn for found in await store.last_entries(C, 1)] == [1]


async def test_touching_a_conversation_never_moves_it_back(store: MongoStore) -> None:
    """A late replay of an old turn changes neither the count nor the last activity, nor whose it is."""
    await store.touch_conversation(message(2))
    await store.touch_conversation(message(1, userId="thief"))
    conversation = await store.conversation(C)
    assert conversation is not None
    assert (conversation.turn_count, conversation.user_id) == (2, "u")
    assert conversation.last_active_time == NOW + timedelta(minutes=2)


async def test_the_first_guided_turn_is_noted_once(store: MongoStore) -> None:
    """Under scope ONCE a later note does not overwrite the first."""
    await store.touch_conversation(message(1))
    for turn in (1, 2):
        await store.note_guided(C, turn)
    conversation = await store.conversation(C)
    assert conversation is not None
    assert conversation.guided_turn == 1


async def test_a_dead_letter_is_stored_once(store: MongoStore, services: Services, names: Names) -> None:
    """A redelivered failure leaves one document, with the source's own bytes."""
    letter = DeadLetter(
        processor="p",
        source_topic="questions",
        source_partition=0,
        source_offset=1,
        exception="BadEvent",
        message="no",
        record_time=NOW,
        create_time=NOW,
        key=b"\x00k",
        value=b"\xff\x00",
        headers=[("h", b"v")],
    )
    for _ in range(2):
        await store.add_dead_letter(letter)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(services.mongo_url)
    (document,) = await client[names.database]["dead_letters"].find().to_list(None)
    client.close()
    assert (document["key"], document["value"], document["headers"]) == (b"\x00k", b"\xff\x00", [["h", b"v"]])
    assert await store.dead_letters(Wanted(letter_ids=["another", letter.letter_id]), None) == [letter]
    await store.add_dead_letter(letter.model_copy(update={"processor": "summary"}))
    await store.remove_dead_letters("questions", 0, 2)
    assert len(await store.dead_letters(Wanted(), None)) == 2
    for _ in range(2):
        await store.remove_dead_letters("questions", 0, 1)
    assert await store.dead_letters(Wanted(), None) == []


async def test_preparing_twice_is_harmless(services: Services, names: Names) -> None:
    """Every worker that starts prepares the indexes."""
    database = Database(services.mongo_url, names.database, patience=20)
    await database.prepare()
    await database.prepare()
    await database.aclose()


async def test_an_outage_is_told_when_the_patience_is_over(names: Names) -> None:
    """A command does not wait for ever for a database that is not there."""
    database = Database("mongodb://127.0.0.1:1", names.database, patience=0)
    with pytest.raises(Outage, match="MongoDB cannot be reached"):
        await MongoStore(database).ping()
    await database.aclose()


async def test_a_wrong_url_names_the_setting() -> None:
    """A misspelt connection string is an error of the settings and no outage."""
    with pytest.raises(SettingsInvalid, match="ROLESTREAM_MONGO__URL"):
        Database("mongo:/nowhere", "d")
