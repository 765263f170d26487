"""The words beside a number that say what it is."""

import re
from functools import lru_cache

from pipeline.domain.finders import Finder, every
from pipeline.domain.number_shapes import LOOKS_LIKE_DATE
from pipeline.words import words

#: What may stand between a word and the number that it speaks of: next to anything, and words that only join.
_LOOSE = r"[^\d\0\[\],;，；。、]{0,20}"
_JOINING = r"[\s:：#.()（@=\"'>-]|'s\b|[号码是为]|分别|依次"
#: The same between a word and what it counts, and one number of a list after another.
_COUNTED = (
    rf"(?:{_JOINING}|\b(?:is|was|no|num|number|id|are)\b|(?<!\d)1\d{{10}}\s?(?:or|and|[/,，、]|或者?|[和及])\s?)*"
)
_TIGHT = (
    rf"(?:{_JOINING}|1[58]位|\b(?:is|was|no|num|number|id|at|on|to|me|us|my|via|new|registered)\b|[我的请打就吧]"
    r"|\0{4,}\s?(?:or|and|[/,，、]|或者?|和))*"
)
#: A day without separators, or two years.
_DAYS = re.compile(r"(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|-(?:19|20)\d\d)")


def is_called(kind: str, plain: str, match: re.Match[str], sight: int = 40) -> bool:
    """Whether a word of the kind stands before a match, no more than `sight` characters away."""
    start = match.start()
    return _speaks_of(kind, plain) and _cue(kind)[1].search(plain, max(start - sight, 0), start) is not None


def counts(plain: str, match: re.Match[str]) -> bool:
    """Whether the words before a number say that it is one of an order, a version, a part."""
    return is_called("others", plain, match, 60)


def named(kind: str, it: str) -> Finder:
    """Numbers of the shape `it` directly behind a word of the kind."""
    return every(_cued(kind, it), _is_number)


@lru_cache(maxsize=8)
def _speaks_of(kind: str, plain: str) -> bool:
    return _cue(kind)[0].search(plain) is not None


@lru_cache(maxsize=8)
def _cue(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word that says what a number behind it is, anywhere, and close before the end of the text."""
    word = _any_of(kind)
    joined = _LOOSE if kind in ("card", "paper", "spread") else _COUNTED if kind == "others" else _TIGHT
    return (
        re.compile(word, re.IGNORECASE | re.ASCII),
        re.compile(rf"(?:{word}){joined}\Z", re.IGNORECASE | re.ASCII),
    )


@lru_cache(maxsize=8)
def _cued(kind: str, it: str) -> re.Pattern[str]:
    """What stands directly behind "passport number" or 身份证号."""
    return re.compile(
        rf"(?:{_any_of(kind)})(?:'s)?"
        r"(?:\s?(?:number|num|no\.?|nr\.?|card|电脑号|编号|[账帐]号|号码|號碼|字號|字号|个人|号|號|卡|1[58]位|是|为|為|is|was|[:：#=(（]))*\s*"
        rf"(?P<it>{it})(?![A-Za-z0-9_])",
        re.IGNORECASE | re.ASCII,
    )


def _any_of(kind: str) -> str:
    """The words of a kind; the edge before the Latin ones is looked for once, which is fast."""
    cues = words("masking")["cues"][kind]
    latin = [word.removeprefix(r"\b") for word in cues if word.startswith(r"\b")]
    return rf"\b(?:{'|'.join(latin)})|" + "|".join(word for word in cues if not word.startswith(r"\b"))


def _is_number(_: str, match: re.Match[str]) -> bool:
    """Whether what a word calls a number is one, and no date."""
    number = match["it"]
    return sum(map(str.isdecimal, number)) >= 4 and not LOOKS_LIKE_DATE.match(number) and not _DAYS.fullmatch(number)
