"""How many expectations of a file of cases are met: each turn is extracted, arbitrated and compared."""

import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from pipeline.domain.arbitration import Outcome, arbitrate, failed
from pipeline.domain.confidence import level
from pipeline.domain.extraction import read_extraction
from pipeline.domain.similarity import lexical
from pipeline.ports import Json, Similarity
from schemas.role import (
    MAX_CHARACTERISTICS,
    MAX_DENIALS,
    MAX_EVIDENCE,
    MAX_IDENTITIES,
    MAX_OVERVIEW,
    RoleMemory,
)
from schemas.wire import QuestionId

PREFERENCES = ("detailLevel", "contentDepth", "responseFormat")
DEFAULT_THRESHOLD = 0.8

#: Proposes an extraction for a turn of a case, read with the questions before it, oldest first.
Propose = Callable[[dict[str, Any], Sequence[str]], Json | Awaitable[Json]]


@dataclass(frozen=True)
class Failure:
    """An expectation that was not met."""

    case: str
    turn: int
    question: str
    got: str
    wanted: str
    reason: str
    """The decision's reason, in plain words."""


@dataclass
class Figures:
    """Expectations met, in all, by kind and by language."""

    expectations: int = 0
    met: int = 0
    by_kind: dict[str, dict[str, int]] = field(default_factory=dict)
    by_lang: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "expectations": self.expectations,
            "met": self.met,
            "byKind": self.by_kind,
            "byLang": self.by_lang,
            "failures": [asdict(failure) for failure in self.failures],
        }


@dataclass(frozen=True)
class _Turn:
    """What one turn came to, and the confidence of the turn before it."""

    outcome: Outcome
    confidence_before: float


@dataclass(frozen=True)
class _Check:
    """One expectation: what was wanted, what there is, and whether they agree."""

    wanted: str
    got: object
    met: bool


def given(turn: dict[str, Any], _history: Sequence[str]) -> Json:
    """A proposal from the extraction that the case itself holds."""
    x = turn["x"]
    if not isinstance(x, dict):
        return cast(Json, x)
    proposal = {key: value for key, value in x.items() if key not in (*PREFERENCES, "preferenceScope")}
    proposal["preferences"] = {
        name: {"value": x[name], "scope": x.get("preferenceScope")} for name in PREFERENCES if x.get(name) is not None
    }
    return cast(Json, proposal)


async def evaluate(
    cases: Iterable[dict[str, Any]],
    propose: Propose,
    *,
    similarity: Similarity = lexical,
    threshold: float = DEFAULT_THRESHOLD,
) -> Figures:
    """Run every case through extraction and arbitration, and count the expectations that hold."""
    figures = Figures()
    for case in cases:
        turns = await _run(case, propose, similarity, threshold)
        for number, turn in enumerate(turns, 1):
            _note_bounds(figures, case, number, turn)
        for expected in case["expect"]:
            number = expected["turn"]
            for check in _checks(expected, turns[number - 1]):
                _count(figures, case, number, turns[number - 1], check)
    return figures


async def _run(case: dict[str, Any], propose: Propose, similarity: Similarity, threshold: float) -> list[_Turn]:
    memory: RoleMemory | None = None
    questions: list[str] = []
    turns: list[_Turn] = []
    for number, turn in enumerate(case["turns"], 1):
        raw = propose(turn, questions)
        extraction = read_extraction(await raw if inspect.isawaitable(raw) else raw, turn["q"])
        if extraction is None:
            outcome = failed(memory, "no object could be read from what the model said")
        else:
            question_id = QuestionId(f"{case['id']}:{number}")
            outcome = arbitrate(
                memory, extraction, question_id=question_id, turn=number, similarity=similarity, threshold=threshold
            )
        turns.append(_Turn(outcome, memory.confidence_score if memory else 0.0))
        memory = outcome.memory
        questions.append(turn["q"])
    return turns


def _near(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def _within(word: str, text: str) -> bool:
    return word.casefold() in text.casefold()


def _checks(expected: dict[str, Any], turn: _Turn) -> Iterable[_Check]:
    """Each expectation of one turn: a field, or each of its values where it lists several."""
    outcome, memory = turn.outcome, turn.outcome.memory
    names = [identity.name for identity in memory.identities]
    traits = [item.name for item in memory.characteristics]
    quotes = [item.quote for item in memory.evidence]
    overview = [memory.user_overview]
    if "decision" in expected:
        yield _Check(f"decision {expected['decision']}", outcome.decision, outcome.decision in expected["decision"])
    if "first" in expected:
        met = bool(names) and any(_within(word, names[0]) for word in expected["first"])
        yield _Check(f"first {expected['first']}", names, met)
    if "levels" in expected:
        reached = level(memory.confidence_score)
        yield _Check(f"levels {expected['levels']}", reached, reached in expected["levels"])
    if "confidence" in expected:
        change = _change(turn.confidence_before, memory.confidence_score)
        yield _Check(f"confidence {expected['confidence']}", change, change == expected["confidence"])
    yield from _groups(expected, "identities_any", names, _near)
    yield from _groups(expected, "characteristics_any", traits, _within)
    yield from _groups(expected, "overview_any", overview, _within)
    yield from _absent(expected, "identities_none", names)
    yield from _absent(expected, "characteristics_none", traits)
    yield from _absent(expected, "evidence_none", quotes)
    yield from _absent(expected, "overview_none", overview)
    for quote in expected.get("evidence_any", []):
        yield _Check(f"evidence {quote!r}", quotes, any(_within(quote, held) for held in quotes))
    for kind, held in (("preferences", memory.preferences), ("turnPreferences", outcome.turn_preferences)):
        values = held.model_dump(by_alias=True)
        for name, value in expected.get(kind, {}).items():
            yield _Check(f"{kind} {name}={value}", values, values[name] == value)


Match = Callable[[str, str], bool]


def _groups(expected: dict[str, Any], key: str, held: Sequence[str], match: Match) -> Iterable[_Check]:
    for group in expected.get(key, []):
        yield _Check(f"{key} {group}", list(held), any(match(word, item) for word in group for item in held))


def _absent(expected: dict[str, Any], key: str, held: Sequence[str]) -> Iterable[_Check]:
    # One way only: "urologist" is no sign of an excluded "neurologist".
    for word in expected.get(key, []):
        yield _Check(f"{key} {word!r}", list(held), not any(_within(word, item) for item in held))


def _change(before: float, after: float) -> str:
    return "same" if after == before else "up" if after > before else "down"


def _count(figures: Figures, case: dict[str, Any], number: int, turn: _Turn, check: _Check) -> None:
    figures.expectations += 1
    figures.met += check.met
    for table, key in ((figures.by_kind, case["kind"]), (figures.by_lang, case["lang"])):
        row = Counter(table.get(key, {"expectations": 0, "met": 0}))
        row.update(expectations=1, met=int(check.met))
        table[key] = dict(row)
    if not check.met:
        _fail(figures, case, number, turn, check)


def _fail(figures: Figures, case: dict[str, Any], number: int, turn: _Turn, check: _Check) -> None:
    question = case["turns"][number - 1]["q"]
    figures.failures.append(Failure(case["id"], number, question, str(check.got), check.wanted, turn.outcome.reason))


def _note_bounds(figures: Figures, case: dict[str, Any], number: int, turn: _Turn) -> None:
    """A memory over its bounds is a failure beside the expectations."""
    memory = turn.outcome.memory
    sizes = (
        (len(memory.identities), MAX_IDENTITIES),
        (len(memory.characteristics), MAX_CHARACTERISTICS),
        (len(memory.evidence), MAX_EVIDENCE),
        (len(memory.denied_identities), MAX_DENIALS),
        (len(memory.user_overview), MAX_OVERVIEW),
    )
    if any(size > most for size, most in sizes) or not 0 <= memory.confidence_score <= 1:
        _fail(figures, case, number, turn, _Check("the bounds", sizes, met=False))
