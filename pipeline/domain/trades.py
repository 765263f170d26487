"""What a question ends of what the user does for a living: by a change of trade, and by denying it."""

import re
from collections.abc import Sequence
from functools import cache

from pipeline.domain.asks import language_of
from pipeline.domain.fact_clauses import plain_of
from pipeline.domain.guards import clauses_of
from pipeline.domain.injected import without_injected
from pipeline.domain.mentions import is_a_role, is_a_trade
from pipeline.domain.observing import is_own
from pipeline.domain.quoting import ground_of
from pipeline.domain.similarity import covers
from pipeline.domain.slots import folded
from pipeline.words import words
from schemas.features import FeatureChange, UserFeature
from schemas.role import MAX_QUOTE, Extraction

_NO_MORE = {"en": "not {}", "zh": "不是{}"}


def trades_left(message: str, known: Sequence[str], states: Sequence[str]) -> dict[str, str]:
    """Those of the known roles that are over with a change of trade to another that is stated, and what says so."""
    trades = [name for name in states if _may_end(name)]
    quote = _change_of_trade(message) if trades else ""
    return {
        name: quote
        for name in known
        if quote and _may_end(name) and not any(covers(name, one) or covers(one, name) for one in trades)
    }


def facts_left(message: str, features: Sequence[UserFeature], extraction: Extraction) -> list[FeatureChange]:
    """The facts that say the user to do or be what they deny or have left, giving way to the trade that they state."""
    of_trade = [one for one in features if one.status == "ACTIVE" and _trade("slots").fullmatch(folded(one.slot))]
    roles = [_role_in(one.value) for one in of_trade]
    left = trades_left(message, [role for role in roles if is_a_trade(role)], extraction.states)
    stated = next((role for role in extraction.states if is_a_role(role) and _may_end(role)), "")
    return [
        FeatureChange(
            slot=feature.slot,
            value=stated or _NO_MORE[language_of(message)].format(role),
            category="PERSONAL_INFO",
            quote=message[:MAX_QUOTE],
        )
        for feature, role in zip(of_trade, roles, strict=True)
        if role in left or any(covers(denied, role) for denied in extraction.denies)
    ]


def _role_in(value: str) -> str:
    """What a fact about the trade says the user to be: "nurse" of "is working as a nurse, for ten years"."""
    return re.split(r"[,;(，；（]", _trade("said").sub("", value))[0].strip()


def _change_of_trade(message: str) -> str:
    """The user's own words that what they did for a living is over; empty where they say no such thing."""
    ground = ground_of(without_injected(message))
    for match in _trade("changed").finditer(plain_of(ground.text)):
        (clause, *_) = clauses_of(match.span(), ground.text)
        before = clause[: clause.find(ground.text[match.start() : match.end()])]
        if is_own(match.span(), ground) and not _trade("unless").search(before):
            return ground.text[match.start() : match.end()]
    return ""


def _may_end(role: str) -> bool:
    """Whether a role may end with a change of trade: a nurse does, and a mother does not."""
    return _trade("stays").search(folded(role)) is None


@cache
def _trade(kind: str) -> re.Pattern[str]:
    return re.compile(words("trades")[kind], re.IGNORECASE)
