"""How alike two identities are in meaning, from their words and a table of synonyms; no network, no model.

The measure is calibrated to the default threshold 0.8: the same concept scores 1, a form of the other 0.9 and a
sibling 0.85, and nothing else reaches 0.8. A stricter threshold so takes siblings and then forms out, and a
laxer one lets roles agree that only share a general head or some words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from pipeline.domain.lexicon import Phrase, lexicon, normal, phrase
from pipeline.domain.roles import Part, Role, role_of
from pipeline.domain.spelling import has_han
from pipeline.ports import Similarity

SAME, FORM, SIBLING = 1.0, 0.9, 0.85
_GENERAL_HEAD = 0.5
_RIVAL = 0.3
#: The most that words in common are worth where the meanings are not related.
_ALIKE_MAX = 0.6
#: Whatever ends in 医 is one in Chinese, 兽医 too, who is none in English.
_DOCTOR = ("doctor",)
_SCHOOLS = ("primary school", "middle school", "high school", "university", "graduate")


class Relation(Enum):
    """What one identity is to another."""

    SAME = "the same"
    FORM = "a form of it"
    GENERAL = "what it is a form of"
    SIBLING = "a sibling"
    RIVAL = "the same kind of role with another number"
    NONE = "nothing"


_MIRRORED = {Relation.FORM: Relation.GENERAL, Relation.GENERAL: Relation.FORM}


@lru_cache(maxsize=65536)
def relation(one: str, other: str) -> Relation:
    """What `one` is to `other`: `FORM` where `one` is the more specific."""
    if one > other:
        from_the_other_side = relation(other, one)
        return _MIRRORED.get(from_the_other_side, from_the_other_side)
    return _relation(role_of(one), role_of(other))


def _relation(a: Role, b: Role) -> Relation:
    if a.vague or b.vague or a.turns != b.turns:
        return Relation.NONE
    related = _related(a, b)
    if related in {Relation.NONE, Relation.RIVAL} or a.numbers == b.numbers:
        return related
    if a.numbers and b.numbers:
        return Relation.RIVAL
    # A number narrows: "mother of two" is a form of "mother", and no form of "mother of a baby".
    if related is Relation.SIBLING:
        return related
    if a.numbers:
        return Relation.FORM if related in {Relation.SAME, Relation.FORM} else Relation.SIBLING
    return Relation.GENERAL if related in {Relation.SAME, Relation.GENERAL} else Relation.SIBLING


def _related(a: Role, b: Role) -> Relation:
    """Numbers and turns apart."""
    if _is_same(a, b):
        return Relation.SAME
    if _opposed(a, b):
        return Relation.NONE
    if _is_form(a, b):
        return Relation.FORM
    if _is_form(b, a):
        return Relation.GENERAL
    return Relation.SIBLING if _siblings(a, b) else Relation.NONE


def _is_same(a: Role, b: Role) -> bool:
    if a.key == b.key or (a.stem and a.stem == b.stem):
        return True
    return any(part in b.parts for part in a.parts) or (a.reorderable and b.reorderable and a.words == b.words)


def _opposed(a: Role, b: Role) -> bool:
    opposites = lexicon().opposites
    mine, others = a.parts[-1].narrowing | _levels(a), b.parts[-1].narrowing | _levels(b)
    alone, alone_there = mine - others, others - mine
    return any(
        frozenset((x, y)) in opposites or x in _turned_round(y) or y in _turned_round(x)
        for x in alone
        for y in alone_there
    )


def _turned_round(word: str) -> tuple[str, str]:
    return f"un{word}", f"non{word}"


def _levels(role: Role) -> set[str]:
    """The school of a student, whose heads hold it; a teacher may teach at two."""
    return _schools(role.parts[0]) if role.parts[-1].head == ("student",) else set()


def _schools(part: Part) -> set[str]:
    return {level for level in map(" ".join, map(phrase, _SCHOOLS)) if level in " ".join(part.head)}


def _lines(role: Role) -> list[Part]:
    """The parts of a role, and of everything that its heads are forms of."""
    parents = lexicon().parents
    return [Part(head, part.narrowing) for part in role.parts for head in (part.head, *parents.get(part.head, ()))]


def _is_form(a: Role, b: Role) -> bool:
    """Whether `a` is the more specific of two with one head."""
    tables, lines = lexicon(), _lines(a)
    for part in b.parts:
        if part.head in tables.vague and not part.narrowing:
            continue
        if any(line.head == part.head and part.narrowing <= line.narrowing for line in lines):
            return True
    if has_han(a.key) and has_han(b.key) and a.key.endswith("医") and Part(_DOCTOR, frozenset()) in b.parts:
        return True
    return (
        has_han(b.key)
        and len(b.key) >= 2
        and b.stem != ""
        and a.key.endswith(b.key)
        and not a.key.endswith("的" + b.key[-1:])
    )


def _siblings(a: Role, b: Role) -> bool:
    """Whether they share a head that names a kind of role."""
    tables = lexicon()
    mine = {part.head for part in a.parts} | _families(a)
    shared = mine & ({part.head for part in b.parts} | _families(b))
    return any(head not in tables.general and head not in tables.vague and not _lone_han(head) for head in shared)


def _families(role: Role) -> set[Phrase]:
    tables = lexicon()
    return {head for part in role.parts for head in tables.parents.get(part.head, ()) if head in tables.families}


def _lone_han(head: Phrase) -> bool:
    return len(head) == 1 and len(head[0]) == 1


def covers(general: str, specific: str) -> bool:
    """Whether what is said of `general` holds of `specific`: the same concept or a form of it."""
    return general == specific or relation(specific, general) in {Relation.SAME, Relation.FORM}


def more_specific(one: str, other: str) -> str:
    """Of two forms of one concept the narrower; of the same concept the first."""
    return other if relation(other, one) is Relation.FORM else one


@lru_cache(maxsize=65536)
def settled(one: str, other: str) -> bool:
    """Whether the word lists tell what the two are to one another, be it nothing; the same in both directions.

    Where they do, nobody else is asked, who might not see a polarity, a number or whose wife somebody is. Of the
    216 held-out pairs of `tests/bench/similarity.py` the lists settle 194 and are right about 182 of them; the other
    22 they all take for different, which 9 are not.
    """
    a, b = role_of(one), role_of(other)
    if a.vague or b.vague or a.turns != b.turns or "not" in a.turns:
        return True
    if a.numbers and b.numbers and a.numbers != b.numbers:
        return True
    if relation(one, other) is not Relation.NONE or _opposed(a, b) or _is_within(a, b) or _is_within(b, a):
        return True
    return _is_known(a) and _is_known(b)


def _is_within(a: Role, b: Role) -> bool:
    """Whether all of `a` is said in `b`, as "nurse" is in "nurse's daughter"."""
    if has_han(a.key):
        return a.key in b.key
    return set(map(normal, a.key.split())) <= set(map(normal, b.key.split()))


def _is_known(role: Role) -> bool:
    tables = lexicon()
    return any(part.head in tables.names or part.head in tables.general | tables.vague for part in role.parts)


@lru_cache(maxsize=65536)
def lexical(one: str, other: str) -> float:
    """The default measure, 0 to 1; the same in both directions."""
    related = relation(one, other)
    if related is Relation.SAME:
        return SAME
    if related in {Relation.FORM, Relation.GENERAL}:
        return FORM
    if related is Relation.SIBLING:
        return SIBLING
    a, b = role_of(one), role_of(other)
    if related is Relation.RIVAL or a.vague or b.vague or a.turns != b.turns:
        return _RIVAL if a.parts[-1] == b.parts[-1] and not (a.vague or b.vague) else 0.0
    alike = _words_in_common(a, b)
    shares_head = a.parts[-1].head == b.parts[-1].head and a.parts[-1].head not in lexicon().vague
    return max(alike, _GENERAL_HEAD) if shares_head else alike


def _words_in_common(a: Role, b: Role) -> float:
    """The share of words in common, as pairs of characters where there are no spaces."""
    mine, others = _pieces(a.key), _pieces(b.key)
    if not mine or not others:
        return 0.0
    return round(_ALIKE_MAX * 2 * len(mine & others) / (len(mine) + len(others)), 4)


def _pieces(key: str) -> set[str]:
    if has_han(key):
        text = key.replace(" ", "")
        return {text[place : place + 2] for place in range(len(text) - 1)}
    return set(key.split())


@dataclass(frozen=True)
class Measure:
    """A similarity, and from where on two identities agree by it."""

    similarity: Similarity
    threshold: float

    def agree(self, names: Iterable[str], others: Sequence[str]) -> bool:
        """Whether any of `names` is the same as, a form of, or a sibling of any of `others`."""
        return any(self.similarity(name, other) >= self.threshold for name in names for other in others)

    def closest(self, names: Iterable[str], others: Sequence[str]) -> float | None:
        """The similarity of the pair that is most alike, 0 to 1; None where one side is empty."""
        scores = [self.similarity(name, other) for name in names for other in others]
        return min(max(scores), 1.0) if scores else None
