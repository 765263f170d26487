"""Phone numbers, by their shape, the telephone plans and the words beside them."""

import re
from collections.abc import Iterator
from functools import lru_cache

from phonenumbers import NumberParseException, is_possible_number, is_valid_number, parse

from pipeline.domain.cues import counts, is_called
from pipeline.domain.finders import Finder, Span, every
from pipeline.domain.number_shapes import EDGE, END, LOOKS_LIKE_DATE, NO_DIGITS, OPEN, SHUT, is_one
from pipeline.words import words

_EXTENSION = (
    r"(?:,?\s?\(?(?:[x×]|[Ee]xt[.:]?|extension|#|[转轉]接?(?:分机|分機)?|分机|分機|内线)号?[\s:：]{0,2}"
    r"\d{1,5}(?:[或/]\d{1,5})?(?!\d)\)?)?"
)
#: Right before or after the digits, what is said of a mobile in letters.
_GLUED = ("tel", "vx", "wx", "v", "phone", "mobile")
_GLUED_BEFORE = "|".join(rf"(?<=(?<![A-Za-z])(?i:{word}))" for word in _GLUED)
_GLUED_BEHIND = rf"(?=(?i:{'|'.join(_GLUED)}|wechat|qq))"
_MOBILE_EDGE = (
    rf"(?=[+(018\[【])(?:{EDGE.replace('[-./#]', '[.#]')}|(?<=\\[nrt])|(?<=微信(?i:id))|{_GLUED_BEFORE})"
    r"(?<!\+\d\d[ -])(?<!\+\d\d\d[ -])"
)
#: Nothing, or a name, is joined to what follows by a dash or a slash: Lily/13812345678.
_FREE = re.compile(r"(?<![A-Za-z_][-/])\Z|(?<![A-Za-z0-9_.:/@-])[A-Z][a-z]{1,11}[-/]\Z")
#: Of a variable that holds no phone number.
_OTHER_NAME = r"(?!\w{0,20}(?i:phone|mobile|tel|contact|cell|sms|fax|user|login|account|wechat))[A-Za-z_]\w{0,30}"
#: A sign, an operator, a variable, an index or a function before a number.
_CALCULATED = re.compile(
    r"(?:(?:^|[\s(=,，])-|[A-Za-z0-9)\]]\s?[*%^]\s?|[a-z]\w*(?:\s?<=?\s?|\s>=?\s?|\[)"
    rf"|(?<![</=A-Za-z0-9_])[a-z]\w*>=?|\b{_OTHER_NAME}\s=\s|\"{_OTHER_NAME}\":\s?|\b(?:return|case|SELECT|select)\s"
    r"|\b(?:sqrt|log|exp|abs|int|long|sin|cos|pow|range|sum|max|min|len|hash|str|float|print|printf|find|get|set|add"
    r"|assert\w{0,20}|is_?[Pp]rime|[Vv]alues|VALUES)\()\Z"
)
_CN_CODE = r"(?:[(\[【]?(?:\+ ?|00 ?)?86[)\]】]?[ .·-]{0,3})?"
#: Between the groups of a mobile.
_JOINT = r"(?: ?[.·_/~|-] ?| {1,2})?"
_CN_MOBILE = re.compile(
    rf"{_MOBILE_EDGE}{_CN_CODE}(?:(?:\(1[3-9]\d\) ?|1[3-9]\d{_JOINT})\d{{4}}{_JOINT}\d{{4}}"
    rf"|1[3-9]\d(?:[ -]\d{{3}}[ -]\d{{5}}|\d([ -])(?:\d{{3}}\1\d{{4}}|\d{{4}}\1\d{{3}})))"
    rf"(?:(?:-\d{{3,4}}|{_EXTENSION}){END}|{_GLUED_BEHIND})"
)
_APART = r"[ .·_/()|*~、，-]{0,3}"
_SPREAD = re.compile(
    rf"{_MOBILE_EDGE}{_CN_CODE}(?:\(?1{_APART}[3-9](?:(?:{_APART}\d){{9}}|\d([,\n])\d{{4}}\1\d{{4}})"
    rf"|0(?:[ .·/-]\d){{9,11}}){END}"
)
_CODED = re.compile(
    rf"{OPEN}(?:\(?(?:\+|00)?85[23](?:\) ?|[- ])\d{{4}}[- ]?\d{{4}}|85[23]\d{{4}}[- ]\d{{4}}"
    rf"|886[- ]?9\d\d[- ]?\d{{3}}[- ]?\d{{3}}|400-\d{{4}}-\d{{3}}|[48]00(?:-\d{{7}}| ?- ?\d{{3}} ?- ?\d{{4}})"
    rf"|400[016-9](?:-\d{{3}}-\d{{3}}|\d{{6}})|(?<!\d )400 [016-9]\d\d (?!\d[05]00)\d{{4}}(?! \d)"
    rf"|(?<=打)[48]00[ -]?\d{{3}}[ -]?\d{{4}}|(?<=\b[Cc]all )[2-9]\d{{9}}){_EXTENSION}{SHUT}"
)
_AREA = r"0(?:10|2\d|[3-9]\d\d)"
#: With the code of the country before it.
_CODED_AREA = r"(?:[(\[【]?(?:\+ ?|00 ?)?86[)\]】]?[ .·-]{0,3}\(?0?|\((?:\+|00)?86[ -]?0?)(?:10|2\d|[3-9]\d\d)\)?"
_CN_FIXED = re.compile(
    rf"(?<!\d{{4}} )(?=[(\[【+08]){EDGE}(?:[(\[]{_AREA}[)\]][\s-]{{0,2}}|{_AREA}(?: ?- ?|[ ._])"
    rf"|{_CODED_AREA}(?: ?- ?|[ ._]|(?<=\))))[1-9]\d{{2,3}}[ -]?\d{{4}}(?:-\d{{1,4}})?"
    rf"(?:\*\d{{3,5}}|{_EXTENSION}){END}"
)
#: Of the same area as the one before.
_ANOTHER = re.compile(rf"\s?[/、,，或和]\s?(?P<it>[2-8]\d{{2,3}}[ -]?\d{{4}}{_EXTENSION}{END})")
#: Without anything between the area and the number.
_CN_JOINED = re.compile(rf"(?=0){EDGE}{_AREA}[2-8]\d{{6,7}}{_EXTENSION}{END}")
_NANP = re.compile(
    rf"(?=[(+\d]){EDGE}(?:\+?1[-. ]|001-)?(?:\([2-9]\d\d\)[- ]?[2-9]\d\d[-. ]\d{{4}}"
    rf"|[2-9]\d\d([-.])[2-9]\d\d\1\d{{4}}|[2-9]\d\d[ /][2-9]\d\d-\d{{4}}){_EXTENSION}{END}"
)
_BRACKETED = re.compile(rf"(?<!\d ){OPEN}\((?:0\d{{1,4}}|\d\d)\) ?\d{{3,4}}[- ]\d{{3,4}}{_EXTENSION}{SHUT}")
_INTERNATIONAL = re.compile(
    rf"(?=[+0])(?<![A-Za-z0-9_+])(?:\+|{OPEN}00 ?)[1-9](?:[ .()-]{{0,2}}\d){{6,14}}{_EXTENSION}{SHUT}"
)
_NATIONAL = re.compile(
    rf"(?<!\d ){OPEN}0\d{{1,5}}(?:([ .-])\d{{2,4}}(?:\1\d{{2,4}}){{1,3}}|[ /-]\d{{5,8}}){_EXTENSION}{SHUT}(?! \d)"
)
_ANY_PHONE = re.compile(
    rf"(?=[(\d]){EDGE}(?<![0-9][,:])\(?\d{{2,54}}+\)?"
    rf"(?:(?:[ .-]\(?|\(|(?<=\)))\d{{2,40}}+\)?){{0,5}}{_EXTENSION}{SHUT}"
)
_AFTER_PHONE = re.compile(
    r"[\s-]{0,2}(?:office|fax|mobile|cell|home)\b\s*(?=$|[\n,;.\\])|\s?\(?(?:服务|客服|咨询|订餐)?(?:热线|電話|电话)\b"
    r"|\s(?:is|was)\s(?:my|our|his|her|their)\s(?:\w{1,8}\s)?(?:phone|number|cell|mobile|landline)\b"
    r"|\s?(?:的|就?是(?:我们?|公司|本店)?的?)(?:服务|客服|咨询|官方|售后)?"
    r"(?:热线|熱線|电话|電話|号码|號碼|手机|手機)(?!壳)|\s?打[给給]我",
    re.IGNORECASE,
)
#: Telephone plans in which a national number may be valid, and how many numbers of a text are looked up in them.
_REGIONS = ("GB", "FR", "AU", "DE", "CN", "ZA", "NL", "IT", "JP", "KR", "CH", "SE", "IN", "TW", "HU")
_LOOKED_UP = 40


def phone_finders() -> Iterator[Finder]:
    """What to look for, the surer before what it could be mistaken for."""
    yield every(_CN_MOBILE, _is_mobile)
    yield every(_SPREAD, _is_spread)
    yield _fixed_lines
    for pattern in (_CODED, _NANP, _BRACKETED):
        yield every(pattern, _is_no_amount)
    yield every(_CN_JOINED, _is_joined)
    yield _looked_up(_INTERNATIONAL)
    yield _looked_up(_NATIONAL)
    yield _called_phones


def _is_mobile(plain: str, match: re.Match[str]) -> bool:
    """Eleven digits are a mobile's unless they are called or measured as something else or belong to an identifier."""
    before = (plain, max(match.start() - 16, 0), match.start())
    if not _FREE.search(*before):
        return False
    if _AFTER_PHONE.match(plain, match.end()):
        return True
    if counts(plain, match):
        return False
    if is_called("phone", plain, match):
        return True
    return not (_CALCULATED.search(*before) or _measure().match(plain, match.end()) or _is_round(match[0]))


def _is_round(number: str) -> bool:
    """Whether groups of digits are rather three amounts: 1500-200-3000, 1990 2000 210."""
    first, *others = re.findall(r"\d+", number)
    return len(others) == 2 and all(group.endswith("0" if len(first) == 4 else "00") for group in others)


def _is_no_amount(plain: str, match: re.Match[str]) -> bool:
    return not (counts(plain, match) or _measure().match(plain, match.end()))


def _fixed_lines(plain: str) -> Iterator[Span]:
    """Numbers with an area code, and those that follow them without it."""
    for span in every(_CN_FIXED, _is_no_amount)(plain):
        yield span
        place = span[1]
        while another := _ANOTHER.match(plain, place):
            yield another.span("it")
            place = another.end()


@lru_cache(maxsize=1)
def _measure() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{'|'.join(words('masking')['measures'])})", re.IGNORECASE)


def _is_spread(plain: str, match: re.Match[str]) -> bool:
    """Digits in odd groups are a mobile's or a landline's where words call them a number."""
    called = is_called("phone", plain, match) or is_called("spread", plain, match)
    return called and not match[0].isdecimal() and is_one(match[0]) and not counts(plain, match)


def _is_joined(plain: str, match: re.Match[str]) -> bool:
    """Whether the plan knows the number, or an extension stands behind it, and it counts nothing."""
    extended = not match[0].isdecimal()
    return not counts(plain, match) and (extended or is_valid_number(parse(match[0], "CN")))


def _looked_up(pattern: re.Pattern[str]) -> Finder:
    """Numbers with a country's or a trunk prefix that a telephone plan knows; past a bound, by their shape alone."""
    looked_up = 0

    def known(plain: str, match: re.Match[str]) -> bool:
        nonlocal looked_up
        looked_up += 1
        if counts(plain, match) or LOOKS_LIKE_DATE.match(match[0]):
            return False
        return looked_up > _LOOKED_UP or _is_in_plan(match[0])

    return every(pattern, known)


@lru_cache(maxsize=1024)
def _is_in_plan(number: str) -> bool:
    try:
        if number.startswith(("+", "00")):
            parsed = parse(re.sub("^00 ?", "+", number))
            if number[0] == "0":
                return is_valid_number(parsed)
            groups = re.findall(r"\d+", number)
            whole = len(groups) > 2 or groups[0] == str(parsed.country_code)
            return is_valid_number(parsed) or (is_possible_number(parsed) and whole)
        return any(is_valid_number(parse(number, region)) for region in _REGIONS)
    except NumberParseException:
        return False


def _called_phones(plain: str) -> Iterator[Span]:
    """Seven to fifteen digits, and perhaps an extension, beside a word such as "call me" or 电话."""
    for match in _ANY_PHONE.finditer(plain):
        digits = NO_DIGITS.sub("", re.split("[xe]", match[0])[0])
        if not 7 <= len(digits) <= 15 or LOOKS_LIKE_DATE.match(match[0]) or _measure().match(plain, match.end()):
            continue
        called = is_called("phone", plain, match) and not counts(plain, match)
        if called or _AFTER_PHONE.match(plain, match.end()):
            yield match.span()
