"""Text made comparable: width, letter case, white space, traditional characters, British and American spelling."""

import re
import unicodedata
from functools import lru_cache

from pipeline.words import words

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{HAN}]")
_SEPARATORS = re.compile(r"[\s_\-‐‑–—/\\,，、;；:：.。!！?？()（）\[\]【】\"“”*#&+]+")
_CACHED = 8192
#: How many places of one quote are looked at; a quote that is everywhere says little anywhere.
_MAX_PLACES = 8


@lru_cache(maxsize=1)
def _simplify_table() -> dict[int, str]:
    table = words("traditional")
    return {ord(old): new for old, new in zip(table["traditional"], table["simplified"], strict=True)}


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, one for one: the length stays."""
    return text.translate(_simplify_table())


@lru_cache(maxsize=1)
def _taiwan() -> tuple[re.Pattern[str], dict[str, str]]:
    table = words("traditional")["taiwan"]
    return re.compile("|".join(sorted(table, key=len, reverse=True))), table


def of_the_mainland(text: str) -> str:
    """A text in simplified characters with the words of Taiwan as those of the mainland: 行销 as 营销."""
    pattern, table = _taiwan()
    return pattern.sub(lambda match: table[match.group()], text)


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None


@lru_cache(maxsize=_CACHED)
def fold(text: str) -> str:
    """The same string for every width, letter case, accent, separator and script of Chinese that `text` may have."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return simplified(_SEPARATORS.sub(" ", text).strip())


def lines_up(char: str) -> str:
    """One character of a quote or a question, free of width and letter case; empty for white space."""
    if char.isspace():
        return ""
    if "\uff00" <= char <= "\uffef":
        char = unicodedata.normalize("NFKC", char)
    return char.casefold()


@lru_cache(maxsize=16)
def _lined_up(text: str) -> tuple[str, tuple[int, ...]]:
    """The text free of width, case and white space, and where each of its characters stood."""
    plain = [(lines_up(char), place) for place, char in enumerate(text)]
    return "".join(char for char, _ in plain), tuple(place for chars, place in plain for _ in chars)


def spans(quote: str, text: str) -> list[tuple[int, int]]:
    """Where `quote` occurs in `text`, tolerant of letter case, white space and width only; ends are exclusive."""
    wanted = "".join(map(lines_up, quote))
    if not wanted:
        return []
    line, places = _lined_up(text)
    found, start = list[tuple[int, int]](), line.find(wanted)
    while start >= 0 and len(found) < _MAX_PLACES:
        found.append((places[start], places[start + len(wanted) - 1] + 1))
        start = line.find(wanted, start + 1)
    return found
