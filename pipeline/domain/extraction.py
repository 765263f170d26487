"""What a model proposed, checked against the question: only what the user's own words bear out stays."""

import re
from dataclasses import dataclass, replace
from functools import cache

from pipeline.domain.guards import asks_what_anybody_may, clauses_of, fits_anybody, not_of_the_user, turned
from pipeline.domain.languages import fits_language
from pipeline.domain.mentions import mentions
from pipeline.domain.proposals import (
    MAX_READ,
    distinct,
    names_of,
    object_of,
    overview_text,
    preferences_of,
    score_of,
    text_of,
)
from pipeline.domain.quoting import Ground, Span, ground_of, inside, spoken
from pipeline.domain.remembering import Unwished, unwished
from pipeline.domain.similarity import Relation, covers, relation
from pipeline.domain.spelling import fold, simplified, spans
from pipeline.ports import Json
from pipeline.words import words
from schemas.role import MAX_CHARACTERISTICS, MAX_QUOTE, Extraction, Quote

#: How many identities are handed on; arbitration cuts them to five once it has taken the denied ones out.
_MAX_HANDED_ON = 20
#: The most that a neutral question is worth: it leaves a role LOW, whatever the model thinks.
NEUTRAL_SCORE_MAX = 0.45
#: Ways in which a name says that the role is not of today.
_OTHER_TIMES = {"former", "future"}
#: Curly marks as straight ones, one for one: places stay.
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")


@dataclass(frozen=True)
class _Support:
    """A quote that is in the question, where, and the folded names that it supports; None: all of its turn."""

    quote: str
    places: tuple[Span, ...]
    names: frozenset[str] | None

    def names_it(self, name: str) -> bool:
        return self.names is None or fold(name) in self.names


def read_extraction(raw: Json, question: str) -> Extraction | None:
    """Make of a proposal what the question bears out; None where no object can be read from it."""
    proposal = object_of(raw)
    if proposal is None:
        return None
    ground, supports = ground_of(question), _supports(proposal.get("evidence"), question)
    stated = _in_language(_roles_of(proposal.get("states")), question)
    proposed = distinct([*_in_language(_roles_of(proposal.get("identities")), question), *stated])
    borne_out = [name for name in proposed if _borne_out(name, supports, ground) and not fits_anybody(name)]
    states = [name for name in stated if _borne_out(name, supports, ground, in_code=False)]
    # A role that somebody claims in a code comment is a claim of whoever wrote the code.
    claimed_in_code = set(map(fold, stated)) - set(map(fold, states))
    of_today = [name for name in borne_out if not turned(name) & _OTHER_TIMES and fold(name) not in claimed_in_code]
    identities = _cut(of_today, states)
    # What somebody was or wants to be is a characteristic, whichever list it was put on.
    traits = _in_language(names_of(proposal.get("characteristics")), question)
    traits = [name for name in traits if any(support.names_it(name) for support in supports)]
    traits += [name for name in borne_out if turned(name) & _OTHER_TIMES]
    traits = distinct(traits)[: 2 * MAX_CHARACTERISTICS]
    denied = _in_language(names_of(proposal.get("denies")), question)
    denies = [name for name in denied if _denied(name, supports, ground)]
    identities, denies, supports = _without_unwished(identities, states, denies, supports, ground)
    preferences, scopes = preferences_of(proposal.get("preferences"))
    return Extraction(
        identities=identities,
        characteristics=traits,
        evidence=_evidence(supports, ground, [*identities, *denies], traits),
        preferences=preferences,
        preference_scopes=scopes,
        states=[name for name in identities if fold(name) in set(map(fold, states))],
        denies=denies,
        score=_score(proposal.get("score"), question),
        overview=_overview(
            proposal.get("overview"), question, identities, [*names_of(proposal.get("identities")), *stated]
        ),
    )


def asks(name: str) -> bool:
    """Whether a name holds the word of a question, so that the user asks for the role and says none."""
    return _question().search(simplified(name)) is not None


def _roles_of(value: object) -> list[str]:
    return [name for name in names_of(value) if not asks(name)]


@cache
def _question() -> re.Pattern[str]:
    return re.compile(words("statements")["questions"], re.IGNORECASE)


def _in_language(names: list[str], question: str) -> list[str]:
    """Those in the language of the question; a question in two languages takes both."""
    return [name for name in names if fits_language(name, question)]


def _score(value: object, question: str) -> float:
    score = score_of(value)
    return min(score, NEUTRAL_SCORE_MAX) if asks_what_anybody_may(question) else score


def _cut(names: list[str], states: list[str]) -> list[str]:
    """Not more than arbitration can want, stated ones before the others where some must go."""
    if len(names) <= _MAX_HANDED_ON:
        return names
    stated = set(map(fold, states))
    return sorted(names, key=lambda name: fold(name) not in stated)[:_MAX_HANDED_ON]


def _supports(value: object, question: str) -> list[_Support]:
    """The quotes that are in the question; a plain string supports everything of its turn."""
    found, straight = [], question.translate(_STRAIGHT)
    for item in value[:MAX_READ] if isinstance(value, list) else []:
        names: frozenset[str] | None = None
        quote = item
        if isinstance(item, dict):
            quote, supported = item.get("quote"), item.get("supports")
            listed = supported if isinstance(supported, list) else [supported]
            names = frozenset(fold(name) for name in listed if isinstance(name, str))
        text = text_of(quote, MAX_QUOTE)
        if text is None or names == frozenset() or not _says_something(text):
            continue
        places = tuple(spans(text.translate(_STRAIGHT), straight))
        if places:
            start, end = places[0]
            found.append(_Support(text_of(question[start:end], MAX_QUOTE) or text, places, names))
    return found


def _says_something(text: str) -> bool:
    """Whether a quote is more than punctuation; an emoji is."""
    return any(char.isalnum() or ord(char) >= 0x1F000 for char in text)


def _borne_out(name: str, supports: list[_Support], ground: Ground, *, in_code: bool = True) -> bool:
    """Whether a quote that names the identity is the user's word for who they are today."""
    return any(
        support.names_it(name) and _own(place, ground, in_code) and not _of_somebody_else(place, name, ground)
        for support in supports
        for place in support.places
    )


def _own(place: Span, ground: Ground, in_code: bool) -> bool:
    """Whether the place is outside everything that was quoted, pasted or planted; `in_code` lets code count."""
    if inside(place, ground.quoted) or inside(place, ground.planted):
        return False
    return in_code or not inside(place, ground.code)


def _of_somebody_else(place: Span, name: str, ground: Ground) -> bool:
    """Whether every clause of the quote that speaks of the role speaks of somebody else or of another time.

    The same goes for a quote in which only a quotation speaks of it.
    """
    start, end = place
    if mentions(ground.text[start:end], name) and not mentions(spoken(ground)[start:end], name):
        return True
    touched = clauses_of(place, ground.text)
    caught = [clause for clause in touched if not_of_the_user(clause, name)]
    return bool(caught) and all(clause in caught or not mentions(clause, name) for clause in touched)


def _denied(name: str, supports: list[_Support], ground: Ground) -> bool:
    return any(
        support.names_it(name) and _own(place, ground, in_code=False)
        for support in supports
        for place in support.places
    )


def _without_unwished(
    identities: list[str], states: list[str], denies: list[str], supports: list[_Support], ground: Ground
) -> tuple[list[str], list[str], list[_Support]]:
    """A role that the question asks to forget, or not to remember, is denied by it, unless it is stated beside."""
    for wish in unwished(ground.text):
        beside = replace(ground, quoted=(*ground.quoted, wish.place))
        said = {
            name
            for name in identities
            if (name in states or mentions(ground.text[slice(*wish.place)], name) or _is_of(name, wish))
            and not _borne_out(name, supports, beside)
        }
        named = [role for role in wish.roles if not any(covers(role, name) for name in identities if name not in said)]
        identities = [name for name in identities if name not in said]
        denies = distinct([*denies, *named, *(name for name in said if not _is_of(name, wish))])
        supports = [*supports, *_supports([{"quote": wish.quote, "supports": denies}], ground.text)]
    return identities, denies, supports


def _is_of(name: str, wish: Unwished) -> bool:
    return any(covers(role, name) for role in wish.roles)


def _evidence(supports: list[_Support], ground: Ground, claims: list[str], traits: list[str]) -> list[Quote]:
    """Each quote once, with what of the extraction it supports."""
    merged: dict[str, tuple[str, list[str]]] = {}
    for support in supports:
        own = [name for name in claims if _supports_claim(support, name, ground)]
        names = own + [name for name in traits if support.names_it(name)]
        quote, known = merged.get(fold(support.quote), (support.quote, []))
        merged[fold(support.quote)] = (quote, known + [name for name in names if name not in known])
    return [Quote(quote=quote, supports=names) for quote, names in merged.values() if names]


def _supports_claim(support: _Support, name: str, ground: Ground) -> bool:
    return support.names_it(name) and any(_own(place, ground, in_code=True) for place in support.places)


def _overview(value: object, question: str, kept: list[str], proposed: list[str]) -> str:
    """The overview; empty in another language, or where it names an identity that the question does not bear out."""
    rejected = [name for name in _in_language(proposed, question) if fold(name) not in set(map(fold, kept))]
    text = overview_text(value)
    if not fits_language(text, question) or any(_is_foreign(name, text, question) for name in proposed):
        return ""
    unrelated = {Relation.NONE, Relation.RIVAL}
    strangers = [name for name in rejected if all(relation(name, own) in unrelated for own in kept)]
    return "" if any(mentions(text, name) for name in strangers) else text


def _is_foreign(name: str, text: str, question: str) -> bool:
    """Whether the text names an identity in another language than the question's."""
    return not fits_language(name, question) and fold(name) in fold(text)
