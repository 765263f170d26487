"""The numbers of bank cards and accounts, by their issuer or country, their check digits and the words beside them."""

import re
from collections.abc import Iterator
from functools import lru_cache

from stdnum import iban, luhn, numdb

from pipeline.domain.cues import counts, is_called, named
from pipeline.domain.finders import Finder, Span, every
from pipeline.domain.number_shapes import EDGE, END, NO_DIGITS, is_one, is_regular

_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})$|(?:5[1-5]|2[2-7])\d{14}$|3[47]\d{13}$|3(?:0[0-5]|[68]\d)\d{11}$|35\d{14}$"
    r"|(?:6011|64[4-9]|65\d)\d{12,13}|(?:62|60|90|94|95|99)\d{14,17}$|(?:1800|2131)\d{11}$"
    r"|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}$"
)
_CARD = re.compile(
    rf"(?=\d)(?:{EDGE}|(?<=(?<![A-Za-z])(?i:visa|card|amex)))"
    rf"(?:\d{{4}}(?:([ .·_-]?)\d{{4}}(?:\1\d{{4}}){{0,2}}(?:\1\d{{1,4}}(?!/))?)"
    rf"|\d{{4}}([ -])\d{{6}}\2\d{{4,5}}"
    rf"|\d{{12,19}}|\d{{6}}[ -]\d{{10,13}}|\d{{4}} \d{{12,15}}){END}"
)
#: With a month, a code or the like behind it.
_CARD_AND_MORE = re.compile(rf"(?=\d){EDGE}\d{{4}}([ -])\d{{4}}\1\d{{4}}\1\d{{4}}(?=\1\d)")
_SPREAD_CARD = re.compile(
    rf"(?=\d){EDGE}(?:\d(?:[ .·_/|-]{{0,3}}\d){{14,18}}|\d{{4}}(?:\n\d{{4}}){{3}}(?:\n\d{{1,3}})?){END}"
)
_UNION_PAY = re.compile(r"62\d\d \d{4} \d{4} \d{4}(?: \d{1,3})?$|62[1-3]\d{13}(?:\d{3})?$")
_IBAN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{2}\d\d(?=[ -]?[A-Za-z0-9])")
_ACCOUNT = r"\d(?:[ -]?\d){7,18}"


def card_finders() -> Iterator[Finder]:
    """What to look for, the surer before what it could be mistaken for."""
    yield _ibans
    yield every(_CARD, _is_card)
    yield every(_CARD_AND_MORE, _is_card)
    yield every(_SPREAD_CARD, _is_spread_card)
    yield named("account", _ACCOUNT)


def _ibans(plain: str) -> Iterator[Span]:
    """International account numbers, of the length that their country gives them, by their check digits."""
    place = 0
    for start in _IBAN.finditer(plain):
        match = _iban_of(start[0][:2].upper()).match(plain, start.start())
        if match and match.start() >= place and iban.is_valid(match[0], check_country=False):
            place = match.end()
            yield match.span()


@lru_cache(maxsize=512)
def _iban_of(country: str) -> re.Pattern[str]:
    parts = numdb.get("iban").info(country)[0][1].get("bban", "")
    length = sum(map(int, re.findall(r"(\d+)!", parts)))
    return re.compile(rf"[A-Za-z]{{2}}\d\d(?:[ -]?[A-Za-z0-9]){{{length}}}(?![A-Za-z0-9_])" if length else "(?!)")


def _is_card(plain: str, match: re.Match[str]) -> bool:
    """A card of a known issuer by its check digit, or any with one, or of plain length, that is called a card."""
    digits = NO_DIGITS.sub("", match[0])
    if not 12 <= len(digits) <= 19:
        return False
    called, counted = is_called("card", plain, match), counts(plain, match)
    if called and not counted:
        return len(digits) >= 15 or luhn.is_valid(digits)
    if counted and digits == match[0] and not called:
        return False
    return _is_issued(digits) or (_UNION_PAY.match(match[0]) is not None and not counted)


def _is_issued(digits: str) -> bool:
    """Whether a known issuer has cards of such a number and its check digit is right."""
    return _ISSUERS.match(digits) is not None and luhn.is_valid(digits)


def _is_spread_card(plain: str, match: re.Match[str]) -> bool:
    """Digits in odd groups are a card's where words say so, or, in groups all alike, by issuer and check digit."""
    if not is_one(match[0]) or counts(plain, match):
        return False
    return is_called("card", plain, match) or (is_regular(match[0]) and _is_issued(NO_DIGITS.sub("", match[0])))
