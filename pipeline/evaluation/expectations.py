"""What a case expects of a turn, held against what the turn came to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.domain.arbitration import Outcome
from pipeline.domain.confidence import level
from schemas.role import (
    MAX_CHARACTERISTICS,
    MAX_DENIALS,
    MAX_EVIDENCE,
    MAX_IDENTITIES,
    MAX_OVERVIEW,
    RoleMemory,
)

Match = Callable[[str, str], bool]


@dataclass(frozen=True)
class Turn:
    """What one turn came to, and the confidence of the turn before it."""

    outcome: Outcome
    confidence_before: float


@dataclass(frozen=True)
class Check:
    """One expectation: what was wanted, what there is, and whether they agree."""

    wanted: str
    got: object
    met: bool
    unwanted: tuple[str, ...] = ()
    """Of what there is, what was not to be."""


def checks(expected: dict[str, Any], turn: Turn) -> Iterable[Check]:
    """Each expectation of one turn: a field, or each of its values where it lists several."""
    outcome, memory = turn.outcome, turn.outcome.memory
    names = [identity.name for identity in memory.identities]
    traits = [item.name for item in memory.characteristics]
    quotes = [item.quote for item in memory.evidence]
    overview = [memory.user_overview]
    if "decision" in expected:
        yield Check(f"decision {expected['decision']}", outcome.decision, outcome.decision in expected["decision"])
    if "first" in expected:
        met = bool(names) and any(_within(word, names[0]) for word in expected["first"])
        yield Check(f"first {expected['first']}", names, met)
    if "levels" in expected:
        reached = level(memory.confidence_score)
        yield Check(f"levels {expected['levels']}", reached, reached in expected["levels"])
    if "confidence" in expected:
        change = _change(turn.confidence_before, memory.confidence_score)
        yield Check(f"confidence {expected['confidence']}", change, change == expected["confidence"])
    yield from _groups(expected, "identities_any", names, _near)
    yield from _groups(expected, "characteristics_any", traits, _within)
    yield from _groups(expected, "overview_any", overview, _within)
    yield from _absent(expected, "identities_none", names)
    yield from _absent(expected, "characteristics_none", traits)
    yield from _absent(expected, "evidence_none", quotes)
    yield from _absent(expected, "overview_none", overview)
    for quote in expected.get("evidence_any", []):
        yield Check(f"evidence {quote!r}", quotes, any(_within(quote, held) for held in quotes))
    for kind, held in (("preferences", memory.preferences), ("turnPreferences", outcome.turn_preferences)):
        values = held.model_dump(by_alias=True)
        for name, value in expected.get(kind, {}).items():
            yield Check(f"{kind} {name}={value}", values, values[name] == value)


def over_bounds(memory: RoleMemory) -> Check | None:
    """The failure of a memory that is over its bounds, which no case has to expect."""
    sizes = (
        (len(memory.identities), MAX_IDENTITIES),
        (len(memory.characteristics), MAX_CHARACTERISTICS),
        (len(memory.evidence), MAX_EVIDENCE),
        (len(memory.denied_identities), MAX_DENIALS),
        (len(memory.user_overview), MAX_OVERVIEW),
    )
    if any(size > most for size, most in sizes) or not 0 <= memory.confidence_score <= 1:
        return Check("the bounds", sizes, met=False)
    return None


def _near(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def _within(word: str, text: str) -> bool:
    return word.casefold() in text.casefold()


def _groups(expected: dict[str, Any], key: str, held: Sequence[str], match: Match) -> Iterable[Check]:
    for group in expected.get(key, []):
        yield Check(f"{key} {group}", list(held), any(match(word, item) for word in group for item in held))


def _absent(expected: dict[str, Any], key: str, held: Sequence[str]) -> Iterable[Check]:
    # One way only: "urologist" is no sign of an excluded "neurologist".
    for word in expected.get(key, []):
        unwanted = tuple(item for item in held if _within(word, item))
        yield Check(f"{key} {word!r}", list(held), not unwanted, unwanted)


def _change(before: float, after: float) -> str:
    return "same" if after == before else "up" if after > before else "down"
