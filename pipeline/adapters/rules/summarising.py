"""The summary of a conversation as far as plain words tell: what is not said anew stays as it was."""

import re
from collections.abc import Sequence

from pipeline.domain.progress import (
    clauses,
    goal_in,
    is_advice,
    is_problem,
    is_solved,
    next_in,
    sentences,
    speaks_of_known,
)
from pipeline.domain.quoting import ground_of, spoken
from pipeline.ports import Json, Said
from schemas.features import Summary

_CODE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•#>]+|\d+[.)])\s*")
_LONGEST = 160


def summarised(previous: Summary, messages: Sequence[Said]) -> dict[str, Json]:
    """The summary brought up to date, in the words of the messages."""
    target, blocker = previous.target, previous.blocker
    suggestion, step = previous.suggestion, previous.next_step
    for message in messages:
        if message.role == "assistant":
            suggestion = _advice(message.text) or suggestion
            continue
        for sentence in sentences(spoken(ground_of(message.text))):
            goal = goal_in(sentence)
            if goal and (goal.plain or not target):
                target = goal.text
            step = next_in(sentence) or step
        for clause in (clause for sentence in sentences(message.text) for clause in clauses(sentence)):
            if is_solved(clause):
                blocker = ""
            elif is_problem(clause) and not (blocker and speaks_of_known(clause)):
                blocker = clause
    return {
        "target": _shortened(target),
        "blocker": _shortened(blocker),
        "suggestion": suggestion,
        "nextStep": _shortened(step),
    }


def _advice(text: str) -> str:
    """The first advice of an answer."""
    for sentence in sentences(_CODE.sub("\n", text)):
        plain = _BULLET.sub("", sentence).replace("**", "")
        if is_advice(plain):
            return _shortened(plain)
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
