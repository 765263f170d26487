"""The word lists of roles, read once into the tables that reading a role needs."""

import re
from dataclasses import dataclass
from functools import lru_cache

from pipeline.domain.spelling import fold, has_han
from pipeline.words import words

#: A phrase as normal words; the same phrase in the plural or in British spelling gives the same words.
Phrase = tuple[str, ...]

_SPELLINGS = (
    (re.compile(r"(?<=.)ae(?=[a-z]{3})"), "e"),
    (re.compile(r"(?<=[a-z]{3})isation"), "ization"),
    (re.compile(r"(?<=[a-z]{3})is(e[rd]?|ing)$"), r"iz\1"),
    (re.compile(r"(?<=[a-z]{2})our(?=$|ed|er|ing|ist|s)"), "or"),
    (re.compile(r"(?<=[a-z]{2})tre$"), "ter"),
    (re.compile(r"(?<=[a-z]{2})ogue$"), "og"),
    (re.compile(r"programme"), "program"),
    # Doubled letters are what people get wrong first, and no two roles differ by them alone.
    (re.compile(r"([a-z])\1"), r"\1"),
)
_HAN_ENDING = re.compile(r"(?:工作者|从业者|从业人员|人员|师傅|人|员|者|师|工|户|匠|家|手|的)$")
_IRREGULAR = {"women": "woman", "men": "man", "children": "child", "wives": "wife", "people": "people", "mice": "mouse"}


@lru_cache(maxsize=8192)
def normal(word: str) -> str:
    """A folded word in the singular and in one spelling."""
    word = word.removesuffix("'s").removesuffix("'").strip("'") or word
    word = _IRREGULAR.get(word, word)
    if word.isascii() and word.isalpha():
        word = _singular(word)
        for pattern, spelling in _SPELLINGS:
            word = pattern.sub(spelling, word)
    return word


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes")) else word[:-1]


def phrase(text: str) -> Phrase:
    """The normal words of a folded text."""
    return tuple(normal(word) for word in fold(text).split())


def han_stem(name: str) -> str:
    """A Chinese name without the ending that only says "person"; empty where too little is left to tell."""
    stem = _HAN_ENDING.sub("", name)
    return stem if len(stem) >= 2 else ""


def _stems(han_roles: dict[str, Phrase]) -> dict[str, Phrase]:
    """The roles that one stem can only mean."""
    meanings: dict[str, set[Phrase]] = {}
    for name, role in han_roles.items():
        if stem := han_stem(name):
            meanings.setdefault(stem, set()).add(role)
    return {stem: roles.pop() for stem, roles in meanings.items() if len(roles) == 1}


@dataclass(frozen=True)
class Lexicon:
    """The tables; names in Chinese are keyed by their characters without spaces, all others by their phrase."""

    roles: dict[Phrase, Phrase]
    """Every name of a role, to the first of its line."""
    han_roles: dict[str, Phrase]
    han_stems: dict[str, Phrase]
    modifiers: dict[Phrase, Phrase]
    han_modifiers: dict[str, Phrase]
    names: dict[Phrase, tuple[str, ...]]
    """The folded names of each role by its first."""
    modifier_names: dict[str, tuple[str, ...]]
    number_names: dict[str, tuple[str, ...]]
    general: frozenset[Phrase]
    vague: frozenset[Phrase]
    families: frozenset[Phrase]
    parents: dict[Phrase, frozenset[Phrase]]
    children: dict[Phrase, frozenset[Phrase]]
    empty: frozenset[str]
    after: frozenset[str]
    turns: dict[Phrase, str]
    han_turns: dict[str, str]
    opposites: frozenset[frozenset[str]]
    numbers: dict[str, str]
    known: frozenset[str]
    """Every normal word of the tables, for telling a slip of the pen from another word."""
    longest_han: int


def _by_name(lines: list[list[str]]) -> tuple[dict[Phrase, Phrase], dict[str, Phrase]]:
    plain: dict[Phrase, Phrase] = {}
    han: dict[str, Phrase] = {}
    for line in lines:
        first = phrase(line[0])
        for name in line:
            if has_han(name):
                han.setdefault(fold(name).replace(" ", ""), first)
            else:
                plain.setdefault(phrase(name), first)
    return plain, han


def _chains(forms: dict[str, list[str]]) -> dict[Phrase, frozenset[Phrase]]:
    """Everything that a role is a form of, however many steps away."""
    parents: dict[Phrase, set[Phrase]] = {}
    for general_name, names in forms.items():
        for name in names:
            parents.setdefault(phrase(name), set()).add(phrase(general_name))
    chains = {}
    for role, direct in parents.items():
        seen, todo = set[Phrase](), list(direct)
        while todo:
            general = todo.pop()
            if general not in seen:
                seen.add(general)
                todo.extend(parents.get(general, ()))
                # What is a form of a university student is a form of a student.
                todo.extend(general[start:] for start in range(1, len(general)))
        chains[role] = frozenset(seen)
    return chains


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The one lexicon, built at first use."""
    identities, narrowing = words("identities"), words("modifiers")
    roles, han_roles = _by_name(identities["same"])
    modifiers, han_modifiers = _by_name(narrowing["same"])
    parents = _chains(identities["forms"])
    children: dict[Phrase, set[Phrase]] = {}
    for form, generals in parents.items():
        for general in generals:
            children.setdefault(general, set()).add(form)
    names: dict[Phrase, list[str]] = {}
    for line in identities["same"]:
        names.setdefault(phrase(line[0]), []).extend(map(fold, line))
    turns = {name: turn for turn, line in narrowing["turns"].items() for name in line}
    return Lexicon(
        roles=roles,
        han_roles=han_roles,
        han_stems=_stems(han_roles),
        modifiers=modifiers,
        han_modifiers=han_modifiers,
        names={role: tuple(line) for role, line in names.items()},
        modifier_names={" ".join(phrase(line[0])): tuple(map(fold, line)) for line in narrowing["same"]},
        number_names={number: (number, *map(fold, line)) for number, line in narrowing["numbers"].items()},
        general=frozenset(map(_one, identities["general"])),
        vague=frozenset(map(_one, identities["vague"])),
        families=frozenset(map(phrase, identities["families"])),
        parents=parents,
        children={role: frozenset(forms) for role, forms in children.items()},
        empty=frozenset(normal(fold(word)) for word in narrowing["empty"]),
        after=frozenset(normal(fold(word)) for word in narrowing["after"]),
        turns={phrase(name): turn for name, turn in turns.items() if not has_han(name)},
        han_turns={fold(name): turn for name, turn in turns.items() if has_han(name)},
        opposites=frozenset(
            frozenset(" ".join(phrase(word)) for word in pair) for pair in narrowing["opposites"]["pairs"]
        ),
        numbers={normal(fold(word)): number for number, line in narrowing["numbers"].items() for word in line},
        known=frozenset(word for name in (*roles, *modifiers) for word in name),
        longest_han=max(map(len, (*han_roles, *han_modifiers))),
    )


def _one(name: str) -> Phrase:
    """A name of the general or vague list: Chinese as one word."""
    return (fold(name).replace(" ", ""),) if has_han(name) else phrase(name)
