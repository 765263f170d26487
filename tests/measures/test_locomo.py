"""The measure on LoCoMo counts what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from schemas.wire import UserId
from tests.conftest import Names
from tests.measures.__main__ import main
from tests.measures.locomo import SETTLED, Recall, Talk, fed, flatness, recalled, talks
from tests.processors.factories import database_of


def said(number: int, speaker: str, text: str) -> dict[str, str]:
    return {"dia_id": f"D1:{number}", "speaker": speaker, "text": text}


def asked(question: str, *evidence: str, category: int = 1) -> dict[str, Any]:
    return {"question": question, "evidence": list(evidence), "category": category}


CONVERSATION = {
    "sample_id": "conv-0",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [said(1, "Ada", "I keep bees now."), said(2, "Ben", "I bake."), said(3, "Ada", "And a dog.")],
    },
    "observation": {
        "session_1_observation": {
            "Ada": [["Ada keeps bees.", "D1:1"], ["Ada has a dog.", ["D1:3"]]],
            "Ben": [["Ben bakes.", "D1:2"]],
        }
    },
    "qa": [
        asked("What does Ada keep?", "D1:1"),
        asked("Does Ben bake?", "D1:2"),
        asked("Who has a dog?", "D1:3"),
        asked("What does Ada bake?", "D1:2"),
        asked("What does Ben keep?", "D1:1", category=5),
        asked("Is it warm?"),
    ],
}


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    (talk,) = talks(file)
    return talk


def test_a_question_counts_where_the_memory_of_who_is_asked_about_holds_its_evidence(talk: Talk) -> None:
    """By the name in the question, else by who said the evidence; adversarial questions do not count."""
    assert recalled(talk) == Recall(questions=5, observed=3, held=3)


async def test_each_utterance_is_a_turn_whose_prompts_are_counted(talk: Talk, services: Services, names: Names) -> None:
    """And what was observed in a turn is known in the next."""
    async with database_of(services, names) as here:
        model = await fed(talk, here)
        kept = [feature.content for feature in await here.features.features(UserId("u"))]
    assert (model.calls["answer"], len(model.answer_tokens)) == (3, 3)
    assert model.answer_tokens[2] > model.answer_tokens[1]
    assert kept == ["Ada keeps bees.", "Ada has a dog.", "Ben bakes."]


def test_the_first_turns_do_not_count_as_settled() -> None:
    """The slope is in tokens a turn, and the largest is beside the median."""
    growing = {turn: 1000.0 if turn <= SETTLED else 100 + 0.5 * turn for turn in range(1, 151)}
    flat = flatness(growing)
    assert flat.slope == pytest.approx(0.5)
    assert flat.largest == 175
    assert flat.middle == pytest.approx(150.25)


def test_missing_data_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the file is missing the command says which to get, and ends with 2."""
    assert main(["locomo", str(tmp_path / "none.json")]) == 2
    assert "get LoCoMo" in capsys.readouterr().err
