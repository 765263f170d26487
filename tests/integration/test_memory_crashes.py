"""`kill -9` at every point of what is kept of the user: nothing is lost, counted twice or brought back."""

import asyncio
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for
from tests.integration.test_crashes import environment
from tests.integration.test_forgetting import command, drained
from tests.integration.test_memory import until
from tests.scripted_model import Call, ScriptedModel, default_reply, gives
from tests.scripted_replies import Reply

#: What a conversation says in turn: one slot that changes its value, and another that it confirms.
PETS = ("cat", "dog", "hamster")
#: Where each processor is killed, one start of the worker a point.
LEARNING = {
    "feature-extraction": ("during-model-call", "before-store", "after-store", "after-publish", "before-commit"),
    "feature-memory": ("before-store", "after-store", "before-profile", "after-profile", "before-commit"),
    "summary": ("during-model-call", "before-store", "after-store", "before-commit"),
}
BY_HAND = (
    ("memory-commands", "after-publish"),
    ("memory-commands", "before-commit"),
    ("feature-memory", "before-store"),
    ("feature-memory", "after-store"),
    ("feature-memory", "after-publish"),
    ("feature-memory", "before-commit"),
)
#: In the order of one command, which is delivered again after each.
CORRECTING = ("before-store", "after-store", "after-publish", "before-commit")
FORGETTING = (
    "before-store",
    "after-store",
    "removed-messages",
    "removed-user_features",
    "before-count",
    "after-publish",
    "before-commit",
)

#: By the kind of a call, where its data holds the question.
_QUESTION = {"extraction": "question", "features": "message"}
_PET = re.compile(r"My pet of (\w+) is a (\w+)")


def text_of(conversation: str, turn: int) -> str:
    """Unlike every other question's text."""
    return f"I like carrots. My pet of {conversation} is a {PETS[turn - 1]}. What does it eat?"


def reply(call: Call) -> Reply:
    """Two facts a turn, the second one's value another than a turn before."""
    if call.kind != "features":
        return default_reply(call)
    found = _PET.search(call.data["message"])
    assert found is not None
    facts = [("carrots", "likes them", "I like carrots"), (f"pet of {found[1]}", found[2], found[0])]
    named = ("slot", "value", "quote")
    return gives({"changes": [dict(zip(named, fact, strict=True)) | {"category": "PREFERENCE"} for fact in facts]})


class Killed:
    """Starts the worker again and again, each time to be killed at another place."""

    def __init__(self, here: Deployment, folder: Path, model: ScriptedModel | None = None) -> None:
        folder.mkdir()
        self._here, self._folder, self._model = here, folder, model
        self.settled: dict[str, int] = {}
        """The calls made for what was found stored after a kill, when it first was."""

    async def at(self, processor: str, point: str, doing: Callable[[], Awaitable[object]] | None = None) -> None:
        """Start a worker that dies there, and do what leads to it; by default what was left undone does."""
        async with self._worker(processor, point) as worker:
            if doing is not None:
                await doing()
            assert await worker.wait() == -signal.SIGKILL
        if self._model is not None:
            calls = calls_of(self._model)
            self.settled = {call: calls[call] for call in await _stored(self._here)} | self.settled

    @asynccontextmanager
    async def survivor(self) -> AsyncIterator[None]:
        """A worker that is killed nowhere."""
        async with self._worker("nowhere", "never") as worker:
            yield
            worker.terminate()
            assert await worker.wait() == 0

    @asynccontextmanager
    async def _worker(self, processor: str, point: str) -> AsyncIterator[asyncio.subprocess.Process]:
        marker = self._folder / f"{processor}-{point}"
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.crashing_worker", processor, point, str(marker)),
            env=environment(self._here.settings),
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            yield worker
        finally:
            if worker.returncode is None:
                worker.kill()
                await worker.wait()


def calls_of(model: ScriptedModel) -> Counter[str]:
    """How often the model was asked for each extraction, answer, observation and summary."""
    return Counter(f"{call.kind} {_about(call)}" for call in model.calls)


def _about(call: Call) -> str:
    """The question's text, or of a summary the conversation."""
    if call.kind == "summary":
        found = _PET.search(call.last)
        assert found is not None
        return found[1]
    return call.last if call.kind == "answer" else str(call.data[_QUESTION[call.kind]])


async def _stored(here: Deployment) -> set[str]:
    """What is stored, named as `calls_of` names the calls for it."""
    questions = {d["questionId"]: d for d in await here.documents("messages", role="USER")}
    extracted = {f"extraction {questions[d['questionId']]['text']}" for d in await here.documents("extractions")}
    answers = await here.documents("messages", role="ASSISTANT")
    answered = {f"answer {questions[d['questionId']]['text']}" for d in answers}
    observed = {f"features {d['text']}" for d in questions.values() if d["observed"]}
    summaries = await here.documents("conversations", summary={"$ne": None})
    return extracted | answered | observed | {f"summary {d['conversationId']}" for d in summaries}


async def _learning(services: Services, processor: str, points: Sequence[str], folder: Path) -> None:
    """Each kill has a conversation of its own, all of one user, and whatever the kills before it have left."""
    async with ScriptedModel(otherwise=reply, latency=0.1) as model:
        settings = settings_for(services, Names(), model={"base_url": model.base_url, "api_key": "k"})
        async with deployed(settings) as here:
            killed = Killed(here, folder, model)
            names = [f"c{number}" for number in range(len(points))]
            for name, point in zip(names, points, strict=True):
                await killed.at(processor, point, partial(_converse, here, name))
            async with killed.survivor():
                await here.records("answers", lambda records: len(_of(records, "questionId")) == len(names) * len(PETS))
                await drained(settings)
            await _learnt_once(here, names)
            await _summarised_once(here, names)
            calls = calls_of(model)
            assert {call: calls[call] for call in killed.settled} == killed.settled, processor


def _of(records: list[Any], field: str) -> set[str]:
    return {json.loads(record.value)[field] for record in records}


async def _converse(here: Deployment, name: str) -> None:
    for turn in range(1, len(PETS) + 1):
        await here.ask(text_of(name, turn), conversation=name, questionId=f"{name}-{turn}")


async def _learnt_once(here: Deployment, names: Sequence[str]) -> None:
    """Every turn has told its two facts, each once, and what is published again is the same to the byte."""
    turns = [f"{name}-{turn}" for name in names for turn in range(1, len(PETS) + 1)]
    features = {feature["slot"]: feature for feature in await here.documents("user_features")}
    assert features.keys() == {"carrots", *(f"pet of {name}" for name in names)}
    assert features["carrots"]["confidence"] == len(turns)
    for name in names:
        pet = features[f"pet of {name}"]
        assert pet["value"] == PETS[-1]
        assert [earlier["value"] for earlier in pet["history"]] == [*PETS[:-1]]
        assert (pet["confidence"], pet["version"]) == (1, len(PETS))
    for feature in features.values():
        told = [turn for turn in turns if feature["slot"] in ("carrots", f"pet of {turn.partition('-')[0]}")]
        assert sorted(heard["source"] for heard in feature["heard"]) == sorted(told)
    assert sorted(seen["questionId"] for seen in features["carrots"]["evidence"]) == sorted(turns)
    (profile,) = await here.documents("user_profiles")
    assert profile["preferences"] == {slot: feature["value"] for slot, feature in features.items()}
    await _same_to_the_byte(here, "features", len(turns))
    assert await here.documents("dead_letters") == []


async def _summarised_once(here: Deployment, names: Sequence[str]) -> None:
    """Each conversation has the summary of its three turns, and no older or emptied one."""
    conversations = await here.documents("conversations")
    assert {conversation["conversationId"] for conversation in conversations} == {*names}
    for conversation in conversations:
        summary = conversation["summary"]
        assert summary["turn"] == len(PETS)
        assert summary["target"] == text_of(conversation["conversationId"], 1)
        assert summary["suggestion"].endswith(text_of(conversation["conversationId"], len(PETS)))


async def _same_to_the_byte(here: Deployment, topic: str, events: int) -> None:
    """So many events, however often each was published."""

    def all_there(records: list[Any]) -> bool:
        return len({dict(record.headers)["eventId"] for record in records}) >= events

    by_event: dict[bytes, set[bytes]] = {}
    for record in await here.records(topic, all_there):
        by_event.setdefault(dict(record.headers)["eventId"], set()).add(record.value)
    assert len(by_event) == events
    assert {len(values) for values in by_event.values()} == {1}, "a redelivered event differs from the first"


@pytest.mark.timeout(280)
async def test_learning_goes_on_where_it_was_killed(services: Services, tmp_path: Path) -> None:
    """At 14 points: each turn counts once, each value is once in the history, and no outcome is paid for twice."""
    async with asyncio.TaskGroup() as group:
        for processor, points in LEARNING.items():
            group.create_task(_learning(services, processor, points, tmp_path / processor))


@pytest.mark.timeout(280)
async def test_a_command_is_done_once_wherever_it_was_killed(services: Services, tmp_path: Path) -> None:
    """At 10 points: a feature is added, changed and deleted once, a role corrected once, each with one receipt."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_of_features(services, tmp_path / "features"))
        group.create_task(_of_a_role(services, tmp_path / "role"))


async def _of_features(services: Services, folder: Path) -> None:
    """Each kill has four commands of its own."""
    settings = settings_for(services, Names())
    async with deployed(settings) as here:
        killed = Killed(here, folder)
        for number, (processor, point) in enumerate(BY_HAND):
            await killed.at(processor, point, partial(_by_hand, here, number))
        async with killed.survivor():
            await here.records("receipts", lambda records: len(_of(records, "commandId")) == 4 * len(BY_HAND))
            await drained(settings)
        features = {feature["slot"]: feature for feature in await here.documents("user_features")}
        assert len(features) == 2 * len(BY_HAND)
        for number in range(len(BY_HAND)):
            milk, tea = features[f"milk {number}"], features[f"tea {number}"]
            assert (milk["value"], milk["version"], milk["confidence"]) == ("no sugar", 2, 1)
            assert [earlier["value"] for earlier in milk["history"]] == ["low sugar"]
            assert [heard["source"] for heard in milk["heard"]] == [f"add-milk-{number}", f"edit-milk-{number}"]
            assert (tea["status"], tea["version"]) == ("DELETED", 2)
        (profile,) = await here.documents("user_profiles")
        assert profile["preferences"] == {f"milk {number}": "no sugar" for number in range(len(BY_HAND))}
        await _done_once(here, 4 * len(BY_HAND))


async def _of_a_role(services: Services, folder: Path) -> None:
    """One command that is killed again and again."""
    settings = settings_for(services, Names())
    async with deployed(settings) as here:
        killed = Killed(here, folder)

        async def correct() -> None:
            await here.ask("I am a nurse on a night ward.")
            await here.records("answers", 1)
            names = {"identities": ["head nurse"], "denies": ["student"]}
            await command(here, "CORRECT_ROLE", conversationId="c", commandId="correct", **names)

        for point in CORRECTING:
            await killed.at("memory-commands", point, correct if point == CORRECTING[0] else None)
        async with killed.survivor():
            await here.records("receipts", 1)
            await drained(settings)
        (entry,) = await here.documents("role_tracks")
        assert entry["identifiedRole"]["possibleIdentities"][0] == "head nurse"
        assert len(entry["corrections"]) == 1
        await _done_once(here, 1)


async def _done_once(here: Deployment, commands: int) -> None:
    """So many commands have a receipt that says so, the same with every delivery."""
    await _same_to_the_byte(here, "receipts", commands)
    assert {json.loads(record.value)["status"] for record in await here.records("receipts", 1)} == {"done"}


async def _by_hand(here: Deployment, number: int) -> None:
    milk, tea = f"milk {number}", f"tea {number}"
    for name, kind, fields in (
        ("add-milk", "ADD_FEATURE", {"slot": milk, "value": "low sugar"}),
        ("add-tea", "ADD_FEATURE", {"slot": tea, "value": "green"}),
        ("edit-milk", "EDIT_FEATURE", {"slot": milk, "value": "no sugar"}),
        ("delete-tea", "DELETE_FEATURE", {"slot": tea}),
    ):
        category = {} if kind == "DELETE_FEATURE" else {"category": "PREFERENCE"}
        await command(here, kind, commandId=f"{name}-{number}", **fields, **category)


@pytest.mark.timeout(280)
async def test_what_was_being_forgotten_at_the_kill_is_forgotten(services: Services, tmp_path: Path) -> None:
    """A forgetting that is killed at one point after the other leaves nothing, and what the rest taught stays."""
    async with asyncio.TaskGroup() as group:
        for kind in ("FORGET_USER", "FORGET_CONVERSATION"):
            group.create_task(_forgetting(services, kind, tmp_path / kind))


async def _forgetting(services: Services, kind: str, folder: Path) -> None:
    """Of a user with two conversations, the second one known through and through."""
    async with ScriptedModel(otherwise=reply) as model:
        settings = settings_for(services, Names(), model={"base_url": model.base_url, "api_key": "k"})
        async with deployed(settings) as here:
            killed = Killed(here, folder)

            async def forget() -> None:
                for name in ("gone", "stays"):
                    await here.ask(text_of(name, 1), conversation=name)
                await until(lambda: _has_profile(here))
                if kind == "FORGET_USER":  # while more is in flight
                    for turn in (2, 3):
                        await here.ask(text_of("gone", turn), conversation="gone")
                    await command(here, kind, commandId="forget")
                else:  # while all is quiet, so that nothing in flight has a hand in it
                    await drained(settings)
                    await command(here, kind, commandId="forget", conversationId="gone")

            for point in FORGETTING:
                await killed.at("memory-commands", point, forget if point == FORGETTING[0] else None)
            async with killed.survivor():
                await here.records("receipts", 1)
                await drained(settings)
            await _done_once(here, 1)
            await _left_is(here, [] if kind == "FORGET_USER" else ["stays"])


async def _has_profile(here: Deployment) -> bool:
    """Once both conversations are learnt from."""
    profiles = await here.documents("user_profiles")
    return any(len(profile["preferences"]) == 3 for profile in profiles)


async def _left_is(here: Deployment, conversations: Sequence[str]) -> None:
    """These conversations, what they taught alone, and nothing else."""
    for collection in ("conversations", "messages", "extractions", "role_tracks"):
        found = {document["conversationId"] for document in await here.documents(collection)}
        assert found == {*conversations}, collection
    values = {f"pet of {name}": PETS[0] for name in conversations} | (
        {"carrots": "likes them"} if conversations else {}
    )
    features = await here.documents("user_features")
    assert {feature["slot"]: feature["value"] for feature in features} == values
    for feature in features:
        assert [seen["conversationId"] for seen in feature["evidence"]] == [*conversations]
        assert feature["confidence"] == len(conversations)
    profiles = await here.documents("user_profiles")
    assert [profile["preferences"] for profile in profiles] == ([values] if values else [])
    assert await here.documents("dead_letters") == []
