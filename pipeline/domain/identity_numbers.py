"""The shapes of people's identity numbers that are told without a word beside them, and their check digits."""

import re

from stdnum.cn import ric

RESIDENT = re.compile(
    r"(?<![A-Za-z0-9_])(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|7[1]|8[1-3])[ -]?\d\d[ -]?\d\d[ -]?"
    r"(?:19|20)[ -]?\d\d[ -]?(?:0[1-9]|1[0-2])[ -]?(?:0[1-9]|[12]\d|3[01])[ -]?\d\d[ -]?\d[\dXx](?![A-Za-z0-9_])"
)
HONG_KONG = re.compile(r"(?<![A-Za-z0-9_])[A-Z]{1,2}\d{6}\([0-9A]\)")
TAIWAN = re.compile(r"(?<![A-Za-z0-9_-])[A-Z][1289]\d{8}(?![A-Za-z0-9_-])")
#: The number of the British national insurance; it has no check digit.
BRITISH = re.compile(
    r"(?<![A-Za-z0-9_-])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    r" ?\d\d ?\d\d ?\d\d ?[A-D](?![A-Za-z0-9_-])"
)
#: The letters that a number of Taiwan begins with, in the order of the numbers from 10 that they stand for.
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


def is_right(number: str) -> bool:
    """Whether the check digit of a number of one of these shapes is right."""
    number = re.sub(r"[ ()-]", "", number).upper()
    if len(number) == 18:
        return ric.calc_check_digit(number) == number[-1]
    if BRITISH.match(number):
        return True
    return _remainder(number) == 0


def _remainder(number: str) -> int:
    """What the weighted sum of a number of Taiwan leaves over by 10, or of Hong Kong by 11."""
    if TAIWAN.match(number):
        letter = _TAIWAN_LETTERS.index(number[0]) + 10
        values = [letter // 10, letter % 10, *map(int, number[1:])]
        return sum(value * weight for value, weight in zip(values, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)) % 10
    values = [int(char, 36) for char in number]
    values = [36] * (9 - len(values)) + values
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11
