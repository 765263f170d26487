"""The quotes of a proposal in the question's own letters, each with those names that it can support."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.adapters.openai.mending.naming import ROLES
from pipeline.adapters.openai.mending.put_away import put_away
from pipeline.adapters.rules.continuing import agree, among, only_a_wish
from pipeline.adapters.rules.patterns import compiled
from pipeline.adapters.rules.reading import read
from pipeline.domain.languages import fits_language
from pipeline.domain.mentions import is_a_role, mentions
from pipeline.domain.proposals import distinct, names_of
from pipeline.domain.spelling import fold, has_han, lines_up, simplified, spans
from pipeline.ports import Json
from pipeline.words import words

_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,})\s*")


def mended_evidence(
    proposal: dict[str, Any], question: str, history: Sequence[str], plain: dict[str, Any]
) -> list[dict[str, Json]]:
    """`plain` is what the rules make of the question: a role that they read in it is the user's."""
    roles = distinct(name for key in ROLES for name in proposal[key])
    names = distinct([*roles, *proposal["characteristics"], *proposal["denies"]])
    refused = {name for name in names if _foreign(name, question) and not among(name, plain["states"])}
    doubtful = [name for name in roles if not among(name, plain["identities"])]
    refused |= {name for name in doubtful if _is_a_thing(name) or put_away(name, question, history)}
    items = proposal.get("evidence")
    return list(_quotes(items if isinstance(items, list) else [], question, names, roles, refused))


def _quotes(
    items: list[Any], question: str, names: list[str], roles: list[str], refused: set[str]
) -> Iterator[dict[str, Json]]:
    for item in items:
        quote, supports = (item.get("quote"), item.get("supports")) if isinstance(item, dict) else (item, names)
        supported = [name for name in _named(supports, names) if name not in refused]
        for part in _as_said(quote, question) if isinstance(quote, str) else ():
            # How an answer should be written says nothing of who wants it so.
            borne_out = [name for name in supported if name not in roles] if only_a_wish(part) else supported
            yield {"quote": part, "supports": list[Json](borne_out)}


def _named(supports: Any, names: list[str]) -> Iterator[str]:
    """The proposed names that are meant: a quote for "nurse" is one for the "ward nurse" of the same proposal."""
    for meant in names_of(supports if isinstance(supports, list) else [supports]):
        same = [name for name in names if fold(name) == fold(meant)]
        yield from same or [name for name in names if agree(meant, name)]


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

    It is in another language; the question instructs the model, or asks about the occupation as anybody may.
    """
    if not fits_language(name, question):
        return True
    own = read(question).own
    return own.planted or (own.on_a_trade and mentions(question, name))


def _is_a_thing(name: str) -> bool:
    """Whether a Chinese name is that of a thing, and has neither the head nor the ending of a role: 端午节."""
    return has_han(name) and not is_a_role(name) and compiled(words("amending")["things"]).search(name) is not None
