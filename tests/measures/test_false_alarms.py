"""The measure of false alarms counts what it says, and its labels hold no text."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.measures.__main__ import main
from tests.measures.false_alarms import hand_labels, measure
from tests.measures.public_data import stated_in_cases, texts

POST = "我是焊工，手套选哪种"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Public data of one text each, in the layout of its authors."""
    dialogue = {"id": 7, "history": [{"user": "What is a tide?", "bot": "Water."}, {"user": "And a neap tide?"}]}
    (tmp_path / "mtbench101.jsonl").write_text(json.dumps(dialogue) + "\n", encoding="utf-8")
    (tmp_path / "KvPI_test.txt").write_text(f"{{'loc': '其他'}} <SEP> {POST}\t2\t1\n", encoding="utf-8")
    persona = {"bot_persona": [], "user_said_persona": ["U1: 我 是 会计"], "user_no_said_persona": []}
    session = persona | {"conversation": ["Usr: 天 好 冷\tU1", "Bot: 是 的", "Usr: 加班 呢"]}
    (tmp_path / "samples.jsonl").write_text(json.dumps(session) + "\n", encoding="utf-8")
    return tmp_path


async def test_a_text_counts_once_whatever_its_turns_teach(folder: Path) -> None:
    """A row says how many of its texts brought an identity above LOW."""
    post = sha256(POST.encode()).hexdigest()[:12]
    labels = {
        "none": {"mtbench101": {"development": ["7"]}},
        "stated": {"kvpi": {"development": [post]}, "dulemon": {"held_out": ["1:U1", "1:2"]}},
    }
    rows = await measure(texts(folder), labels)
    assert [(row.kind, row.half, row.above_low, len(row.learnt)) for row in rows] == [
        ("none", "development", 0, 1),
        ("stated", "development", 1, 1),
        ("stated", "held_out", 1, 2),
    ]
    assert rows[1].learnt[0].identities == ["焊工"]


@pytest.mark.parametrize("name", ["mtbench101.jsonl", "KvPI_test.txt", "samples.jsonl"])
def test_missing_data_is_named(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a data set is missing the command says which one to get, and ends with 2."""
    (folder / name).unlink()
    assert main(["false-alarms", str(folder)]) == 2
    assert "get " in capsys.readouterr().err


def test_a_part_of_the_data_is_not_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures over fewer texts than were labelled would not compare."""
    assert main(["false-alarms", str(folder)]) == 2
    assert "get the whole data set" in capsys.readouterr().err


def test_cases_count_where_they_state_an_identity(tmp_path: Path) -> None:
    """Each such turn of a file of cases is a text of its own."""
    turns = [{"q": "hello", "x": {"states": []}}, {"q": "I'm a tiler", "x": {"states": ["tiler"]}}, {"q": "?", "x": 7}]
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps({"id": "a", "turns": turns}), encoding="utf-8")
    assert stated_in_cases(file) == {"a:2": ["I'm a tiler"]}


def test_the_labels_are_ids_in_two_halves() -> None:
    """Over a hundred texts without an identity of each data set, none in both halves, and no word of any text."""
    labels = hand_labels()
    for kind, groups in labels.items():
        for group, halves in groups.items():
            development, held_out = halves["development"], halves["held_out"]
            assert not set(development) & set(held_out)
            assert abs(len(development) - len(held_out)) <= 1
            assert kind != "none" or len(development) + len(held_out) > 200, group
            assert all(re.fullmatch(r"[0-9a-f]{12}|\d+(:U?B?\d+)?", label) for label in (*development, *held_out))
