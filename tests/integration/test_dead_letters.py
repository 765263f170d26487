"""Dead letters can be looked at and replayed: what failed is tried anew, and nothing else changes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.adapters.kafka.publisher import MAX_DEAD_LETTER_BYTES
from pipeline.ports import Wanted
from schemas.events import DeadLetter
from schemas.topics import TopicName
from tests.conftest import Names
from tests.deployment import ANSWERING, deployed, settings_for, working
from tests.integration.test_cli import environment, run
from tests.scripted_model import Call, ScriptedModel, default_reply, fails
from tests.scripted_replies import Reply

NURSE, TEACHER = "I am a nurse", "I am a teacher"


async def test_a_late_replay_rewrites_its_own_turn_alone(services: Services, names: Names, tmp_path: Path) -> None:
    """Turn 1 failed, turn 2 was learnt: the replay gives turn 1 its entry and answer, and the memory stands."""
    is_well = False

    def ill_at_first(call: Call) -> Reply:
        return default_reply(call) if is_well else fails(400)

    async with ScriptedModel(otherwise=ill_at_first) as model:
        settings = settings_for(services, names, model={"base_url": model.base_url, "api_key": "k", "retries": 0})
        env = environment(settings)
        async with deployed(settings) as here, working(settings, *ANSWERING):
            await here.ask(NURSE, questionId="q1")
            assert (await here.events("answers", 1))[0]["status"] == "failed"
            await here.records("dead-letters", 2)
            is_well = True
            await here.ask(TEACHER, questionId="q2")
            await here.records("answers", 2)
            letters = await bootstrap.read_dead_letters(settings, Wanted(), None)
            before = await here.documents("role_tracks")
            assert [entry["decision"] for entry in before] == ["FAILED", "CREATE"]

            code, out, _ = await run("dead-letters", "replay", "--key", "c", "--dry-run", env=env, cwd=tmp_path)
            assert (code, out.count("would replay")) == (0, 2)
            assert await here.documents("role_tracks") == before

            code, out, _ = await run("dead-letters", "replay", "--key", "c", env=env, cwd=tmp_path)
            assert (code, out.count("replayed ")) == (0, 2)
            answers = await here.events("answers", 3)
            assert (answers[2]["questionId"], answers[2]["status"]) == ("q1", "ok")
            while (after := await here.documents("role_tracks"))[0]["decision"] == "FAILED":
                await here.records("guidance", 3)
            assert after[0]["identifiedRole"]["possibleIdentities"] == ["nurse"]
            assert after[1] == before[1]

            calls = len(model.calls)
            assert await run("dead-letters", "replay", "--all", env=env, cwd=tmp_path) == (
                0,
                "",
                "no dead letter matches\n",
            )
            await bootstrap.replay_letters(settings, letters)  # as after an end between the sending and the removal
            await here.records("answers", 5)
            assert await here.documents("role_tracks") == after
            assert len(model.calls) == calls


@pytest.mark.parametrize(
    ("topic", "processors"), [("questions", ["conversation-logging"]), ("answers", ["conversation-logging", "summary"])]
)
async def test_letters_of_a_record_that_fails_again_become_no_more(
    services: Services, names: Names, tmp_path: Path, topic: TopicName, processors: list[str]
) -> None:
    """A replay sends the record once and takes all its letters away; each processor that fails leaves a new one."""
    settings, count = settings_for(services, names), len(processors)
    async with deployed(settings) as here, working(settings, *processors):
        await here.publish(topic, b"\xffnot json", key=b"c")
        await here.records("dead-letters", count)
        seen = set()
        for times in range(1, 4):
            letters = [letter["_id"] for letter in await here.documents("dead_letters")]
            seen |= {*letters}
            code, out, _ = await run("dead-letters", "replay", "--all", env=environment(settings), cwd=tmp_path)
            assert (code, sorted(out.splitlines())) == (0, sorted(f"replayed {name} to {topic}" for name in letters))
            await here.records("dead-letters", (times + 1) * count)
        assert len(seen) == 3 * count
        assert len(await here.documents("dead_letters")) == count
        assert len(await here.records(topic, 4)) == 4


def letter(number: int, offset: int, value: bytes = b"its value") -> DeadLetter:
    """One of `turns`, so many seconds after the first."""
    failed = datetime(2026, 5, 1, tzinfo=UTC)
    return DeadLetter(
        processor="p",
        source_topic="turns",
        source_partition=0,
        source_offset=offset,
        exception="BadEvent",
        message="no",
        record_time=failed,
        create_time=failed + timedelta(seconds=number),
        value=value,
    )


def stored(letter: DeadLetter) -> dict[str, Any]:
    return {"_id": letter.letter_id, **letter.model_dump(by_alias=True)}


async def test_a_letter_that_kafka_takes_no_more_stays_and_keeps_none_back(
    services: Services, names: Names, tmp_path: Path
) -> None:
    """The one that is too large is told of by its id; those before and after it are replayed."""
    settings = settings_for(services, names)
    async with deployed(settings) as here:
        letters = [letter(0, 1), letter(1, 2, b"x" * (MAX_DEAD_LETTER_BYTES + 1)), letter(2, 3)]
        await here.database["dead_letters"].insert_many(map(stored, letters))
        code, out, err = await run("dead-letters", "replay", "--all", env=environment(settings), cwd=tmp_path)
        assert out.splitlines() == [f"replayed {letters[number].letter_id} to turns" for number in (0, 2)]
        assert err == f"dead letter {letters[1].letter_id} is larger than Kafka takes now; it stays\n"
        assert code == 1
        assert [left["_id"] for left in await here.documents("dead_letters")] == [letters[1].letter_id]


async def test_all_are_more_than_a_list_shows(services: Services, names: Names, tmp_path: Path) -> None:
    """A list says that there are more, and is without their values; a replay of all takes them all, oldest first."""
    settings, count = settings_for(services, names), 1002
    env = environment(settings)
    async with deployed(settings) as here:
        letters = [letter(number, count - number) for number in range(count)]
        await here.database["dead_letters"].insert_many(map(stored, letters))

        code, out, err = await run("dead-letters", "list", env=env, cwd=tmp_path)
        assert (code, len(out.splitlines())) == (0, 1000)
        assert err == "there are more than these 1000: see --limit\n"
        assert await run("dead-letters", "list", "--limit", "1002", "--topic", "features", env=env, cwd=tmp_path) == (
            0,
            "",
            "",
        )
        brief = await bootstrap.read_dead_letters(settings, Wanted(), 2, in_brief=True)
        assert brief == [letter.model_copy(update={"value": None}) for letter in letters[:2]]

        code, out, _ = await run("dead-letters", "replay", "--all", "--limit", "2", "--dry-run", env=env, cwd=tmp_path)
        assert out.splitlines() == [f"would replay {letter.letter_id} to turns" for letter in letters[:2]]
        code, out, _ = await run("dead-letters", "replay", "--all", env=env, cwd=tmp_path)
        assert out.splitlines() == [f"replayed {letter.letter_id} to turns" for letter in letters]
        assert await here.documents("dead_letters") == []
        assert len(await here.records("turns", count)) == count


async def test_dead_letters_are_listed_and_shown(services: Services, names: Names, tmp_path: Path) -> None:
    """A line each with where, when and why; one in full; a selection that is none is refused."""
    settings = settings_for(services, names)
    env = environment(settings)
    async with deployed(settings) as here, working(settings, "conversation-logging"):
        await here.publish("questions", b"\xffnot json", key=b"c")
        await here.records("dead-letters", 1)
        code, out, _ = await run("dead-letters", "list", "--topic", "questions", env=env, cwd=tmp_path)
        assert code == 0
        (line,) = out.splitlines()
        assert "BadEvent: record: Invalid JSON" in line
        assert (await run("dead-letters", "list", "--key", "other", env=env, cwd=tmp_path))[1] == ""
        assert (await run("dead-letters", "list", "--since", "2999-01-01", env=env, cwd=tmp_path))[1] == ""
        code, out, _ = await run("dead-letters", "show", line.split()[0], env=env, cwd=tmp_path)
        assert code == 0
        assert '"value": "\\\\xffnot json"' in out
        assert (await run("dead-letters", "show", "none", env=env, cwd=tmp_path))[0] == 1
        code, _, err = await run("dead-letters", "replay", env=env, cwd=tmp_path)
        assert code == 2
        assert "--all" in err
