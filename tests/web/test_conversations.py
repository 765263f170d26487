"""The list of conversations, the talk, the track, and what is believed now."""

import json
from datetime import timedelta

import httpx
import pytest

from schemas.wire import ConversationId
from tests.web.calling import calling, key
from tests.web.world import NOW, World, of

MEMORY = "/api/user/memory"


async def pages(client: httpx.AsyncClient, url: str) -> list[list[dict[str, object]]]:
    """Every page of a list, as its Link headers lead."""
    found = []
    while url:
        answer = await client.get(url)
        found.append(of(answer))
        url = answer.links.get("next", {}).get("url", "")
    return found


async def test_the_talk_is_given_oldest_first_with_what_became_of_it(world: World) -> None:
    """Each turn's question before its answer, with the ids, the cost of the call, and a failed answer as failed."""
    await world.asked("u", "c", 1, "I am a nurse")
    await world.answered("u", "c", 1)
    await world.asked("u", "c", 2, "and now?")
    await world.answered("u", "c", 2, text="", status="failed", reason="the model is away")
    async with calling(world.app()) as client:
        told = of(await client.get(f"{MEMORY}/conversation?session_id=c"))
    assert [(one["messageType"], one["text"], one["metadata"]["status"]) for one in told] == [
        ("USER", "I am a nurse", "ok"),
        ("ASSISTANT", "Wash your hands.", "ok"),
        ("USER", "and now?", "ok"),
        ("ASSISTANT", "", "failed"),
    ]
    assert (told[0]["media"], told[1]["toolCalls"]) == ([], [])
    assert told[0]["metadata"] == {
        "messageId": "c-q1",
        "questionId": "c-q1",
        "turn": 1,
        "createTime": "2026-05-01T12:01:00Z",
        "status": "ok",
        "cost": None,
    }
    assert told[1]["metadata"]["cost"]["promptTokens"] == 7


async def test_the_answer_of_a_clients_own_model_cost_nothing_here(world: World) -> None:
    """It was published by the client, and no event is kept of it."""
    await world.asked("u", "c", 1)
    await world.answered("u", "c", 1)
    await world.here.database["messages"].update_one({"_id": "c:1:ASSISTANT"}, {"$set": {"event": None}})
    async with calling(world.app()) as client:
        _, answer = of(await client.get(f"{MEMORY}/conversation?session_id=c"))
    assert (answer["text"], answer["metadata"]["cost"]) == ("Wash your hands.", None)


async def test_the_session_is_the_default_one_where_none_is_named(world: World) -> None:
    """`session_id` is `__default__`."""
    await world.asked("u", "__default__", 1)
    async with calling(world.app()) as client:
        assert len(of(await client.get(f"{MEMORY}/conversation"))) == 1
        assert of(await client.get(f"{MEMORY}/latest")) is None
        assert of(await client.get(f"{MEMORY}/guidance")) is None
        assert of(await client.get(f"{MEMORY}/summary")) is None


async def test_a_long_talk_is_read_from_its_end_page_by_page(world: World) -> None:
    """The newest turns first, no turn split, none left out, and no next page after the first turn."""
    for turn in range(1, 6):
        await world.asked("u", "c", turn)
    await world.answered("u", "c", 3)
    async with calling(world.app()) as client:
        found = await pages(client, f"{MEMORY}/conversation?session_id=c&limit=2")
    turns = [[one["metadata"]["turn"] for one in page] for page in found]  # type: ignore[index]
    assert turns == [[4, 5], [2, 3, 3], [1]]


async def test_the_track_is_given_oldest_first_page_by_page(world: World) -> None:
    """Each item holds the document as JSON without the events kept in it; a turn without an entry is passed over."""
    await world.asked("u", "c", 4)
    for turn in (1, 2, 4):
        await world.learnt("u", "c", turn)
    async with calling(world.app()) as client:
        first, second = await pages(client, f"{MEMORY}/track?session_id=c&user_id=u&limit=2")
        latest = of(await client.get(f"{MEMORY}/latest?session_id=c"))
    assert [one["metadata"]["turn"] for one in first] == [1, 2]  # type: ignore[index]
    assert second == [latest]
    assert latest["messageType"] == "SYSTEM"
    assert latest["metadata"] == {
        "turn": 4,
        "questionId": "c-q4",
        "decision": "UPDATE",
        "createTime": "2026-05-01T12:04:00Z",
        "updateTime": None,
        "cost": {"model": "fake", "calls": 1, "promptTokens": 7, "completionTokens": 3, "milliseconds": 20},
    }
    document = json.loads(latest["text"])
    assert document["identities"][0]["name"] == "nurse"
    assert "event" not in document
    assert "observed" not in document


async def test_what_was_erased_is_believed_no_more(world: World) -> None:
    """An entry that a late delivery leaves behind after the role was erased is shown nowhere."""
    await world.asked("u", "c", 1)
    await world.here.store.erase_role(ConversationId("c"), 1)
    await world.learnt("u", "c", 1)
    async with calling(world.app()) as client:
        assert of(await client.get(f"{MEMORY}/track?session_id=c")) == []
        assert of(await client.get(f"{MEMORY}/latest?session_id=c")) is None
        assert of(await client.get(f"{MEMORY}/guidance?session_id=c")) is None


async def test_guidance_and_summary_are_given_as_they_are_stored(world: World) -> None:
    """What the last answer was told, and where the conversation stands."""
    await world.talked("u", turns=2)
    async with calling(world.app()) as client:
        guidance = of(await client.get(f"{MEMORY}/guidance?session_id=u-talk"))
        summary = of(await client.get(f"{MEMORY}/summary?session_id=u-talk"))
    assert (guidance["turn"], guidance["text"]) == (2, "The user is a nurse.")
    assert (summary["target"], summary["nextStep"], summary["turn"]) == ("to nurse", "", 2)


async def test_conversations_are_listed_the_last_active_first(world: World) -> None:
    """Of the key's users alone, with the start of the first question; none of one moment is lost between pages."""
    await world.asked("u", "old", 1, "What is\n a   fork? " + "x" * 100)
    for name in ("a", "b", "c"):
        await world.asked("u", name, 1, createTime=NOW + timedelta(hours=1))
    await world.asked("v", "new", 1, createTime=NOW + timedelta(hours=2))
    await world.asked("thief", "hidden", 1)
    app = world.app(key("k" * 16, "read", users=["u", "v"]), key("a" * 16, "read"))
    async with calling(app, bearer="k" * 16) as client:
        listed = await pages(client, "/api/conversations?limit=2")
        of_one = of(await client.get("/api/conversations?user_id=v"))
    async with calling(app, bearer="a" * 16) as client:
        all_of_them = of(await client.get("/api/conversations"))
    names = [[one["conversationId"] for one in page] for page in listed]
    assert names == [["new", "c"], ["b", "a"], ["old"]]
    (old,) = listed[2]
    assert old["title"] == "What is a fork? " + "x" * 64
    assert (old["turnCount"], old["userId"], old["lastActiveTime"]) == (1, "u", "2026-05-01T12:01:00Z")
    assert [one["conversationId"] for one in of_one] == ["new"]
    assert len(all_of_them) == 6


@pytest.mark.parametrize("route", ["conversation", "track", "latest", "guidance", "summary"])
async def test_a_conversation_is_found_for_its_own_user_alone(world: World, route: str) -> None:
    """For another user that the key is bound to as well it does not exist, nor for a user that it is not bound to."""
    await world.talked("u")
    app = world.app(key("k" * 16, "read", users=["u", "v"]), key("o" * 16, "read", users=["v"]))
    url = f"{MEMORY}/{route}?session_id=u-talk"
    async with calling(app, bearer="k" * 16) as client:
        assert (await client.get(url)).status_code == 200
        assert (await client.get(f"{MEMORY}/{route}?session_id=none")).status_code == 404
        if route != "conversation":
            assert (await client.get(f"{url}&user_id=v")).json()["message"] == "there is no such conversation"
            assert (await client.get(f"{url}&user_id=w")).json()["message"] == "there is no such user"
    async with calling(app, bearer="o" * 16) as client:
        assert (await client.get(url)).json()["message"] == "there is no such conversation"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("session_id=", "query.session_id"),
        ("session_id=%00", "query.session_id"),
        ("session_id=a%0Ab", "query.session_id"),
        ("session_id=%20c", "query.session_id"),
        ("session_id=" + "x" * 10_000, "query.session_id"),
        ("user_id=%7f", "query.user_id"),
        ("limit=0", "query.limit"),
        ("limit=1001", "query.limit"),
        ("limit=1e3", "query.limit"),
        ("limit=" + "9" * 5000, "query.limit"),
        ("after=-1", "query.after"),
        ("after=2147483648", "query.after"),
        ("after=99999999999999999999999999", "query.after"),
    ],
)
async def test_odd_input_is_told_by_its_field(world: World, query: str, field: str) -> None:
    """What cannot be an id or a cursor is 422 and named, before anything is looked up."""
    async with calling(world.app()) as client:
        answer = await client.get(f"{MEMORY}/track?{query}")
    assert answer.status_code == 422
    assert [wrong["field"] for wrong in answer.json()["data"]] == [field]


async def test_half_a_character_is_no_reason_to_fail(world: World) -> None:
    """Bytes that are no UTF-8 name a conversation that is not there."""
    async with calling(world.app()) as client:
        answer = await client.get(f"{MEMORY}/track?session_id=%ED%A0%80")
    assert answer.status_code == 404
