"""People's identity numbers by their shapes, their check digits and the words beside them."""

import re
from collections.abc import Iterator

from stdnum.cn import ric

from pipeline.domain.cues import counts, is_called, named
from pipeline.domain.finders import Finder, every
from pipeline.domain.number_shapes import OPEN, SHUT, is_one
from pipeline.domain.spelling import HAN

_RESIDENT = re.compile(
    r"(?:(?<![A-Za-z0-9_])|(?<=(?<![A-Za-z])(?i:sfz))|(?<=(?<![A-Za-z])(?i:id)))"
    r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|7[1]|8[1-3])[ -]?\d\d[ -]?\d\d[ -]?"
    r"(?:19|20)[ -]?\d\d[ -]?(?:0[1-9]|1[0-2])[ -]?(?:0[1-9]|[12]\d|3[01])[ -]?\d\d[ -]?\d[\dXx×](?![A-Za-z0-9_])"
)
#: The same, or the older one of 15 digits, broken anywhere.
_SPREAD = re.compile(
    r"(?<![A-Za-z0-9_])\d(?:[ .·_/-]{0,3}\d){13}(?:(?:[ .·_/-]{0,3}\d){3})?[ .·_/-]{0,3}[\dXx×](?![A-Za-z0-9_])"
)
#: The older one, without a century and a check digit.
_OLDER = re.compile(r"(?<![A-Za-z0-9_])[1-8]\d{7}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}(?![A-Za-z0-9_])")
#: A passport or travel permit.
_PAPER = re.compile(r"(?<![A-Za-z0-9_-])(?:[DEGHKPS][A-Z]?|[CMHW][A-Z]?|[A-Z]{2}) ?\d{4} ?\d{3,6}(?![A-Za-z0-9_-])")
_AFTER_PAPER = re.compile(
    r"\s?(?:就?是)?(?:[我他她你]|本人)?的?(?:外交|公务|因[公私]|中国)?(?:护照|護照|通行[证證]|回[乡鄉][证證]|台胞[证證])"
)
_HONG_KONG = re.compile(r"(?<![A-Za-z0-9_])[A-Z]{1,2}\d{6} ?\([0-9A]\)")
_TAIWAN = re.compile(r"(?<![A-Za-z0-9_-])[A-Z][1289]\d{8}(?![A-Za-z0-9_-])")
#: The number of the British national insurance; it has no check digit.
_BRITISH = re.compile(
    r"(?<![A-Za-z0-9_-])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    r" ?\d\d ?\d\d ?\d\d ?[A-D](?![A-Za-z0-9_-])"
)
_SSN = re.compile(rf"{OPEN}(?!000|666|9)\d{{3}}-(?!00)\d\d-(?!0000)\d{{4}}{SHUT}")
#: Behind a word such as passport.
_ID = (
    r"(?=(?:[A-Za-z .-]{0,6}\d){5})[A-Za-z]{0,6} ?\d[A-Za-z0-9]{0,20}(?:-[A-Za-z0-9]{1,8}|[ .]\d[A-Za-z0-9]{1,8}){0,5}"
    r"(?: [A-D](?=\W|$))?(?:\([0-9A]\))?|[A-Z]{5}\d{4}[A-Z]|\d/\d{6}/\d"
    rf"|[{HAN}]字第\d{{5,9}}号?"
)
#: The letters that a number of Taiwan begins with, in the order of the numbers from 10 that they stand for.
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


def identity_finders() -> Iterator[Finder]:
    """What to look for, the surer before what it could be mistaken for."""
    yield every(_RESIDENT, _is_resident)
    yield every(_SPREAD, _is_spread)
    yield every(_OLDER, lambda plain, match: is_called("paper", plain, match))
    yield every(_PAPER, _is_paper)
    yield every(_SSN, lambda plain, match: not counts(plain, match))
    for pattern in (_HONG_KONG, _TAIWAN, _BRITISH):
        yield every(pattern, _is_identity)
    yield named("id", _ID)


def _is_resident(plain: str, match: re.Match[str]) -> bool:
    """A number of the shape of a resident's by its check digit, called one, or in one piece and called nothing else."""
    return _is_right(match[0]) or is_called("id", plain, match) or (match[0].isalnum() and not counts(plain, match))


def _is_paper(plain: str, match: re.Match[str]) -> bool:
    return is_called("paper", plain, match) or _AFTER_PAPER.match(plain, match.end()) is not None


def _is_spread(plain: str, match: re.Match[str]) -> bool:
    """Groups of digits are a resident's number by its date and check digit, or called one."""
    number = re.sub(r"[ .·_/-]", "", match[0])
    right = _RESIDENT.fullmatch(number) is not None and _is_right(number)
    return is_one(match[0]) and (right or is_called("id", plain, match))


def _is_identity(plain: str, match: re.Match[str]) -> bool:
    """A number of the shape of a person's by its check digit, or called one."""
    return is_called("id", plain, match) or (_is_right(match[0]) and not counts(plain, match))


def _is_right(number: str) -> bool:
    """Whether the check digit of a number of one of these shapes is right."""
    number = re.sub(r"[ ()-]", "", number).upper().replace("×", "X")
    if len(number) == 18:
        return ric.calc_check_digit(number) == number[-1]
    if _BRITISH.match(number):
        return True
    return _remainder(number) == 0


def _remainder(number: str) -> int:
    """What the weighted sum of a number of Taiwan leaves over by 10, or of Hong Kong by 11."""
    if _TAIWAN.match(number):
        letter = _TAIWAN_LETTERS.index(number[0]) + 10
        values = [letter // 10, letter % 10, *map(int, number[1:])]
        return sum(value * weight for value, weight in zip(values, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)) % 10
    values = [int(char, 36) for char in number]
    values = [36] * (9 - len(values)) + values
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11
