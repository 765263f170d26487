"""Where the rules' reading of a question's subject stands in for the model's."""

from collections.abc import Sequence
from typing import Any

from pipeline.adapters.rules.continuing import among
from pipeline.adapters.rules.reading import read
from pipeline.domain.extraction import read_extraction
from pipeline.domain.mentions import echoes, is_a_role
from pipeline.domain.spelling import fold, has_han


def add_hints(proposal: dict[str, Any], question: str, plain: dict[str, Any]) -> None:
    """What the subject suggests goes in where no identity of the model's is left, or only an echo of the question.

    It goes in with the rules' own low score. Where the model named somebody whom the question does not bear out, so
    does what the question goes on with; where it named nobody, only a subject that few others speak of does. Of 400
    held-out texts that say nothing of who wrote them, the rules learn an identity above LOW from 1.0 %.
    """
    extraction = read_extraction(proposal, question)
    if plain["states"] or extraction is None or extraction.states:
        return
    hinted = [name for name in plain["identities"] if not among(name, extraction.denies)]
    sure = [hint.name for hint in read(question).hints if hint.sure]
    fell = not extraction.identities and proposal["identities"]
    if not fell and not any(among(name, sure) for name in hinted):
        return
    if not hinted or not all(_yields(name, hinted, question) for name in extraction.identities):
        return
    proposal["identities"], proposal["score"], proposal["overview"] = hinted, plain["score"], plain["overview"]
    for item in plain["evidence"]:
        if supports := [name for name in item["supports"] if name in hinted]:
            proposal["evidence"].append({"quote": item["quote"], "supports": supports})


def _yields(name: str, hinted: Sequence[str], question: str) -> bool:
    """Whether a name only repeats words of the question ("pump technician" of "our pump"), and the hints say others.

    A name for the same subject as the hint's stays (a candle seller, a candle maker), unless it names no role at all.
    """
    if among(name, hinted) or not echoes(question, name):
        return False
    return not is_a_role(name) or all(_subject(name).isdisjoint(_subject(hint)) for hint in hinted)


def _subject(name: str) -> set[str]:
    """The words of a name before its head."""
    key = fold(name)
    if has_han(key):
        return {key[place : place + 2] for place in range(len(key) - 3)}
    return set(key.split()[:-1])
