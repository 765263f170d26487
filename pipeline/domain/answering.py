"""How a sentence asks answers to be, and which wish of that kind it says to be over."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from pipeline.domain.spelling import has_han, simplified
from pipeline.words import words
from schemas.role import PreferenceField

#: How far a preference that was asked for reaches.
AskedScope = Literal["turn", "conversation", "stable"]

_LONGEST_CLAUSE = 120
_SHORT = 40


@dataclass(frozen=True)
class AskedPreference:
    """One preference that the words ask for; `quote` is where they do."""

    field: PreferenceField
    value: str
    scope: AskedScope
    quote: str


@dataclass(frozen=True)
class Over:
    """What a clause says is not, or no longer, wanted of the answers."""

    start: int
    end: int
    slot: str
    """Words that mean the fact which holds it, and no other."""
    lasts: bool
    """It is over for good; else it is not wanted for what is being talked about."""
    field: PreferenceField | None = None
    value: str = ""
    instead: str = ""
    """What is wanted then; empty where that cannot be told."""
    is_language: bool = False


def wishes_in(sentence: str, before: str = "") -> list[AskedPreference]:
    """At most one a field; what a clause says to be over asks for what there is instead, if nothing else does.

    A sentence of its own `before` it may say how far a wish reaches.
    """
    gone = over_in(sentence)
    found, lifted = _wishes(sentence, _told_over(sentence)), {over.field: over for over in gone}
    scope = scope_of(sentence, before) if found or gone else "conversation"
    wishes = []
    for field in get_args(PreferenceField):
        over = lifted.get(field)
        if wish := found.get(field):
            takes_its_place = over is not None and over.lasts and scope != "turn"
            wishes.append(AskedPreference(field, wish[0], "stable" if takes_its_place else scope, wish[1]))
        elif over and over.instead:
            wishes.append(AskedPreference(field, over.instead, scope, sentence[over.start : over.end].strip()))
    return wishes


def ended_in(sentence: str, before: str = "") -> list[Over]:
    """What is over for good, and not asked for again in the same breath."""
    lasting = [over for over in over_in(sentence) if over.lasts]
    if not lasting or scope_of(sentence, before) == "turn":
        return []
    asked = {field: value for field, (value, _) in _wishes(sentence, lasting).items()}
    return [over for over in lasting if over.field is None or asked.get(over.field) != over.value]


def scope_of(sentence: str, before: str = "") -> AskedScope:
    """ "Whatever I ask" or "just this once" may stand in a short sentence of its own before the wish."""
    for context in (sentence, before if len(before) < _SHORT else ""):
        for scope in ("turn", "stable"):
            if _first(words("asks")[scope], context):
                return "turn" if scope == "turn" else "stable"
    return "conversation"


def over_in(sentence: str) -> list[Over]:
    """What the clauses of a sentence say to be over, in their order."""
    told = _told_over(sentence)
    if not told:
        return []
    language, plain = _read(sentence)
    places = {(over.start, over.end) for over in told}
    rest = [plain[slice(*place)] for place in _clauses(plain, language) if place not in places]
    return [over for over in told if _is_of_answers(over, plain[over.start : over.end], rest, language)]


def meant_in(thing: str) -> list[str]:
    """What means the facts of how to answer, where a wish to forget names them: "my preference for bullet points"."""
    language, plain = _read(thing)
    if not any(_signs(language, kind).search(plain) for kind in ("of_answers", "plainly")):
        return []
    return [over.slot for over in over_in(f"别再{thing}" if has_han(thing) else f"no more {thing}")]


def _told_over(sentence: str) -> list[Over]:
    """What the clauses say to be over, of answers or of anything else that has such a name."""
    language, plain = _read(sentence)
    return [
        over
        for start, end in _clauses(plain, language)
        if 0 < end - start <= _LONGEST_CLAUSE
        for over in _over(plain, start, end, language)
    ]


def _read(sentence: str) -> tuple[str, str]:
    """The language of its rules, and the words as those read them."""
    return "zh" if has_han(sentence) else "en", simplified(sentence).replace("’", "'")


def _clauses(plain: str, language: str) -> Iterator[tuple[int, int]]:
    start = 0
    for split in _signs(language, "split").finditer(plain):
        yield start, split.start()
        start = split.end()
    yield start, len(plain)


def _is_of_answers(over: Over, clause: str, rest: Iterable[str], language: str) -> bool:
    """Whether its clause speaks of answers, or all of the sentence does and the clause hardly means anything else."""

    def says(kind: str, text: str = clause) -> bool:
        return _signs(language, kind).search(text) is not None

    if says("of_answers") and not over.is_language:
        return True
    wished = [one for one in rest if not says("beside", one)]
    if says("weary") or not all(_asks_of_answers(one) for one in wished):
        return False
    if over.is_language:
        return any(says("in_language", one) for one in (clause, *rest))
    return bool(wished) or says("plainly") or says("order")


def _asks_of_answers(clause: str) -> bool:
    return any(_wish(field, clause) for field in get_args(PreferenceField))


def _wishes(sentence: str, gone: Iterable[Over]) -> dict[PreferenceField, tuple[str, str]]:
    """The value that is asked for, and where, outside of the clauses that say what is over."""
    letters = list(sentence)
    for over in gone:
        letters[over.start : over.end] = " " * (over.end - over.start)
    rest = "".join(letters)
    return {field: wish for field in get_args(PreferenceField) if (wish := _wish(field, rest))}


def _over(sentence: str, start: int, end: int, language: str) -> Iterator[Over]:
    for entry, pattern in _overs(language):
        if match := pattern.match(sentence[start:end]):
            said = {name: text for name, text in match.groupdict().items() if text}
            lasts = not said.keys().isdisjoint(("ended", "ended_after", "ended_behind")) or _signs(
                language, "ended"
            ).search(sentence)
            field, value = entry.get("field"), entry.get("value", "")
            slot = entry.get("slot", f"{field} {value}")
            if has_han(what := said.get("what") or said["first"]):
                slot = entry.get("zh_slot", slot)
            yield Over(
                start,
                end,
                slot.format(what=what),
                bool(lasts),
                field,
                value,
                entry.get("instead", ""),
                "is_language" in entry,
            )


@cache
def _overs(language: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    """What may be over, and a clause that says so."""
    over = words("asks")["over"]
    entries = (*over["what"], *over["beside"])
    return tuple((entry, _clause(over[language], f"{entry['en']}|{entry['zh']}")) for entry in entries)


def _clause(parts: Mapping[str, str], what: str) -> re.Pattern[str]:
    pattern = f"{parts['before']}(?:{parts['denied']}){parts['between']}(?P<what>{what}){parts['after']}"
    if behind := parts.get("behind"):
        pattern += f"|{parts['before']}(?P<first>{what}){behind}"
    return _compiled(pattern)


@cache
def _signs(language: str, kind: str) -> re.Pattern[str]:
    return _compiled(words("asks")["over"][language][kind])


def _wish(field: PreferenceField, sentence: str) -> tuple[str, str] | None:
    """The value asked for last in a sentence; at the same place the longer words win ("not too short")."""
    found = []
    others = _compiled(words("asks")["others"])
    for value, patterns in words("asks")[field].items():
        match = _last(patterns, sentence)
        if match and not others.search(sentence[: match.start()]) and not others.search(match.group()):
            found.append((match.end(), match.end() - match.start(), value, match.group().strip()))
    if not found:
        return None
    _, _, value, quote = max(found)
    return value, quote


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := _compiled(pattern).search(text))), None)


def _last(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    """The match that ends last, the longest of those."""
    matches = [match for pattern in patterns for match in _compiled(pattern).finditer(text)]
    return max(matches, key=lambda match: (match.end(), match.end() - match.start()), default=None)
