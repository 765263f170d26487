"""The edges of a number in a text, its groups of digits, and the dates that look like one."""

import re

from pipeline.domain.spelling import HAN

#: No letter, digit or joined word stands before, or after: a number inside an identifier is part of that.
OPEN = r"(?<![A-Za-z0-9_])(?<![A-Za-z_][-./#=])(?<![0-9][-.,:])(?<![$€£¥#])"
SHUT = r"(?![A-Za-z0-9_])(?![-.,:][0-9])(?![-./](?!(?:Office|Fax|Mobile|Cell|Home|Work)\b)[A-Za-z_])(?!\s?[*+=^%])"
_FIELDS = "|".join(
    rf"(?<=(?i:{name})=)"
    for name in (
        *("phone", "mobile", "tel", "phonenumber", "phone_number", "phoneno", "phone_no", "mobileno", "mobile_no"),
        *("msisdn", "contact", "user", "username", "login", "account", "to", "card", "cc", "cardno", "card_no"),
    )
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

_DIGITS = str.maketrans("〇零一二三四五六七八九幺壹贰貳叁參肆伍陆陸柒捌玖", "001234567891122334566789")
_HAN_DIGITS = "".join(map(chr, _DIGITS))
_APART = str.maketrans("，、。…", "    ")
#: Read out one by one, and no amount: seven or more, or three beside other digits.
READ_OUT = re.compile(
    rf"(?<![{_HAN_DIGITS}])(?:[{_HAN_DIGITS}](?:[ ，、。.…·~/-]{{0,2}}[{_HAN_DIGITS}]){{6,}}"
    rf"|(?<=\d)[{_HAN_DIGITS}]{{3,6}}|[{_HAN_DIGITS}]{{3,6}}(?=\d))(?![{_HAN_DIGITS}十百千万亿])"
)
NO_DIGITS = re.compile(r"\D+")
LOOKS_LIKE_DATE = re.compile(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}(?:\D|$)|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d(?:\D|$)"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\D|$)"
)


def with_digits(plain: str) -> str:
    """The text with digits for the Chinese numerals that are read out one by one; the length stays."""
    return READ_OUT.sub(lambda match: match[0].translate(_DIGITS | _APART), plain)


def is_one(number: str) -> bool:
    """Whether groups of digits are those of one number, few or all alike, and no list."""
    groups = list(map(len, re.findall(r"\d+", number)))
    return len(groups) <= 7 or len(set(groups[:-1])) == 1


def is_regular(number: str) -> bool:
    """Whether all groups of digits but the last, which may be shorter, are of one length, and of three at least."""
    groups = list(map(len, re.findall(r"\d+", number)))
    return len(set(groups[:-1])) == 1 and 3 <= groups[0] >= groups[-1]
