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
    (re.compile(r"^jewell?ery$"), "jewelry"),
    (re.compile(r"^plough"), "plow"),
    (re.compile(r"^tyre$"), "tire"),
    (re.compile(r"^aero(?=plane)"), "air"),
    (re.compile(r"^mould"), "mold"),
    (re.compile(r"^draught"), "draft"),
    (re.compile(r"(?<=[a-z]{2})bre$"), "ber"),
    (re.compile(r"^(def|off|lic)ence$"), r"\1ense"),
    (re.compile(r"(?<=[a-z]{3})yse(?=$|r$|d$)"), "yze"),
    (re.compile(r"(?<=[a-z]{3})isation"), "ization"),
    (re.compile(r"(?<=[a-z]{3})is(e[rd]?|ing)$"), r"iz\1"),
    (re.compile(r"(?<=[a-z]{2})our(?=$|ed|er|ing|ist|s|al|able)"), "or"),
    (re.compile(r"(?<=[a-z]{2})tre$"), "ter"),
    (re.compile(r"(?<=[a-z]{2})ogue$"), "og"),
    (re.compile(r"programme"), "program"),
    # Doubled letters are what people get wrong first, and no two roles differ by them alone.
    # The prefix of "nonnative" and "unnamed" keeps its letter.
    (re.compile(r"(?<!^no)(?<!^u)([a-z])\1"), r"\1"),
)
#: What people cut short in writing.
_SHORT = {
    "dev": "developer",
    "eng": "engineer",
    "mgr": "manager",
    "prof": "professor",
    "asst": "assistant",
    "sgt": "sergeant",
    "cpl": "corporal",
    "acct": "accountant",
    "coord": "coordinator",
    "mktg": "marketing",
    "govt": "government",
    "mgmt": "management",
    "jr": "junior",
    "sr": "senior",
    "intl": "international",
}
#: The second word of a compound that is written as one word, as two or with a hyphen.
_COMPOUND_ENDINGS = (
    "dresser",
    "keeper",
    "fighter",
    "layer",
    "woman",
    "man",
    "tender",
    "maker",
    "smith",
    "worker",
    "owner",
    "writer",
    "guard",
    "setter",
    "binder",
    "holder",
    "builder",
    "teacher",
    "master",
    "shoreman",
    "sitter",
    "minder",
    "giver",
    "walker",
    "turner",
    "blower",
    "brewer",
    "watcher",
    "gazer",
    "boarder",
    "husband",
    "wife",
    "stylist",
    "cutter",
)
_HAN_ENDING = re.compile(r"(?:工作者|从业者|从业人员|人员|师傅|人|员|者|师|工|户|匠|家|手|的)$")
_IRREGULAR = {"women": "woman", "men": "man", "children": "child", "wives": "wife", "people": "people", "mice": "mouse"}


@lru_cache(maxsize=8192)
def normal(word: str) -> str:
    """A folded word in the singular and in one spelling."""
    word = word.removesuffix("'s").removesuffix("'").strip("'") or word
    word = _IRREGULAR.get(word, word)
    word = _SHORT.get(word, word)
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
    no_slips: frozenset[str]
    """Normal words of occupations, and others, that are no slip of the pen for a word of the tables."""
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


def _compounds(roles: dict[Phrase, Phrase], lines: list[list[str]]) -> dict[Phrase, Phrase]:
    """The roles, with every compound known both as one word and as two."""
    both = dict(roles)
    for name in (fold(name) for line in lines for name in line if name.isascii()):
        role, (first, *rest) = roles[phrase(name)], name.split()
        if len(rest) == 1:
            both.setdefault(phrase(first + rest[0]), role)
        for ending in () if rest else _COMPOUND_ENDINGS:
            start = first.removesuffix(ending)
            if start != first and len(start) >= 3:
                both.setdefault(phrase(f"{start} {ending}"), role)
    return both


def _meaning(name: str, roles: dict[Phrase, Phrase], han_roles: dict[str, Phrase]) -> Phrase:
    return han_roles.get(name, (name,)) if has_han(name) else roles.get(phrase(name), phrase(name))


def _with_owners(lines: list[list[str]], businesses: dict[str, list[str]]) -> list[list[str]]:
    """The lines, and one for the owner of each place of business."""
    owners = []
    for place, places in businesses.items():
        han = [name for other in places for name in (f"{other}老板", f"{other}店主", f"开{other}的")]
        owners.append([f"{place} owner", f"{place} proprietor", *han])
    return [*lines, *owners]


def _named_forms(
    lines: list[list[str]], roles: dict[Phrase, Phrase], han_roles: dict[str, Phrase]
) -> dict[str, list[str]]:
    """What the names of roles say themselves: a patent attorney is an attorney, 钢筋工 a worker."""
    identities, forms = words("identities"), dict[str, list[str]]()
    heads = {head: _meaning(head, roles, han_roles) for head in identities["heads"]}
    endings, not_manual = tuple(heads), tuple(identities["not_manual"])
    general, unlike = set(map(_one, (*identities["general"], *identities["vague"]))), set(identities["unlike"])
    for line in lines:
        if line[0] in unlike:
            continue
        first = phrase(line[0])
        found = {roles[end] for start in range(1, len(first)) if (end := first[start:]) in roles and end not in general}
        for name in line:
            if name.endswith(endings):
                found |= {role for head, role in heads.items() if name.endswith(head if has_han(head) else f" {head}")}
            if name.endswith(("工", "工人")) and not name.endswith(not_manual):
                found.add(phrase("manual worker"))
        for general_role in found - {first}:
            forms.setdefault(" ".join(general_role), []).append(line[0])
    return forms


def _chains(*tables: dict[str, list[str]]) -> dict[Phrase, frozenset[Phrase]]:
    """Everything that a role is a form of, however many steps away."""
    parents: dict[Phrase, set[Phrase]] = {}
    for general_name, names in (entry for forms in tables for entry in forms.items()):
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
    lines = _with_owners(identities["same"], identities["businesses"])
    roles, han_roles = _by_name(lines)
    named_forms = _named_forms(lines, roles, han_roles)
    roles = _compounds(roles, lines)
    modifiers, han_modifiers = _by_name(narrowing["same"])
    owners = {"business owner": [f"{place} owner" for place in identities["businesses"]]}
    parents = _chains(identities["forms"], named_forms, owners)
    children: dict[Phrase, set[Phrase]] = {}
    for form, generals in parents.items():
        for general in generals:
            children.setdefault(general, set()).add(form)
    names: dict[Phrase, list[str]] = {}
    for line in lines:
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
        no_slips=frozenset(word for name in (*_occupations(), *narrowing["no_slips"]) for word in phrase(name)),
        longest_han=max(map(len, (*han_roles, *han_modifiers))),
    )


def _occupations() -> list[str]:
    return [name for name in words("occupations")["en"].split(",") if name.strip()]


def _one(name: str) -> Phrase:
    """A name of the general or vague list: Chinese as one word."""
    return (fold(name).replace(" ", ""),) if has_han(name) else phrase(name)
