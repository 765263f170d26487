"""Masking of personal data: phone numbers, e-mail addresses, bank cards, national ids and street addresses.

A number is told by its shape, its check digits and the words beside it, so that prices, dates, versions and order
numbers stay. Where the shape alone cannot tell, words decide.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from pipeline.domain.account_numbers import card_finders
from pipeline.domain.email_addresses import email_finders
from pipeline.domain.finders import Finder, every
from pipeline.domain.identity_numbers import identity_finders
from pipeline.domain.number_shapes import READ_OUT, with_digits
from pipeline.domain.phone_numbers import phone_finders
from pipeline.domain.street_addresses import address_spans

KINDS = ("phone", "email", "card", "id", "address")
#: In the order in which they are looked for; addresses are the last.
_FINDERS = (("email", email_finders), ("id", identity_finders), ("card", card_finders), ("phone", phone_finders))

_TELLTALE = re.compile(
    r"[\d@＠号號弄室]|(?i:[(\[{（【]\s?at\s?[)\]}）】]|\sat\s.{1,40}\sdot\s)|[艾爱]特|圈[aA]|小老鼠|" + READ_OUT.pattern
)
_PLACEHOLDER = re.compile(r"\[(?:phone|email|card|id|address|masked)\]")
#: Stands where something is masked already; no rule reads across it.
_GONE = "\0"
#: Of full width, what numbers and addresses are written with; a full-width comma never joins digits.
_WIDTH = {ord(char): ord(char) - 0xFEE0 for char in map(chr, range(0xFF01, 0xFF5F)) if char not in "！，：；？"}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−﹣"), "-")
_SPACES = dict.fromkeys(map(ord, "\u3000\u00a0\u2007\u2009\u202f\u200b\u200c\u200d\u2060\ufeff"), " ")
#: What stands for the X of a resident's number.
_TENS = dict.fromkeys(map(ord, "ⅩХх"), "X")
_PLAIN: dict[int, int | str] = {**_WIDTH, **_DASHES, **_SPACES, **_TENS}
#: How many characters are read, all readings of a text together, before it is not read again.
_READ_AGAIN = 32_000


def masked(text: str, kinds: Collection[str] = KINDS, own: tuple[str, ...] = ()) -> str:
    """The text with `[phone]`, `[email]`, `[card]`, `[id]` and `[address]` for what is of those kinds.

    `[masked]` stands for the operator's `own` words, whatever their letter case and width. Masking a masked text
    changes nothing: what one find lays bare is looked for again, in all but the longest texts.
    """
    if _TELLTALE.search(text) is None and not own:
        return text
    read = 0
    while read < _READ_AGAIN and (spans := found(text, kinds, own)):
        read += len(text)
        parts, place = list[str](), 0
        for start, end, kind in spans:
            parts += text[place:start], f"[{kind}]"
            place = end
        text = "".join([*parts, text[place:]])
    return text


def found(text: str, kinds: Collection[str] = KINDS, own: tuple[str, ...] = ()) -> list[tuple[int, int, str]]:
    """Where something is to be masked, and its kind, in order of place."""
    plain = _PLACEHOLDER.sub(_gone, text.translate(_PLAIN))
    spans = list[tuple[int, int, str]]()
    if own:
        plain = _taken(plain, "masked", every(_own_words(own)), spans)
    plain = with_digits(plain)
    for kind, places in _finders():
        if kind in kinds:
            plain = _taken(plain, kind, places, spans)
    return sorted(spans)


def _taken(plain: str, kind: str, places: Finder, spans: list[tuple[int, int, str]]) -> str:
    """The text without what the finder finds, which joins the spans."""
    parts, place = list[str](), 0
    for start, end in places(plain):
        spans.append((start, end, kind))
        parts += plain[place:start], _GONE * (end - start)
        place = end
    return "".join([*parts, plain[place:]]) if parts else plain


def _gone(match: re.Match[str]) -> str:
    return _GONE * len(match[0])


def _finders() -> Iterator[tuple[str, Finder]]:
    """What to look for, in an order in which the surer comes before what it could be mistaken for."""
    for kind, finders in _FINDERS:
        for finder in finders():
            yield kind, finder
    yield "address", address_spans


@lru_cache(maxsize=8)
def _own_words(own: tuple[str, ...]) -> re.Pattern[str]:
    """The longest first; a Latin word is not found inside another."""
    plain = sorted((word.translate(_PLAIN).strip() for word in own), key=len, reverse=True)
    return re.compile(
        "|".join(
            ("(?<![A-Za-z0-9_])" if word[0].isascii() else "")
            + re.escape(word)
            + ("(?![A-Za-z0-9_])" if word[-1].isascii() else "")
            for word in plain
            if word
        )
        or "(?!)",
        re.IGNORECASE,
    )
