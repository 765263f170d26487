"""How many expectations of a file of cases are met: each turn is extracted, arbitrated and compared."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

from pipeline.domain.arbitration import arbitrate, failed
from pipeline.domain.extraction import read_extraction
from pipeline.domain.proposals import PREFERENCES
from pipeline.domain.similarity import lexical
from pipeline.evaluation.cases import Case
from pipeline.evaluation.expectations import Turn, checks, over_bounds
from pipeline.evaluation.figures import Figures
from pipeline.ports import Json, Model
from pipeline.processing import Policy
from pipeline.processors.role_extraction import Extracted, extract
from schemas.role import RoleMemory
from schemas.wire import QuestionId

__all__ = ["Case", "Figures", "Read", "asked", "evaluate", "given"]

#: Extracts a turn of a case, read with the questions before it, oldest first.
Read = Callable[[dict[str, Any], Sequence[str]], Awaitable[Extracted]]


async def given(turn: dict[str, Any], _history: Sequence[str]) -> Extracted:
    """The extraction that the case itself holds, as if a model had proposed it."""
    proposal = _proposal(turn["x"])
    return Extracted(read_extraction(proposal, turn["q"]), "no object could be read", proposed=proposal)


def _proposal(x: Any) -> Json:
    if not isinstance(x, dict):
        return cast(Json, x)
    proposal = {key: value for key, value in x.items() if key not in (*PREFERENCES, "preferenceScope")}
    proposal["preferences"] = {
        name: {"value": x[name], "scope": x.get("preferenceScope")} for name in PREFERENCES if x.get(name) is not None
    }
    return cast(Json, proposal)


def asked(model: Model, history_length: int) -> Read:
    """What a model makes of the question, by way of all that a worker does with it."""

    async def read(turn: dict[str, Any], history: Sequence[str]) -> Extracted:
        return await extract(turn["q"], history[-history_length:] if history_length else (), model)

    return read


async def evaluate(
    cases: Iterable[Case],
    read: Read,
    *,
    progress: Callable[[Figures], None] = lambda _: None,
) -> Figures:
    """Run every case through extraction and arbitration, and count the expectations that hold.

    `progress` hears the figures so far after each case.
    """
    figures = Figures()
    for case in cases:
        turns = await _run(case, read, figures)
        for number, turn in enumerate(turns, 1):
            if sizes := over_bounds(turn.outcome.memory):
                figures.fail(case, number, turn, sizes)
        for expected in case["expect"]:
            number = expected["turn"]
            for check in checks(expected, turns[number - 1]):
                figures.count(case, number, turns[number - 1], check)
        figures.conversations += 1
        progress(figures)
    return figures


async def _run(case: Case, read: Read, figures: Figures) -> list[Turn]:
    memory: RoleMemory | None = None
    questions: list[str] = []
    turns: list[Turn] = []
    for number, turn in enumerate(case["turns"], 1):
        extracted = await read(turn, questions)
        figures.reading.note(turn["q"], extracted)
        if extracted.extraction is None:
            outcome = failed(memory, extracted.failure or "there is no extraction")
        else:
            outcome = arbitrate(
                memory,
                extracted.extraction,
                question_id=QuestionId(f"{case['id']}:{number}"),
                turn=number,
                similarity=lexical,
                threshold=Policy().similarity_threshold,
            )
        turns.append(Turn(outcome, memory.confidence_score if memory else 0.0))
        memory = outcome.memory
        questions.append(turn["q"])
    return turns
