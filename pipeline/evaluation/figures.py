"""What an evaluation counts: expectations met, and what reading the questions took and gave."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.domain.languages import fits_language
from pipeline.domain.proposals import distinct, names_of, object_of, text_of
from pipeline.domain.spelling import fold, simplified
from pipeline.evaluation.expectations import Check, Turn
from pipeline.ports import Json
from pipeline.processors.role_extraction import Extracted
from schemas.role import MAX_QUOTE, Extraction

#: What the name of a kind of case says where the roles that are not to be learnt are somebody else's, or nobody's.
_OTHERS = re.compile(
    r"(?<![a-z])(?:third_?(?:person|part)|others?(?!_turns)|somebody|someone|persons?(?![a-z])|people|relative|friend|kin(?![a-z])"
    r"|quot|paste|passage|report|dialog|speech|role_?play|play|fiction|stor(?:y|ies)(?![a-z])|scenes?(?![a-z])|game"
    r"|imagin|hypothe|inject|plant|instruct|attack|hostile|code|log|sarcas|joke|occupation|long_question|not_evidence"
    r"|neg(?:ative)?s?(?![a-z]))",
    re.IGNORECASE,
)


def of_others(kind: str) -> bool:
    """Whether the name of a kind speaks of other people, quotes, role play, fiction or planted instructions."""
    return _OTHERS.search(kind) is not None


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
class Share:
    """So many of so many."""

    part: int = 0
    whole: int = 0

    def add(self, hits: Iterable[bool]) -> None:
        for hit in hits:
            self.whole += 1
            self.part += hit

    def __str__(self) -> str:
        return f"{self.part} of {self.whole}" + (f", {self.part / self.whole:.1%}" if self.whole else "")


@dataclass
class Reading:
    """What reading the questions took and gave."""

    turns: int = 0
    calls: int = 0
    saved: int = 0
    """Turns that were not asked about, for they could teach nothing."""
    failed: int = 0
    prompt_tokens: list[int] = field(default_factory=list)
    """Of each turn that took one call, where the server counts them."""
    dropped_quotes: Share = field(default_factory=Share)
    """Of the quotes that the model itself gave; one that differs in signs and blanks alone is kept."""
    dropped_identities: Share = field(default_factory=Share)
    in_language: Share = field(default_factory=Share)
    """The learnt strings that are in the language of their question."""

    def note(self, question: str, extracted: Extracted) -> None:
        """Count one turn."""
        cost = extracted.cost
        self.turns += 1
        self.calls += cost.calls
        self.failed += extracted.extraction is None
        self.saved += cost.calls == 0 and extracted.proposed is None and extracted.extraction is not None
        if cost.calls == 1 and cost.prompt_tokens:
            self.prompt_tokens.append(cost.prompt_tokens)
        if extracted.extraction is not None:
            quotes, names = _quotes(extracted.proposed), _identities(extracted.proposed)
            held = [_letters(item.quote) for item in extracted.extraction.evidence]
            self.dropped_quotes.add(not any(kept and kept in _letters(quote) for kept in held) for quote in quotes)
            kept = set(map(fold, extracted.extraction.identities))
            self.dropped_identities.add(fold(name) not in kept for name in names)
            self.in_language.add(fits_language(text, question) for text in _learnt(extracted.extraction))

    def to_json(self) -> dict[str, Any]:
        tokens = self.prompt_tokens
        return {
            "turns": self.turns,
            "calls": self.calls,
            "callsSaved": self.saved,
            "failedTurns": self.failed,
            "promptTokens": {"max": max(tokens, default=0), "mean": round(sum(tokens) / len(tokens)) if tokens else 0},
            "droppedQuotes": asdict(self.dropped_quotes),
            "droppedIdentities": asdict(self.dropped_identities),
            "inLanguage": asdict(self.in_language),
        }


@dataclass
class Figures:
    """Expectations met, in all, by kind and by language."""

    conversations: int = 0
    expectations: int = 0
    met: int = 0
    taken: set[str] = field(default_factory=set)
    """Each identity that is somebody else's, or nobody's, once a conversation: of other people, quotes, role play,
    planted instructions."""
    unwanted: set[str] = field(default_factory=set)
    """Each identity, once a conversation, that a case of any other kind says is not to be there."""
    by_kind: dict[str, dict[str, int]] = field(default_factory=dict)
    by_lang: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)

    @property
    def share(self) -> float:
        """Of the expectations that are met, 0 to 1."""
        return self.met / self.expectations if self.expectations else 1.0

    def count(self, case: dict[str, Any], number: int, turn: Turn, check: Check) -> None:
        """Count one expectation."""
        self.expectations += 1
        self.met += check.met
        for table, key in ((self.by_kind, case["kind"]), (self.by_lang, case["lang"])):
            row = Counter(table.get(key, {"expectations": 0, "met": 0}))
            row.update(expectations=1, met=int(check.met))
            table[key] = dict(row)
        if not check.met:
            self.fail(case, number, turn, check)
            if check.wanted.startswith("identities_none"):
                counted = self.taken if of_others(case["kind"]) else self.unwanted
                counted.update(f"{case['id']}: {name}" for name in check.unwanted)

    def fail(self, case: dict[str, Any], number: int, turn: Turn, check: Check) -> None:
        """Keep what was not met."""
        question = case["turns"][number - 1]["q"]
        self.failures.append(Failure(case["id"], number, question, str(check.got), check.wanted, turn.outcome.reason))

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "conversations": self.conversations,
            "expectations": self.expectations,
            "met": self.met,
            "othersIdentities": len(self.taken),
            "othersIdentitiesNamed": sorted(self.taken),
            "unwantedIdentities": len(self.unwanted),
            "unwantedIdentitiesNamed": sorted(self.unwanted),
            "byKind": self.by_kind,
            "byLang": self.by_lang,
            "failures": [asdict(failure) for failure in self.failures],
            "reading": self.reading.to_json(),
        }


def _identities(proposed: Json) -> list[str]:
    proposal = object_of(proposed) or {}
    return distinct([*names_of(proposal.get("identities")), *names_of(proposal.get("states"))])


def _quotes(proposed: Json) -> list[str]:
    evidence = (object_of(proposed) or {}).get("evidence")
    items = evidence if isinstance(evidence, list) else []
    found = (item.get("quote") if isinstance(item, dict) else item for item in items)
    return distinct(text for quote in found if (text := text_of(quote, MAX_QUOTE)))


def _letters(text: str) -> str:
    return "".join(char for char in simplified(text).casefold() if char.isalnum())


def _learnt(extraction: Extraction) -> list[str]:
    names = [*extraction.identities, *extraction.characteristics, *extraction.denies]
    return [*names, extraction.overview] if extraction.overview else names
