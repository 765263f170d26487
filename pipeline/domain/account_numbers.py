"""The numbers of bank cards and bank accounts, by their issuer or country and their check digits."""

import re
from collections.abc import Iterator
from functools import lru_cache

from stdnum import iban, luhn, numdb

_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})$|(?:5[1-5]|2[2-7])\d{14}$|3[47]\d{13}$|3(?:0[0-5]|[68]\d)\d{11}$|35\d{14}$"
    r"|(?:6011|64[4-9]|65\d)\d{12,13}|(?:62|60|90|94|95|99)\d{14,17}$|(?:1800|2131)\d{11}$"
    r"|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}$"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{2}\d\d(?=[ -]?[A-Za-z0-9])")


def is_issued(digits: str) -> bool:
    """Whether a known issuer has cards of such a number and its check digit is right."""
    return _ISSUERS.match(digits) is not None and luhn.is_valid(digits)


def iban_spans(plain: str) -> Iterator[tuple[int, int]]:
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
