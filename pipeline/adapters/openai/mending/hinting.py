"""Where the rules' reading of a question's subject stands in for the model's."""

from collections.abc import Sequence
from typing import Any

from pipeline.adapters.rules.continuing import among
from pipeline.adapters.rules.reading import read
from pipeline.domain.extraction import read_extraction
from pipeline.domain.lexicon import lexicon
from pipeline.domain.mentions import echoes, is_a_role
from pipeline.domain.roles import role_of
from pipeline.domain.spelling import fold, has_han, spans

#: The least score of a hint that is stronger than a name of the model's: one word alone does not reach it.
_STRONG = 0.4


def add_hints(proposal: dict[str, Any], question: str, plain: dict[str, Any]) -> None:
    """What the subject suggests goes in where no identity of the model's is left, or only an echo of the question.

    It goes in with the rules' own low score, and only where few others speak of that subject. A known role that the
    question goes on with stands in for its misquoted name. Of 400 held-out texts that say nothing of who wrote them,
    the rules learn an identity above LOW from 1.0 %.
    """
    extraction = read_extraction(proposal, question)
    if plain["states"] or extraction is None or extraction.states:
        return
    fallen = [] if extraction.identities else proposal["identities"]
    scores = {hint.name: hint.score for hint in read(question).hints if hint.sure}
    hinted = [
        name for name in plain["identities"] if among(name, [*scores, *fallen]) and not among(name, extraction.denies)
    ]
    if not hinted or not all(_is_an_echo(name, proposal, question) for name in extraction.identities):
        return
    strong = [name for name, score in scores.items() if score >= _STRONG]
    if not all(_yields(name, hinted, strong) for name in extraction.identities):
        return
    proposal["identities"], proposal["score"], proposal["overview"] = hinted, plain["score"], plain["overview"]
    for item in plain["evidence"]:
        if supports := [name for name in item["supports"] if name in hinted]:
            proposal["evidence"].append({"quote": item["quote"], "supports": supports})


def _is_an_echo(name: str, proposal: dict[str, Any], question: str) -> bool:
    """Whether a name only puts a head to words of the question; a role that its own quote spells out is none."""
    quotes = [item["quote"] for item in proposal["evidence"] if name in item["supports"]]
    return echoes(question, name) and not (_says_whom(name) and any(spans(name, quote) for quote in quotes))


def _says_whom(name: str) -> bool:
    """Whether a name has the head of a role, and of none that fits anybody: expert, user."""
    return is_a_role(name) and not all(part.head in lexicon().vague for part in role_of(name).parts)


def _yields(name: str, hinted: Sequence[str], strong: Sequence[str]) -> bool:
    """Whether the hints say another subject than an echo's, each in more than one word; what is no role always does."""
    if among(name, hinted):
        return False
    return not _says_whom(name) or all(
        among(hint, strong) and _subject(hint) and _subject(name).isdisjoint(_subject(hint)) for hint in hinted
    )


def _subject(name: str) -> set[str]:
    """The words of a name before its head; a name of one word has none, and so says no other subject."""
    key = fold(name)
    if has_han(key):
        return {key[place : place + 2] for place in range(len(key) - 3)}
    return set(key.split()[:-1])
