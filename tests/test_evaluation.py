"""Expectations are counted one by one, and each failure says what was wanted."""

from collections.abc import Sequence
from typing import Any

from pipeline.evaluation import evaluate, given

CASE: dict[str, Any] = {
    "id": "t-1",
    "lang": "en",
    "kind": "steady_role",
    "turns": [
        {
            "q": "I'm a baker, keep it short",
            "x": {
                "identities": ["baker"],
                "states": ["baker"],
                "evidence": ["I'm a baker"],
                "detailLevel": "CONCISE",
                "preferenceScope": "conversation",
                "score": 0.9,
            },
        },
        {"q": "hm", "x": "no json"},
    ],
    "expect": [
        {
            "turn": 1,
            "decision": ["CREATE"],
            "identities_any": [["bread baker", "baker"], ["falconer"]],
            "identities_none": ["falconer", "bread baker"],
            "preferences": {"detailLevel": "CONCISE", "contentDepth": "PRACTICAL"},
            "first": ["bak"],
            "levels": ["HIGH"],
            "evidence_any": ["i'm a baker"],
            "overview_any": [["baker"]],
        },
        {"turn": 2, "decision": ["FAILED"], "confidence": "same", "first": ["falconer"]},
    ],
}


async def test_every_value_counts_by_itself() -> None:
    """A field that lists several is as many expectations."""
    figures = await evaluate([CASE], given)
    assert (figures.expectations, figures.met) == (14, 11)
    assert figures.by_kind == {"steady_role": {"expectations": 14, "met": 11}}
    assert figures.by_lang == {"en": {"expectations": 14, "met": 11}}


async def test_a_failure_says_what_was_wanted_and_why() -> None:
    """It holds the question, what there was, what was wanted, and the decision's reason."""
    failures = (await evaluate([CASE], given)).to_json()["failures"]
    assert [failure["wanted"] for failure in failures] == [
        "identities_any ['falconer']",
        "preferences contentDepth=PRACTICAL",
        "first ['falconer']",
    ]
    assert failures[0]["question"] == "I'm a baker, keep it short"
    assert failures[0]["got"] == "['baker']"
    assert "said outright" in failures[0]["reason"]


async def test_the_proposer_may_be_asynchronous_and_sees_the_questions_before() -> None:
    """A model is asked with the history, oldest first."""
    seen: list[list[str]] = []

    async def propose(turn: dict[str, Any], history: Sequence[str]) -> Any:
        seen.append(list(history))
        return given(turn, history)

    assert (await evaluate([CASE], propose)).met == 11
    assert seen == [[], ["I'm a baker, keep it short"]]


async def test_a_stricter_threshold_is_another_figure() -> None:
    """The measure and the threshold are arguments."""
    turns = [
        {"q": "ward", "x": {"identities": ["ward nurse"], "evidence": ["ward"], "score": 0.7}},
        {"q": "pump", "x": {"identities": ["nurse"], "evidence": ["pump"], "score": 0.7}},
    ]
    case = CASE | {"turns": turns, "expect": [{"turn": 2, "decision": ["UPDATE"]}]}
    assert (await evaluate([case], given)).met == 1
    assert (await evaluate([case], given, threshold=0.95)).met == 0
