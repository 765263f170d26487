"""The command line as a user runs it: output, one-line errors, exit codes, nothing left behind."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from pipeline.adapters.embedded import Services
from pipeline.settings import Settings
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working


def environment(settings: Settings | None = None, more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """A user's environment: these settings, and nothing that stands in a `.env`."""
    ours = {}
    if settings is not None:
        ours = {
            "ROLESTREAM_KAFKA__BROKERS": settings.kafka.brokers,
            "ROLESTREAM_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
            "ROLESTREAM_MONGO__URL": settings.mongo.url.get_secret_value(),
            "ROLESTREAM_MONGO__DATABASE": settings.mongo.database,
        }
    return {**os.environ, **ours, **more}


async def start(*arguments: str, env: dict[str, str], cwd: Path) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pipeline.cli", *arguments, env=env, cwd=cwd, stdout=PIPE, stderr=PIPE
    )


async def run(*arguments: str, env: dict[str, str], cwd: Path) -> tuple[int | None, str, str]:
    """Exit code, standard output and standard error."""
    process = await start(*arguments, env=env, cwd=cwd)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_config_shows_every_setting_and_no_secret(tmp_path: Path) -> None:
    """The effective value of each setting is printed under its variable's name, secrets hidden."""
    env = environment(more={"ROLESTREAM_MODEL__API_KEY": "sk-secret", "ROLESTREAM_MAX_RUNNING": "7"})
    code, out, err = await run("config", env=env, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "ROLESTREAM_MAX_RUNNING=7\n" in out
    assert "ROLESTREAM_MODEL__API_KEY=**********\n" in out
    assert "ROLESTREAM_SHORT_TERM_MEMORY__USER_ROLE_MEMORY__GUIDE_SCOPE=every\n" in out
    assert "secret" not in out


@pytest.mark.parametrize(
    ("arguments", "env", "code", "says"),
    [
        (["worker"], {"ROLESTREAM_MAX_RUNNING": "none"}, 2, "ROLESTREAM_MAX_RUNNING"),
        (["worker", "role-guessing"], {}, 2, "no such processor: role-guessing"),
        (["ask", " ", "--user", "u", "--conversation", "c"], {}, 2, "text"),
        (["ask", "x", "--user", "u", "--conversation", "c", "--timeout", "1"], {}, 1, "127.0.0.1:1"),
        (["topics", "create"], {}, 1, "127.0.0.1:1"),
        (["demo", "--script", "missing.jsonl"], {}, 2, "missing.jsonl"),
        (["demo", "--script", "bad.jsonl"], {}, 2, "line 2"),
        (["config"], {"ROLESTREAM_KAFKA__BORKERS": "x"}, 2, "ROLESTREAM_KAFKA__BORKERS"),
    ],
)
async def test_errors_are_one_line_that_says_what_to_do(
    arguments: list[str], env: dict[str, str], code: int, says: str, tmp_path: Path
) -> None:
    """Wrong use ends with 2, failure with 1; no stack trace, nothing on standard output."""
    (tmp_path / "bad.jsonl").write_text('{"text": "hello"}\n{"texts": "hello"}\n')
    away = {"ROLESTREAM_KAFKA__BROKERS": "127.0.0.1:1", "ROLESTREAM_MONGO__URL": "mongodb://127.0.0.1:1"}
    ended, out, err = await run(*arguments, env=environment(more=away | env), cwd=tmp_path)
    assert (ended, out) == (code, "")
    ours = [line for line in err.splitlines() if line.startswith("rolestream: ")]
    assert len(ours) == 1
    assert says in ours[0]
    assert "Traceback" not in err


async def test_a_worker_without_topics_says_how_to_create_them(
    services: Services, names: Names, tmp_path: Path
) -> None:
    """It ends with 2 instead of waiting for topics that nobody makes; then the command makes them, once."""
    env = environment(settings_for(services, names))
    code, _, err = await run("worker", env=env, cwd=tmp_path)
    assert code == 2
    assert "rolestream topics create" in err
    assert (await run("topics", "create", env=env, cwd=tmp_path))[1].count("created ") == 10
    assert (await run("topics", "create", env=env, cwd=tmp_path))[1] == "all topics are there\n"


async def test_ask_prints_the_answer_and_track_what_was_learnt(
    services: Services, names: Names, tmp_path: Path
) -> None:
    """The answer is on standard output, progress beside it; the track is a table, or JSON of the documents."""
    settings = settings_for(services, names)
    env = environment(settings)
    async with deployed(settings), working(settings):
        question = ("ask", "I am a nurse. How do I write a handover note?", "--user", "u", "--conversation", "c")
        code, out, err = await run(*question, env=env, cwd=tmp_path)
        assert code == 0
        assert "offline rules model" in out
        assert "CREATE" in err
        code, out, _ = await run("track", "c", env=env, cwd=tmp_path)
        assert code == 0
        assert "CREATE" in out
        assert "nurse" in out
        (entry,) = json.loads((await run("track", "c", "--json", env=env, cwd=tmp_path))[1])
        assert entry["identifiedRole"]["possibleIdentities"] == ["nurse"]
        code, out, err = await run("track", "nobody", env=env, cwd=tmp_path)
        assert (code, out) == (1, "")
        assert "'nobody'" in err


async def test_the_demo_runs_any_script_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """A conversation on another subject is shown turn by turn; the demo ends with 0 and all its processes with it."""
    script = tmp_path / "script.jsonl"
    questions = ["I'm a beekeeper. When do I add a super?", "In more detail please.", "ok, thanks"]
    script.write_text("\n".join(json.dumps({"text": text, "conversationId": "bees"}) for text in questions))
    process = await start("demo", "--script", str(script), env=environment(), cwd=tmp_path)
    children = await _grandchildren(process)
    out, err = (text.decode() for text in await process.communicate())
    assert (process.returncode, err) == (0, "")
    for shown in ("beekeeper", "CREATE", "UPDATE", "SKIPPED", "detailLevel COMPREHENSIVE", *questions):
        assert shown in out
    await _all_gone(children)


async def test_dev_prints_two_settings_that_work_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Another process reaches the services with what was printed; SIGTERM ends all of it; the data is kept."""
    some_port = environment(more={"ROLESTREAM_API__PORT": "0"})
    dev = await start("dev", "--data-dir", str(tmp_path / "data"), env=some_port, cwd=tmp_path)
    assert dev.stdout is not None
    lines = [(await dev.stdout.readline()).decode() for _ in range(4)]
    printed = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines if line.startswith("export "))
    assert set(printed) == {"ROLESTREAM_KAFKA__BROKERS", "ROLESTREAM_MONGO__URL"}
    assert lines[3].startswith("rolestream: serving http://127.0.0.1:")
    children = await _grandchildren(dev)
    asked = {name: value.strip("'") for name, value in printed.items()}
    code, out, _ = await run(
        "ask", "hello", "--user", "u", "--conversation", "c", env=environment(more=asked), cwd=tmp_path
    )
    assert code == 0
    assert out
    dev.send_signal(signal.SIGTERM)
    await dev.communicate()
    assert dev.returncode == 0
    await _all_gone(children)
    assert any((tmp_path / "data").rglob("*.wt"))


async def _grandchildren(process: Process) -> set[int]:
    """The ids of the processes below one, once there are the two services under their guards."""
    while len(found := _below(process.pid)) < 4 and process.returncode is None:
        await asyncio.sleep(0.02)
    return found


def _below(pid: int) -> set[int]:
    """Processes that descend from one, as Linux lists them."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return set()
    direct = {int(child) for child in listed.split()}
    return direct.union(*(_below(child) for child in direct))


async def _all_gone(pids: set[int]) -> None:
    async with asyncio.timeout(20):
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            await asyncio.sleep(0.02)


CASE = {
    "id": "one",
    "lang": "en",
    "kind": "stated",
    "turns": [
        {
            "q": "I am a nurse. How do I write a handover note?",
            "x": {
                "identities": ["nurse"],
                "characteristics": [],
                "evidence": ["I am a nurse"],
                "detailLevel": None,
                "contentDepth": None,
                "responseFormat": None,
                "preferenceScope": None,
                "states": ["nurse"],
                "denies": [],
                "score": 0.9,
                "overview": "A nurse.",
            },
        }
    ],
    "expect": [{"turn": 1, "decision": ["CREATE"], "identities_any": [["nurse"], ["plumber"]]}],
}


@pytest.mark.parametrize("model", ["given", "rules"])
async def test_eval_counts_what_is_met_and_says_what_is_not(model: str, tmp_path: Path) -> None:
    """Expectations by kind and language, each failure with what was got and wanted; no services are needed."""
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    command = ("eval", "cases.jsonl", "--model", model)
    code, out, err = await run(*command, "--json", env=environment(), cwd=tmp_path)
    figures = json.loads(out)
    assert (code, err) == (0, "")
    assert (figures["expectations"], figures["met"]) == (3, 2)
    assert figures["byKind"] == {"stated": {"expectations": 3, "met": 2}}
    (failure,) = figures["failures"]
    assert "plumber" in failure["wanted"]
    code, out, _ = await run(*command, "--failures", env=environment(), cwd=tmp_path)
    assert code == 0
    assert "2 of 3 expectations met, 66.7%" in out
    assert "plumber" in out


async def test_eval_names_the_line_that_is_no_case(tmp_path: Path) -> None:
    """A file that cannot be read, and a model that is not set, end with 2."""
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n{}\n")
    code, _, err = await run("eval", "cases.jsonl", env=environment(), cwd=tmp_path)
    assert code == 2
    assert "line 2" in err
    code, _, err = await run("eval", "cases.jsonl", "--model", "openai", env=environment(), cwd=tmp_path)
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        (["config"], {"ROLESTREAM_KAFKA": "{bad"}, "kafka"),
        (["config"], {"ROLESTREAM_KAFKA__BROKERS": "127.0.0.1:99999"}, "there is no port 99999"),
        (["config"], {"ROLESTREAM_KAFKA__BROKERS": "http://h:9"}, "ROLESTREAM_KAFKA__BROKERS"),
        (["config"], {"ROLESTREAM_MONGO__URL": "foo"}, "mongodb://"),
        (["config"], {"ROLESTREAM_MODEL__BASE_URL": "notaurl"}, "ROLESTREAM_MODEL__BASE_URL"),
        (["config"], {"ROLESTREAM_KAFKA__BROKER": "x:1"}, "no such setting"),
        (["track", "\udcff"], {}, "no UTF-8"),
        (["demo", "--script", "deep.jsonl"], {}, "line 1"),
        (["demo", "--script", "late.jsonl"], {}, "askedAt"),
        (["topics", "create", "--partitions", "-3"], {}, "not above 0"),
        (["ask", "x", "--user", "u", "--conversation", "c", "--timeout", "0"], {}, "not above 0"),
    ],
)
async def test_odd_input_is_named_and_never_a_stack_trace(
    arguments: list[str], env: dict[str, str], says: str, tmp_path: Path
) -> None:
    """Whatever is set or given: exit code 2, one line that names it."""
    (tmp_path / "deep.jsonl").write_text('{"text": "x", "metadata": ' + "[" * 100_000)
    (tmp_path / "late.jsonl").write_text('{"text": "x", "askedAt": "9999-12-31T23:59:59-14:00"}\n')
    code, out, err = await run(*arguments, env=environment(more=env), cwd=tmp_path)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


async def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    """Output that nobody reads to its end leaves no stack trace."""
    command = f"{sys.executable} -m pipeline.cli config | head -1"
    process = await asyncio.create_subprocess_shell(command, env=environment(), cwd=tmp_path, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert out.startswith(b"ROLESTREAM_")
    assert b"Traceback" not in err


async def test_a_question_that_is_refused_says_so_at_once(services: Services, names: Names, tmp_path: Path) -> None:
    """Another user's conversation: `ask` ends with the reason, and does not wait for an answer."""
    settings = settings_for(services, names)
    env = environment(settings)
    async with deployed(settings) as here, working(settings):
        await here.ask("hello", conversation="mine")
        await here.records("answers", 1)
        code, _, err = await run("ask", "hi", "--user", "thief", "--conversation", "mine", env=env, cwd=tmp_path)
        assert code == 1
        assert "belongs to another user" in err
        logged = ("ask", "I am a nurse", "--user", "u", "--conversation", "mine", "--mode", "log")
        code, out, _ = await run(*logged, env=env, cwd=tmp_path)
        assert code == 0
        assert "nurse" in out
