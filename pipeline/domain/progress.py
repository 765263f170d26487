"""What users say in plain words of how far they are: a goal, a problem, that it is solved, what they do next."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pipeline.domain.quoting import ground_of
from pipeline.words import words

#: What is read of a message: its beginning, and the end of a long one.
_HEAD, _TAIL, _LONGEST_SENTENCE = 2000, 1000, 300
_SENTENCE_END = re.compile(r"[!?。！？；;\n]+|\.(?=\s|$)")
_CLAUSE_END = re.compile(r"[，,](?!\d)|\s(?:but|yet)\s|但是?|不过|可是", re.IGNORECASE)
_SHORTEST = 3


@dataclass(frozen=True)
class Goal:
    """What somebody is after, in their words."""

    text: str
    plain: bool
    """Called a goal, or said to have changed; else a wish, which may be one."""


def without_planted(text: str) -> str:
    """The ends of a message, without the lines that instruct a model."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    kept, at = [], 0
    for start, end in sorted(ground_of(text).planted):
        kept.append(text[at:start])
        at = max(at, end)
    return "".join([*kept, text[at:]]).strip()


def sentences(text: str) -> list[str]:
    """The sentences, cut where they run on."""
    plain = text.replace("’", "'")
    return [
        sentence[at : at + _LONGEST_SENTENCE].strip()
        for sentence in _SENTENCE_END.split(plain)
        if sentence.strip()
        for at in range(0, len(sentence), _LONGEST_SENTENCE)
    ]


def clauses(sentence: str) -> list[str]:
    """What stands between commas and before a "but"."""
    return [clause.strip() for clause in _CLAUSE_END.split(sentence) if clause and clause.strip()]


def goal_in(sentence: str) -> Goal | None:
    """What the sentence says that its writer is after."""
    if _finds("supposed", sentence):
        return None
    for kind in ("goals", "wishes"):
        if text := _words_of(kind, sentence):
            return Goal(text, plain=kind == "goals" or _finds("changed", sentence))
    return None


def next_in(sentence: str) -> str:
    """What the sentence says that its writer does next; empty where it does not."""
    return "" if _finds("supposed", sentence) else _words_of("next", sentence)


def is_solved(clause: str) -> bool:
    return _finds("solved", clause) and not _finds("not_solved", clause)


def is_problem(clause: str) -> bool:
    return _finds("problems", clause) and not any(_finds(kind, clause) for kind in ("no_problem", "supposed"))


def speaks_of_known(problem: str) -> bool:
    """Whether it names no problem of its own ("it still fails")."""
    return _finds("again", problem)


def gives_up(clause: str) -> bool:
    return _finds("given_up", clause)


def names_any_goal(clause: str) -> bool:
    """Whether it speaks of a project, a plan or a goal without saying which."""
    return _finds("any_goal", clause)


def is_advice(sentence: str) -> bool:
    return _finds("advice", sentence)


def says_nothing(part: str) -> bool:
    """Whether it is a word for "none"."""
    return not part or any(pattern.fullmatch(part) for pattern in _patterns("nothing"))


def _words_of(kind: str, sentence: str) -> str:
    """What the first pattern that finds something gives, without what is asked after it."""
    for pattern in _patterns(kind):
        if match := pattern.search(sentence):
            text = _patterns("after")[0].split(match["words"])[0].strip(" ,，、:：-—了")
            return "" if len(text) < _SHORTEST or _finds("asked", text) else text
    return ""


def _finds(kind: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _patterns(kind))


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    listed: str | Iterable[str] = words("summary")[kind]
    return tuple(re.compile(one, re.IGNORECASE) for one in ([listed] if isinstance(listed, str) else listed))
