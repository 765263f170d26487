"""The measure of changed minds counts what replays cleanly, and tells right from wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.measures.__main__ import main
from tests.measures.features import CHANGES, PREFERENCES, results
from tests.measures.public_data import Missing


def _point(item: str, kind: str = "like") -> dict[str, Any]:
    return {"type": kind, "specific_item": item, "reason": f"because of {item}"}


def _change(direction: str, place: int, before: str, after: dict[str, Any]) -> dict[str, Any]:
    return {
        "type_to_update": "Pets",
        "update_direction": direction,
        "changed_index": place,
        "before_preference": {"memory_points": [_point(before)]},
        "after_preference": {"memory_points": [after]},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    points = [_point("Dogs"), _point("Cats")]
    changes = [
        _change("Modify", 0, "Dogs", _point("Dogs", "dislike")),
        _change("Modify", 1, "Birds", _point("Fish")),
        _change("Delete", 1, "Fish", _point("Fish")),
        _change("Modify", 0, "Dogs", _point("Puppies")),
    ]
    user = {"uuid": "u", "profile": {"preferences": {"Pets": {"memory_points": points}}}}
    (tmp_path / PREFERENCES).write_text(json.dumps(user) + "\n", encoding="utf-8")
    (tmp_path / CHANGES).write_text(json.dumps({"event_list": changes}) + "\n", encoding="utf-8")
    return tmp_path


def test_what_replays_cleanly_is_counted(folder: Path) -> None:
    """A change of what was never there is given and not counted; the others end right."""
    assert [(found.number, found.direction, found.wrong) for found in results(folder)] == [
        (1, "Modify", ""),
        (3, "Delete", ""),
        (4, "Modify", ""),
    ]


def test_a_wrong_state_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A memory that takes every value for the same is found out, and the command says how often."""
    monkeypatch.setattr("pipeline.domain.features.is_same", lambda value, other: True)
    assert main(["features", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "3", "0", "3"]
    assert [found.number for found in results(folder) if found.wrong] == [1, 3, 4]


def test_the_command_says_right_and_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the kind of change; without the data it ends with 2."""
    assert main(["features", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "3", "3", "0"]
    assert main(["features", str(folder / "none")]) == 2
    with pytest.raises(Missing):
        list(results(folder / "none"))
