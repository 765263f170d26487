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
    r"(?:,?\s?\(?(?:x|[Ee]xt[.:]?|extension|#|[转轉]接?(?:分机|分機)?|分机|分機|内线)号?[\s:：]{0,2}"
    r"\d{1,5}(?:[或/]\d{1,5})?(?!\d)\)?)?"
)
#: Right before or after the digits, what is said of a mobile in letters.
_GLUED = ("tel", "vx", "wx", "v", "phone", "mobile")
_GLUED_BEFORE = "|".join(rf"(?<=(?<![A-Za-z])(?i:{word}))" for word in _GLUED)
_GLUED_BEHIND = rf"(?=(?i:{'|'.join(_GLUED)}|wechat|qq))"
_MOBILE_EDGE = rf"(?=[+(018])(?:{EDGE.replace('[-./#]', '[.#]')}|(?:{_GLUED_BEFORE}))(?<!\+\d\d[ -])(?<!\+\d\d\d[ -])"
#: Nothing, or a name, is joined to what follows by a dash or a slash: Lily/13812345678.
_FREE = re.compile(r"(?<![A-Za-z_][-/])\Z|(?<![A-Za-z0-9_.:/@-])[A-Z][a-z]{1,11}[-/]\Z")
#: A sign, an operator, an index or a function before a number.
_CALCULATED = re.compile(
    r"(?:(?:^|[\s(=,，])-|[A-Za-z0-9)\]]\s?[*%^]\s?|[a-z]\w*(?:\s?<=?\s?|\s>=?\s?|\[)"
    r"|\b(?:sqrt|log|exp|abs|int|long|sin|cos|pow|range|sum|max|min|is_?[Pp]rime)\()\Z"
)
_CN_CODE = r"(?:\(?(?:\+ ?|00)?86\)?[ .-]{0,3})?"
_CN_MOBILE = re.compile(
    rf"{_MOBILE_EDGE}{_CN_CODE}\(?1[3-9]\d(?:\)?[ .·_-]?\d{{4}}[ .·_-]?\d{{4}}|[ -]\d{{3}}[ -]\d{{5}})"
    rf"(?:(?:-\d{{3,4}}|{_EXTENSION}){END}|{_GLUED_BEHIND})"
)
_APART = r"[ .·_/()|*~、，-]{0,3}"
_SPREAD_MOBILE = re.compile(rf"{_MOBILE_EDGE}{_CN_CODE}\(?1{_APART}[3-9](?:{_APART}\d){{9}}{END}")
_CODED = re.compile(
    rf"{OPEN}(?:\(?(?:\+|00)?85[23](?:\) ?|[- ])\d{{4}}[- ]?\d{{4}}|85[23]\d{{4}}[- ]\d{{4}}"
    rf"|886[- ]?9\d\d[- ]?\d{{3}}[- ]?\d{{3}}|400-\d{{4}}-\d{{3}}"
    rf"|(?<=打)[48]00[ -]?\d{{3}}[ -]?\d{{4}}|(?<=\b[Cc]all )[2-9]\d{{9}}){SHUT}"
)
_HAN_DIGIT = "[〇零一二三四五六七八九幺壹贰叁肆伍陆柒捌玖]"
_HAN_MOBILE = re.compile(
    rf"(?<!{_HAN_DIGIT})[一幺壹][三四五六七八九叁肆伍陆柒捌玖]{_HAN_DIGIT}"
    rf"(?:[ -]?{_HAN_DIGIT}{{4}}){{2}}(?!{_HAN_DIGIT}|[十百千万亿])"
)
_AREA = r"0(?:10|2\d|[3-9]\d\d)"
_CN_FIXED = re.compile(
    rf"(?<!\d{{4}} )(?=[(0]){EDGE}(?:\({_AREA}\)\s?|{_AREA}(?: ?- ?|[ ._]))[1-9]\d{{2,3}}[ -]?\d{{4}}(?:-\d{{1,4}})?"
    rf"{_EXTENSION}{END}"
)
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
    r"|\s?是我的?(?:电话|電話|号码|號碼|手机|手機)|\s?打[给給]我",
    re.IGNORECASE,
)
#: Telephone plans in which a national number may be valid, and how many numbers of a text are looked up in them.
_REGIONS = ("GB", "FR", "AU", "DE", "CN", "ZA", "NL", "IT", "JP", "KR", "CH", "SE", "IN", "TW", "HU")
_LOOKED_UP = 40


def phone_finders() -> Iterator[Finder]:
    """What to look for, the surer before what it could be mistaken for."""
    yield every(_CN_MOBILE, _is_mobile)
    yield every(_SPREAD_MOBILE, _is_spread)
    for pattern in (_CN_FIXED, _CODED, _NANP, _BRACKETED):
        yield every(pattern, lambda plain, match: not counts(plain, match))
    yield every(_HAN_MOBILE)
    yield _looked_up(_INTERNATIONAL)
    yield _looked_up(_NATIONAL)
    yield _called_phones


def _is_mobile(plain: str, match: re.Match[str]) -> bool:
    """Eleven digits are a mobile's unless they are called or measured as something else or belong to an identifier."""
    before = (plain, max(match.start() - 16, 0), match.start())
    if counts(plain, match) or not _FREE.search(*before):
        return False
    if is_called("phone", plain, match):
        return True
    return not _CALCULATED.search(*before) and not _measure().match(plain, match.end())


@lru_cache(maxsize=1)
def _measure() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{'|'.join(words('masking')['measures'])})", re.IGNORECASE)


def _is_spread(plain: str, match: re.Match[str]) -> bool:
    """Eleven digits in odd groups are a mobile's where words call them a number."""
    called = is_called("phone", plain, match) or is_called("spread", plain, match)
    return called and not match[0].isdecimal() and is_one(match[0]) and not counts(plain, match)


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
        if not 7 <= len(digits) <= 15 or LOOKS_LIKE_DATE.match(match[0]):
            continue
        called = is_called("phone", plain, match) and not counts(plain, match)
        if called or _AFTER_PHONE.match(plain, match.end()):
            yield match.span()
