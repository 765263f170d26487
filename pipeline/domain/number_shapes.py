"""The edges of a number in a text, its groups of digits, and the dates that look like one."""

import re

from pipeline.domain.spelling import HAN

#: No letter, digit or joined word stands before, or after: a number inside an identifier is part of that.
OPEN = r"(?<![A-Za-z0-9_])(?<![A-Za-z_][-./#=])(?<![0-9][-.,:])(?<![$€£¥#])"
SHUT = r"(?![A-Za-z0-9_])(?![-.,:][0-9])(?![-./](?!(?:Office|Fax|Mobile|Cell|Home|Work)\b)[A-Za-z_])(?!\s?[*+=^%])"
_FIELDS = "|".join(
    rf"(?<=(?i:{name})=)"
    for name in ("phone", "mobile", "tel", "phonenumber", "phone_number", "card", "cc", "cardno", "card_no")
)
#: The same around what is too long for a list, an amount or a time: 张三_13812345678,28 and phone=13812345678.
EDGE = (
    r"(?<![A-Za-z0-9])(?<![A-Za-z0-9_]_)(?<![A-Za-z_][-./#])(?<![0-9][-.])(?<![$€£¥#])"
    rf"(?:(?<![A-Za-z_]=)|{_FIELDS})"
)
END = (
    r"(?![A-Za-z0-9]|_[A-Za-z0-9_])(?![-.][0-9])(?![-./](?!(?:Office|Fax|Mobile|Cell|Home|Work)\b)[A-Za-z_])"
    rf"(?!\s?(?:\*(?!\*(?!\d))|[+=^%])(?!\s?[{HAN}]))"
)

NO_DIGITS = re.compile(r"\D+")
LOOKS_LIKE_DATE = re.compile(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}(?:\D|$)|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d(?:\D|$)"
)


def is_one(number: str) -> bool:
    """Whether groups of digits are those of one number, few or all alike, and no list."""
    groups = list(map(len, re.findall(r"\d+", number)))
    return len(groups) <= 7 or len(set(groups[:-1])) == 1
