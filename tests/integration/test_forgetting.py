"""Forgetting on a real broker and database: what is in flight, and what is replayed, brings nothing back."""

import asyncio
import json
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.ports import Wanted
from pipeline.settings import Settings
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for, working
from tests.scripted_model import Call, ScriptedModel, default_reply, fails
from tests.scripted_replies import Reply

CONVERSATIONS = [f"c{number}" for number in range(40)]


def ill_at_times(call: Call) -> Reply:
    """A model that cannot be used for some questions, so that there are dead letters of theirs."""
    question = str(call.data["question"]) if call.kind == "extraction" else call.last
    return fails(400) if question.startswith("I am ill") else default_reply(call)


async def drained(settings: Settings) -> None:
    """Wait until every record is done: what a stage publishes is there before its own record is committed."""
    kafka, processors = settings.kafka, bootstrap.chosen_processors(settings, ())
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.brokers)
    # where a topic ends is told by what it has read as well: the embedded broker's word on the last offset may be late
    reader = AIOKafkaConsumer(bootstrap_servers=kafka.brokers, auto_offset_reset="earliest", fetch_max_wait_ms=10)
    places = {
        processor.name: [
            TopicPartition(kafka.topic_prefix + topic, number)
            for topic in processor.reads
            for number in range(kafka.partitions)
        ]
        for processor in processors
    }

    async def lag() -> int:
        behind = 0
        for processor in processors:
            while await reader.getmany(timeout_ms=50):
                pass
            own = places[processor.name]
            done = await admin.list_consumer_group_offsets(kafka.topic_prefix + processor.name, partitions=own)
            ends = await reader.end_offsets(own)
            for place in own:
                end = max(ends[place], await reader.position(place))
                behind += abs(end - max(0, done[place].offset))  # who lags is not made up for by a late end
        return behind

    await admin.start()
    await reader.start()
    reader.assign({place for own in places.values() for place in own})
    try:
        async with asyncio.timeout(120):
            while await lag() or await lag():  # twice: the stages are not looked at in one moment
                await asyncio.sleep(0.1)
    finally:
        await reader.stop()
        await admin.close()


async def command(here: Deployment, kind: str, **fields: Any) -> None:
    value = json.dumps({"userId": "u", "kind": kind} | fields).encode()
    await here.publish("commands", value, key=b"u")


async def receipt(here: Deployment, kind: str) -> dict[str, Any]:
    """The receipt of the only command of its kind."""
    heard: list[dict[str, Any]] = []

    def is_there(records: list[Any]) -> bool:
        heard[:] = [event for event in map(json.loads, (record.value for record in records)) if event["kind"] == kind]
        return bool(heard)

    await here.records("receipts", is_there)
    return heard[0]


async def left_behind(here: Deployment) -> dict[str, list[dict[str, Any]]]:
    """What is in any collection but the tombstones and is not the other user's."""
    others = {"userId": {"$ne": "v"}}
    names = [name for name in await here.database.list_collection_names() if name != "tombstones"]
    found = {name: await here.database[name].find(others).to_list(None) for name in names}
    return {name: documents for name, documents in found.items() if documents}


async def test_nothing_in_flight_and_no_replay_brings_a_forgotten_user_back(services: Services, names: Names) -> None:
    """1,000 events of theirs are in flight; only the tombstones are left, and what they ask later is learnt afresh."""
    async with ScriptedModel(otherwise=ill_at_times, latency=0.02) as model:
        server = {"base_url": model.base_url, "api_key": "k", "retries": 0}
        settings = settings_for(services, names, model=server, max_running=32)
        async with deployed(settings) as here, working(settings):
            await here.ask("I am a baker", conversation="another's", user="v")
            for conversation in CONVERSATIONS:
                await here.ask("I am a nurse", conversation=conversation)
            await here.records("turns", len(CONVERSATIONS) + 1)

            await command(here, "ADD_FEATURE", slot="milk", value="low sugar")
            for conversation in CONVERSATIONS:
                key = conversation.encode()
                await here.publish("questions", b"no JSON at all", key=key)
                await here.publish("questions", b'{"userId": "u", "text": ""}', key=key)
                await here.publish("questions", b'{"userId": "u", "text": "cut o', key=b"nobody's")
                await here.publish("answers", _answer_to("nobody's question", conversation), key=key)
                await here.ask("I am ill", conversation=conversation)
            await here.records("dead-letters", 4 * len(CONVERSATIONS))
            model.latency = 1.0
            for number in range(1000 // len(CONVERSATIONS)):
                owls = (here.ask(f"I am a night owl, {number}", conversation=name) for name in CONVERSATIONS)
                await asyncio.gather(*owls)
            letters = await bootstrap.read_dead_letters(settings, Wanted(), 10_000)
            await command(here, "FORGET_USER")
            await here.ask("I am a sailor", conversation="c1", questionId="at once")
            done = await receipt(here, "FORGET_USER")
            assert done["status"] == "done"
            assert done["removed"]["messages"] > 0
            assert done["removed"]["role_tracks"] < 500, "most were not in flight any more"
            model.latency = 0.02

            await drained(settings)
            await only_the_sailor_is_left(here)
            await bootstrap.replay_letters(settings, letters)
            await drained(settings)
            await only_the_sailor_is_left(here)
            assert len(await here.documents("role_tracks", userId="v")) == 1

            await here.ask("I am a pilot", conversation="c0", questionId="afresh")
            await drained(settings)
            (entry,) = await here.documents("role_tracks", conversationId="c0")
            assert (entry["turn"], entry["questionId"]) == (1, "afresh")
            assert entry["identifiedRole"]["possibleIdentities"] == ["pilot"]


async def only_the_sailor_is_left(here: Deployment) -> None:
    """Of all that was asked up to the command nothing; what was asked right after it is there and was answered."""
    left = await left_behind(here)
    assert {document.get("conversationId") for documents in left.values() for document in documents} <= {"c1"}
    assert {document["questionId"] for document in left["messages"]} == {"at once"}
    assert len(left["messages"]) == 2
    assert "owl" not in str(left)
    assert "nurse" not in str(left)


def _answer_to(question: str, conversation: str) -> bytes:
    """What a model of the client's own says; nobody's question is never logged."""
    fields = {"conversationId": conversation, "userId": "u", "questionId": question, "text": "an answer"}
    return json.dumps(fields).encode()


async def test_an_answer_to_a_forgotten_question_is_dropped(services: Services, names: Names) -> None:
    """A client's own model that answers late leaves neither a message nor a dead letter; a new question's is logged."""
    settings = settings_for(services, names)
    stages = ("conversation-logging", "memory-commands")
    async with deployed(settings) as here, working(settings, *stages):
        await here.ask("hello", questionId="q1")
        await here.records("turns", 1)
        await command(here, "FORGET_CONVERSATION", conversationId="c")
        await receipt(here, "FORGET_CONVERSATION")
        await here.publish("answers", _answer_to("q1", "c"), key=b"c")
        await here.ask("hello again", questionId="q2")
        assert [turn["turn"] for turn in await here.events("turns", 2)] == [1, 1]
        await here.publish("answers", _answer_to("q2", "c"), key=b"c")
        async with asyncio.timeout(30):
            while len(messages := await here.documents("messages")) < 2:
                await asyncio.sleep(0.02)
        assert {message["questionId"] for message in messages} == {"q2"}
        assert await here.documents("dead_letters") == []
