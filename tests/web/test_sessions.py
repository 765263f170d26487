"""A session id is a user's own: a key asks, reads, lists and forgets, and cannot tell which names others have."""

import asyncio
import json
import re
from typing import Any

import httpx

from schemas.events import QuestionAsked
from tests.processors.factories import guidance, turn
from tests.web.calling import calling, key
from tests.web.test_questions import events_in
from tests.web.world import NOW, World, is_heard, of

M = "/api/user/memory"
ADA, BOB, BOTH, ALL = "key-of-ada-alone", "key-of-bob-alone", "key-of-ada-and-bob", "key-of-all-users"
NAMES = ("ward", "loft")
"""Ada has a conversation of the first name, nobody one of the second."""


def app_of(world: World) -> Any:
    keys = {ADA: ["ada"], BOB: ["bob"], BOTH: ["ada", "bob"], ALL: None}
    return world.app(*(key(secret, "read", "write", users=users) for secret, users in keys.items()))


async def ask(client: httpx.AsyncClient, world: World, name: str, **whose: str) -> QuestionAsked:
    """The question that is published for one; who asks is told the name that they gave."""
    told = await client.post("/api/questions", json={"text": "I am a nurse", "conversationId": name} | whose)
    assert of(told)["conversationId"] == name
    asked = world.worker.published[-1]
    assert isinstance(asked, QuestionAsked)
    return asked


async def taken(world: World, stored: str, user: str, turns: int = 1) -> None:
    """The turns of a conversation as the processors leave them, and a feature that was learnt in it."""
    for number in range(1, turns + 1):
        await world.asked(user, stored, number, questionId=f"q{number}", messageId=f"q{number}")
        await world.answered(user, stored, number, questionId=f"q{number}")
        await world.learnt(user, stored, number, questionId=f"q{number}")
    await world.knows(user, "milk", "none")
    seen = {"conversationId": stored, "questionId": "q1", "quote": "no milk", "recordTime": NOW}
    change = {"$set": {"sourceConversationId": stored, "evidence": [seen]}}
    await world.here.database["user_features"].update_one({"userId": user}, change)


async def all_that_is_told(client: httpx.AsyncClient, world: World, name: str, stored: str) -> list[Any]:
    """The status, headers and body of every read, of the stream, and of what is changed and forgotten last."""
    here = {"session_id": name}
    told = [await client.get("/api/conversations"), await client.get(f"{M}/list")]
    cursor = {"before": of(told[0])[0]["lastActiveTime"], "before_id": f"{name}!"}
    told.append(await client.get("/api/conversations", params=cursor))
    for route in ("conversation", "track", "latest", "guidance", "summary"):
        told.append(await client.get(f"{M}/{route}", params=here))
        told.append(await client.get(f"{M}/{route}", params=here | {"user_id": "bob"}))
    told += [await client.get(f"/api/answers/{question}", params=here) for question in ("q1", "q9")]
    streaming = asyncio.create_task(client.get("/api/events", params=here | {"within": "1"}))
    while not is_heard(world.hub):
        await asyncio.sleep(0)
    for user in ("ada", "bob"):
        world.hub.hear(turn(2, conversationId=stored, userId=user))
        world.hub.hear(guidance(2, conversation_id=stored, user_id=user))
    told.append(await streaming)
    told.append(await client.post(f"{M}/correct", params=here, json={"identities": ["baker"]}))
    told.append(await client.post(f"{M}/delete", params=here))
    told.append(await client.post(f"{M}/forget", params=here))
    told.append(await client.get(f"{M}/conversation", params=here))
    return [(one.status_code, one.text, sorted(one.headers)) for one in told]


async def test_a_name_that_is_taken_serves_as_one_that_is_free(world: World) -> None:
    """All that a key is told of its conversation is the same, but for what is made anew each time; ada's stays."""
    await world.talked("ada")
    await taken(world, "ward", "ada")
    before = await theirs(world)
    told = {}
    async with calling(app_of(world), bearer=BOB) as client:
        for name in NAMES:
            asked = await ask(client, world, name)
            assert (asked.user_id, asked.conversation_id == name) == ("bob", False)
            await taken(world, asked.conversation_id, "bob")
            found = await all_that_is_told(client, world, name, asked.conversation_id)
            assert turn(2, conversationId=name, userId="bob").event_id in json.dumps(found)
            told[name] = [without_ids(json.dumps(one).replace(name, "NAME")) for one in found]
            await world.here.database["user_features"].delete_many({"userId": "bob"})
    assert told["ward"] == told["loft"]
    assert await theirs(world) == before


async def theirs(world: World) -> list[Any]:
    return [one for one in await world.here.documents("conversations") if one["userId"] == "ada"]


def without_ids(text: str) -> str:
    """The same for every command: ids and times are anew with each."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)


async def test_a_name_with_no_room_for_more_is_refused_be_it_taken_or_not(world: World) -> None:
    """422 names the field and the length; a conversation of one's own goes on under whatever name it has."""
    for user in ("ada", "bob"):
        await taken(world, user[0] * 200, user)
    async with calling(app_of(world), bearer=BOB) as client:
        for name in ("a" * 200, "c" * 200):
            answer = await client.post("/api/questions", json={"text": "hello", "conversationId": name})
            assert (answer.status_code, answer.json()["data"]) == (
                422,
                [{"field": "body.conversationId", "message": "take at most 175 characters"}],
            )
        assert (await ask(client, world, "b" * 200)).conversation_id == "b" * 200
        assert len((await ask(client, world, "c" * 175)).conversation_id) == 200


async def test_the_default_conversation_is_each_users_own(world: World) -> None:
    """Two keys that name none have one each, whoever asks first."""
    app = app_of(world)
    for secret, user in ((ADA, "ada"), (BOB, "bob")):
        async with calling(app, bearer=secret) as client:
            told = of(await client.post("/api/questions", json={"text": "hello"}))
            assert told["conversationId"] == "__default__"
            await taken(world, world.worker.published[-1].conversation_id, user)  # type: ignore[attr-defined]
    for secret, user in ((ADA, "ada"), (BOB, "bob")):
        async with calling(app, bearer=secret) as client:
            (entry,) = of(await client.get(f"{M}/track"))
            document = json.loads(entry["text"])
            assert (document["userId"], document["conversationId"]) == (user, "__default__")


async def test_a_key_of_several_users_says_whose(world: World) -> None:
    """Where two of its users have a conversation of one name, every route takes the user that is named."""
    await taken(world, "ward", "ada")
    async with calling(app_of(world), bearer=BOTH) as client:
        asked = await ask(client, world, "ward", userId="bob")
        await taken(world, asked.conversation_id, "bob")
        listed = of(await client.get("/api/conversations"))
        assert sorted((one["conversationId"], one["userId"]) for one in listed) == [("ward", "ada"), ("ward", "bob")]
        for route in ("conversation", "track", "latest", "guidance", "summary"):
            answer = await client.get(f"{M}/{route}?session_id=ward")
            assert (answer.status_code, answer.json()["data"][0]["field"]) == (422, "query.user_id")
        for route in ("delete", "forget"):
            assert (await client.post(f"{M}/{route}?session_id=ward")).status_code == 422
        for user in ("ada", "bob"):
            here = {"session_id": "ward", "user_id": user}
            assert json.loads(of(await client.get(f"{M}/latest", params=here))["text"])["userId"] == user
            assert of(await client.get("/api/answers/q1", params=here))["userId"] == user
            assert (await client.get(f"{M}/conversation", params=here)).status_code == 200
            reading = asyncio.create_task(client.get("/api/events", params=here | {"within": "1"}))
            while not is_heard(world.hub):
                await asyncio.sleep(0)
            for name, owner in (("ward", "ada"), (asked.conversation_id, "bob")):
                world.hub.hear(turn(2, conversationId=name, userId=owner))
            told = [json.loads(event["data"])["userId"] for event in events_in((await reading).text)]
            assert told == [user]
        erased = of(await client.post(f"{M}/delete", params={"session_id": "ward", "user_id": "bob"}))
        assert (erased["userId"], erased["conversationId"]) == ("bob", "ward")
        assert of(await client.get(f"{M}/latest", params={"session_id": "ward", "user_id": "ada"})) is not None


async def test_a_list_goes_on_after_a_name_of_two_users(world: World) -> None:
    """Page by page each conversation comes once, be their times and names the same."""
    await world.asked("bob", "yard-1", createTime=NOW)
    async with calling(app_of(world), bearer=BOTH) as client:
        for name in ("ward", "yard"):
            await world.asked("ada", name, createTime=NOW)
            asked = await ask(client, world, name, userId="bob")
            await world.asked("bob", asked.conversation_id, createTime=NOW)
        url, seen = "/api/conversations?limit=1", []
        while url:
            page = await client.get(url)
            seen += [(one["conversationId"], one["userId"]) for one in of(page)]
            url = page.links.get("next", {}).get("url", "")
    bobs = [("yard", "bob"), ("yard-1", "bob"), ("ward", "bob")]
    assert [one for one in seen if one[1] == "bob"] == bobs
    assert sorted(seen) == sorted([*bobs, ("yard", "ada"), ("ward", "ada")])


async def test_what_a_user_has_is_gone_on_with(world: World) -> None:
    """Be it begun with a key, which what is begun elsewhere later does not change, or elsewhere, as over Kafka."""
    await taken(world, "attic", "bob")
    async with calling(app_of(world), bearer=BOB) as client:
        assert (await ask(client, world, "attic")).conversation_id == "attic"
        first = await ask(client, world, "ward")
        await taken(world, first.conversation_id, "bob")
        await taken(world, "ward", "bob", turns=2)
        assert (await ask(client, world, "ward")).conversation_id == first.conversation_id
        assert len(of(await client.get(f"{M}/track?session_id=ward"))) == 1


async def test_a_key_of_all_users_finds_by_either_name(world: World) -> None:
    """It sees what is stored; a name of one user's is enough, of several it has to say whose."""
    app = app_of(world)
    stored = {}
    for secret, user in ((ADA, "ada"), (BOB, "bob")):
        async with calling(app, bearer=secret) as client:
            for name in ("ward", user):
                stored[name, user] = (await ask(client, world, name)).conversation_id
                await taken(world, stored[name, user], user)

    async def reads(client: httpx.AsyncClient, **query: str) -> Any:
        answer = await client.get(f"{M}/latest", params=query)
        return json.loads(of(answer)["text"])["conversationId"] if answer.is_success else answer.status_code

    async with calling(app, bearer=ALL) as client:
        listed = of(await client.get("/api/conversations"))
        assert {one["conversationId"] for one in listed} == set(stored.values())
        assert await reads(client, session_id=stored["ward", "bob"]) == stored["ward", "bob"]
        assert await reads(client, session_id="bob") == stored["bob", "bob"]
        assert await reads(client, session_id="ward") == 422
        assert await reads(client, session_id="ward", user_id="bob") == stored["ward", "bob"]
        assert await reads(client, session_id="bo") == 404
        world.hub.note_asked("q9", stored["bob", "bob"], "bob")
        assert (await client.get("/api/answers/q9?session_id=bob")).status_code == 202
        reading = asyncio.create_task(client.get("/api/events?session_id=bob&within=1"))
        while not is_heard(world.hub):
            await asyncio.sleep(0)
        world.hub.hear(turn(2, conversationId=stored["bob", "bob"], userId="bob"))
        assert len(events_in((await reading).text)) == 1
        for number in range(120):
            await world.asked("bob", f"ada~{number}", createTime=NOW)
        assert await reads(client, session_id="ada") == stored["ada", "ada"]
        told = await client.post("/api/questions", json={"text": "?", "conversationId": "ward", "userId": "bob"})
        assert of(told)["conversationId"] == stored["ward", "bob"]
        assert (await ask(client, world, "new", userId="bob")).conversation_id == "new"
        await taken(world, "ward", "cleo")
        assert await reads(client, session_id="ward") == "ward"
