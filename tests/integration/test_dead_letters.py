"""Dead letters can be looked at and replayed: what failed is tried anew, and nothing else changes."""

from pathlib import Path

from pipeline.adapters.embedded import Services
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
            await run("dead-letters", "replay", "--all", env=env, cwd=tmp_path)
            await here.records("answers", 5)
            assert await here.documents("role_tracks") == after
            assert len(model.calls) == calls


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
