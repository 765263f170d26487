"""What code mends in a proposal before it is judged: plain statements go in, and what no word bears out goes out.

A name goes out by losing the quotes that support it: the rules that judge a proposal then drop it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pipeline.adapters.rules.proposing import proposed
from pipeline.adapters.rules.reading import read
from pipeline.domain.languages import fits_language, language_name
from pipeline.domain.mentions import hints_at, mentions
from pipeline.domain.proposals import distinct, names_of, object_of
from pipeline.domain.quoting import own_words
from pipeline.domain.similarity import lexical
from pipeline.domain.spelling import fold, lines_up, simplified, spans
from pipeline.ports import Json
from pipeline.prompts import prompt
from pipeline.words import words

#: From here on two names agree.
_AGREE = 0.8
_NAMES = ("identities", "characteristics", "states", "denies")
_SENTENCE_END = re.compile(r"[.!?。！？\n]+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\u30ff\uac00-\ud7af]")
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,})\s*")


def amended(content: Json, question: str, history: Iterable[str]) -> Json:
    """The proposal for a question, mended; what is no object stays as it is."""
    raw = object_of(content)
    if raw is None:
        return content
    plain = proposed(question, list(history))
    proposal: dict[str, Any] = raw | {key: names_of(raw.get(key)) for key in _NAMES}
    proposal["preferences"] = _by_field(raw.get("preferences"))
    proposal["evidence"] = list(_evidence(proposal, question, plain["states"]))
    _drop_unsaid(proposal, question)
    _add_plain_claims(proposal, plain)
    if not fits_language(str(raw.get("overview") or ""), question):
        proposal["overview"] = ""
    return proposal


def _by_field(preferences: Any) -> Any:
    """One entry a field, as the port has it; the first of two that name one field."""
    if not isinstance(preferences, list):
        return preferences
    entries = [entry for entry in preferences if isinstance(entry, dict) and isinstance(entry.get("field"), str)]
    return {entry["field"]: entry for entry in reversed(entries)}


def _evidence(proposal: dict[str, Any], question: str, stated: Any) -> Iterator[dict[str, Json]]:
    """The quotes in the question's own letters, each with those of the proposed names that it supports."""
    names = distinct(name for key in _NAMES for name in proposal[key])
    foreign = {fold(name) for name in names if _foreign(name, question) and not _among(name, stated)}
    items = proposal.get("evidence")
    for item in items if isinstance(items, list) else []:
        quote, supports = (item.get("quote"), item.get("supports")) if isinstance(item, dict) else (item, names)
        supported = [name for name in _named(supports, names) if fold(name) not in foreign]
        for part in _as_said(quote, question) if isinstance(quote, str) else ():
            yield {"quote": part, "supports": list[Json](supported)}


def _named(supports: Any, names: list[str]) -> Iterator[str]:
    """The proposed names that are meant: a quote for "nurse" is one for the "ward nurse" of the same proposal."""
    for meant in names_of(supports if isinstance(supports, list) else [supports]):
        same = [name for name in names if fold(name) == fold(meant)]
        yield from same or [name for name in names if lexical(meant, name) >= _AGREE]


def _as_said(quote: str, question: str) -> list[str]:
    """The quote as the question has it, where no more than signs, blanks and the script of Chinese differ."""
    if spans(quote, question):
        return [quote]
    letters, places = _letters(question)
    found = []
    for part in _ELLIPSIS.split(quote):
        wanted, _ = _letters(part)
        at = letters.find(wanted)
        if wanted and at >= 0:
            found.append(question[places[at] : places[at + len(wanted) - 1] + 1])
    return found or [quote]


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text, and where each of them stands."""
    plain = [(lines_up(char), place) for place, char in enumerate(simplified(text)) if char.isalnum()]
    return "".join(chars for chars, _ in plain), [place for chars, place in plain for _ in chars]


def _foreign(name: str, question: str) -> bool:
    """Whether a name is not of this question, or not of its user.

    It is copied from the prompt's examples, or in another language; the question instructs the model, or asks about
    the occupation as anybody may.
    """
    if not fits_language(name, question) or (fold(name) in _example_names() and not hints_at(question, name)):
        return True
    own = read(question).own
    return own.planted or (own.on_a_trade and mentions(question, name))


@cache
def _example_names() -> frozenset[str]:
    lines = [json.loads(line) for line in prompt("extraction").filled.splitlines() if line.startswith("{")]
    return frozenset(fold(name) for line in lines for key in _NAMES[:2] for name in line.get(key, []))


def _drop_unsaid(proposal: dict[str, Any], question: str) -> None:
    """A statement names its role and its speaker, a denial says no; in other languages code cannot tell."""
    proposal["identities"] = distinct([*proposal["identities"], *proposal["states"]])
    if _OTHER_SCRIPT.search(question) or language_name(question) not in (None, "English", "中文"):
        return
    sentences = _SENTENCE_END.split(own_words(question).replace("’", "'"))
    of_self = [sentence for sentence in sentences if _has("selves", sentence)]
    proposal["states"] = [name for name in proposal["states"] if any(hints_at(said, name) for said in of_self)]
    if not any(_has("denials", sentence) for sentence in sentences):
        proposal["denies"] = []


def _has(kind: str, sentence: str) -> bool:
    return re.search(words("amending")[kind], sentence, re.IGNORECASE) is not None


def _add_plain_claims(proposal: dict[str, Any], plain: dict[str, Any]) -> None:
    """What the rules read outright is certain: it goes in with its quotes, and what it contradicts goes out."""
    stated, denied = plain["states"], plain["denies"]
    proposal["states"] = [name for name in proposal["states"] if not _among(name, denied) or _among(name, stated)]
    proposal["denies"] = [name for name in proposal["denies"] if not _among(name, stated)]
    new = [name for name in stated if not _among(name, proposal["states"])]
    proposal["states"] += new
    proposal["identities"] = distinct([*new, *proposal["identities"]])
    proposal["denies"] = distinct([*denied, *proposal["denies"]])
    claims = {fold(name) for name in (*new, *denied)}
    for item in plain["evidence"]:
        if claims & set(map(fold, item["supports"])):
            proposal["evidence"].append(item)
    if new:
        proposal["score"] = plain["score"]


def _among(name: str, others: Iterable[str]) -> bool:
    return any(lexical(name, other) >= _AGREE for other in others)
