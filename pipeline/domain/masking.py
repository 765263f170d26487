"""Masking of personal data: phone numbers, e-mail addresses, bank cards, national ids and street addresses.

A number is told by its shape, its check digits and the words beside it, so that prices, dates, versions and order
numbers stay. Where the shape alone cannot tell, words decide.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from phonenumbers import NumberParseException, is_possible_number, is_valid_number, parse
from stdnum import luhn

from pipeline.domain.account_numbers import iban_spans, is_issued
from pipeline.domain.identity_numbers import BRITISH, HONG_KONG, RESIDENT, TAIWAN, is_right
from pipeline.domain.spelling import HAN
from pipeline.domain.street_addresses import address_spans
from pipeline.words import words

KINDS = ("phone", "email", "card", "id", "address")
#: A place in the text; the end is exclusive.
Span = tuple[int, int]
#: Whether a match in a text is what it looks like.
Check = Callable[[str, re.Match[str]], bool]
Finder = Callable[[str], Iterator[Span]]

_TELLTALE = re.compile(r"[\d@＠号號弄室]|(?i:[(\[{]\s?at\s?[)\]}])|[一幺][三四五六七八九][〇零一二三四五六七八九幺]")
_PLACEHOLDER = re.compile(r"\[(?:phone|email|card|id|address|masked)\]")
#: Stands where something is masked already; no rule reads across it.
_GONE = "\0"
#: Of full width, what numbers and addresses are written with; a full-width comma never joins digits.
_WIDTH = {ord(char): ord(char) - 0xFEE0 for char in map(chr, range(0xFF01, 0xFF5F)) if char not in "！，：；？"}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−﹣"), "-")
_SPACES = dict.fromkeys(map(ord, "\u3000\u00a0\u2007\u2009\u202f\u200b\u200c\u200d\u2060\ufeff"), " ")
_PLAIN: dict[int, int | str] = {**_WIDTH, **_DASHES, **_SPACES}

#: No letter, digit or joined word stands before, or after: a number inside an identifier is part of that.
_OPEN = r"(?<![A-Za-z0-9_])(?<![A-Za-z_][-./#=])(?<![0-9][-.,:])(?<![$€£¥#])"
_SHUT = r"(?![A-Za-z0-9_])(?![-.,:][0-9])(?![-./](?!(?:Office|Fax|Mobile|Cell|Home|Work)\b)[A-Za-z_])(?!\s?[*+=^%])"
_EXTENSION = r"(?:,?\s?(?:x|ext\.?|extension|转|轉|分机|分機)\s?\d{1,5})?"

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+'-])(?!git@)[A-Za-z0-9_][A-Za-z0-9._%+'-]{0,63}@(?!\dx\.)"
    rf"(?:[A-Za-z0-9{HAN}-]{{1,63}}\.){{1,8}}(?:[A-Za-z]{{2,24}}|中国|中國|公司|网络)(?![A-Za-z0-9_-])(?!:[\w~./-]{{0,80}}/)"
)
_SPELLED_EMAIL = re.compile(
    r"(?<![\w.%+'-])[a-z0-9][a-z0-9._%+'-]{0,63}\s?[(\[{]\s?at\s?[)\]}]\s?"
    r"(?:[a-z0-9-]{1,63}(?:\.|\s?[(\[{]\s?dot\s?[)\]}]\s?|\sdot\s)){1,4}[a-z]{2,10}(?![\w-])",
    re.IGNORECASE,
)
_CN_MOBILE = re.compile(
    rf"{_OPEN}(?:\(?(?:\+|00)?86\)?[ -]?)?1[3-9]\d(?:[ .·-]?\d{{4}}[ .·-]?\d{{4}}|[ -]\d{{3}}[ -]\d{{5}}){_SHUT}"
)
_CODED = re.compile(
    rf"{_OPEN}(?:85[23][- ]?\d{{4}}[- ]\d{{4}}|886[- ]9\d\d[- ]?\d{{3}}[- ]?\d{{3}}|400-\d{{4}}-\d{{3}}"
    rf"|(?<=打)[48]00[ -]?\d{{3}}[ -]?\d{{4}}|(?<=\b[Cc]all )[2-9]\d{{9}}){_SHUT}"
)
_HAN_DIGIT = "[〇零一二三四五六七八九幺]"
_HAN_MOBILE = re.compile(
    rf"(?<!{_HAN_DIGIT})[一幺][三四五六七八九]{_HAN_DIGIT}(?:[ -]?{_HAN_DIGIT}{{4}}){{2}}(?!{_HAN_DIGIT}|[十百千万亿])"
)
_CN_FIXED = re.compile(
    rf"(?<!\d{{4}} ){_OPEN}(?:\(0\d{{2,3}}\)\s?|0\d{{2,3}}[- ])[1-9]\d{{2,3}}[ -]?\d{{4}}(?:-\d{{1,4}})?"
    rf"{_EXTENSION}{_SHUT}"
)
_NANP = re.compile(
    rf"{_OPEN}(?:\+?1[-. ]|001-)?(?:\([2-9]\d\d\)[- ]?[2-9]\d\d[-. ]\d{{4}}"
    rf"|[2-9]\d\d([-.])[2-9]\d\d\1\d{{4}}|[2-9]\d\d[ /][2-9]\d\d-\d{{4}}){_EXTENSION}{_SHUT}"
)
_BRACKETED = re.compile(rf"{_OPEN}\((?:0\d{{1,4}}|\d\d)\) ?\d{{3,4}}[- ]\d{{3,4}}{_EXTENSION}{_SHUT}")
_INTERNATIONAL = re.compile(
    rf"(?<![A-Za-z0-9_+])(?:\+|{_OPEN}00 ?)[1-9](?:[ .()-]{{0,2}}\d){{6,14}}{_EXTENSION}{_SHUT}"
)
_NATIONAL = re.compile(
    rf"(?<!\d ){_OPEN}0\d{{1,5}}(?:([ .-])\d{{2,4}}(?:\1\d{{2,4}}){{1,3}}|[ /-]\d{{5,8}}){_EXTENSION}{_SHUT}(?! \d)"
)
_ANY_PHONE = re.compile(rf"{_OPEN}\(?\d{{2,14}}\)?(?:[ .-]?\(?\d{{2,8}}\)?){{0,5}}{_EXTENSION}{_SHUT}")
_LOOKS_LIKE_DATE = re.compile(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}(?:\D|$)|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d(?:\D|$)"
)
#: A day without separators, or two years.
_DAYS = re.compile(r"(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|-(?:19|20)\d\d)")
_CARD = re.compile(
    rf"{_OPEN}(?:\d{{4}}(?:([ .-]?)\d{{4}}(?:\1\d{{4}}){{0,2}}(?:\1\d{{1,4}})?)|\d{{4}}([ -])\d{{6}}\2\d{{4,5}}"
    rf"|\d{{12,19}}|\d{{6}}[ -]\d{{10,13}}|\d{{4}} \d{{12,15}}){_SHUT}"
)
_UNION_PAY = re.compile(r"62\d\d \d{4} \d{4} \d{4}(?: \d{1,3})?$")
_SSN = re.compile(rf"{_OPEN}(?!000|666|9)\d{{3}}-(?!00)\d\d-(?!0000)\d{{4}}{_SHUT}")
#: What may stand between a word and the number that it speaks of: next to anything, and words that only join.
_LOOSE = r"[^\d\0\[\],;，；。、]{0,20}"
_TIGHT = (
    r"(?:[\s:：#.(（@-]|'s\b|\b(?:is|was|no|num|number|id|at|on|to|me|us|my|via|new|registered)\b|[号码是为我的请打]"
    r"|\0{4,}\s?(?:or|and|[/,，、]|或者?|和))*"
)
_NO_DIGITS = re.compile(r"\D+")
_AFTER_PHONE = re.compile(
    r"[\s-]{0,2}(?:office|fax|mobile|cell|home)\b\s*(?=$|[\n,;.\\])"
    r"|\s(?:is|was)\s(?:my|our|his|her|their)\s(?:\w{1,8}\s)?(?:phone|number|cell|mobile|landline)\b"
    r"|\s?是我的?(?:电话|電話|号码|號碼|手机|手機)|\s?打[给給]我",
    re.IGNORECASE,
)
_ID = (
    r"(?=(?:[A-Za-z .-]{0,6}\d){5})[A-Za-z]{0,6} ?\d[A-Za-z0-9]{0,20}(?:-[A-Za-z0-9]{1,8}|[ .]\d[A-Za-z0-9]{1,8}){0,5}"
    r"(?: [A-D](?=\W|$))?(?:\([0-9A]\))?|[A-Z]{5}\d{4}[A-Z]|[军武士文空海]字第\d{5,9}号?"
)
_ACCOUNT = r"\d(?:[ -]?\d){7,18}"
#: Telephone plans in which a national number may be valid, and how many numbers of a text are looked up in them.
_REGIONS = ("GB", "FR", "AU", "DE", "CN", "ZA", "NL", "IT", "JP", "KR", "CH", "SE", "IN", "TW", "HU")
_LOOKED_UP = 40
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
    for kind, places in _finders(own):
        if kind != "masked" and kind not in kinds:
            continue
        parts, place = list[str](), 0
        for start, end in places(plain):
            spans.append((start, end, kind))
            parts += plain[place:start], _GONE * (end - start)
            place = end
        plain = "".join([*parts, plain[place:]]) if parts else plain
    return sorted(spans)


def _gone(match: re.Match[str]) -> str:
    return _GONE * len(match[0])


def _finders(own: tuple[str, ...]) -> Iterator[tuple[str, Finder]]:
    """What to look for, in an order in which the surer comes before what it could be mistaken for."""
    if own:
        yield "masked", _every(_own_words(own))
    yield "email", _every(_EMAIL)
    yield "email", _every(_SPELLED_EMAIL)
    yield "id", _every(RESIDENT, lambda plain, match: is_right(match[0]) or _after("id", plain, match))
    yield "id", _every(_SSN, lambda plain, match: not _counts(plain, match))
    for pattern in (HONG_KONG, TAIWAN, BRITISH):
        yield "id", _every(pattern, _is_identity)
    yield "id", _every(_cued("id", _ID), _is_number)
    yield "card", iban_spans
    yield "card", _every(_CARD, _is_card)
    yield "card", _every(_cued("account", _ACCOUNT), _is_number)
    for pattern in (_CN_MOBILE, _CN_FIXED, _CODED, _NANP, _BRACKETED):
        yield "phone", _every(pattern, lambda plain, match: not _counts(plain, match))
    yield "phone", _every(_HAN_MOBILE)
    yield "phone", _looked_up(_INTERNATIONAL)
    yield "phone", _looked_up(_NATIONAL)
    yield "phone", _called_phones
    yield "address", address_spans


def _every(pattern: re.Pattern[str], check: Check | None = None) -> Finder:
    """Every match that passes; the text after the first character of one that fails is searched again."""

    def places(plain: str) -> Iterator[Span]:
        match = pattern.search(plain)
        while match is not None:
            passed = check is None or check(plain, match)
            if passed:
                yield match.span("it") if "it" in pattern.groupindex else match.span()
            match = pattern.search(plain, match.end() if passed else match.start() + 1)

    return places


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


def _any_of(kind: str) -> str:
    """The words of a kind; the edge before the Latin ones is looked for once, which is fast."""
    cues = words("masking")["cues"][kind]
    latin = [word.removeprefix(r"\b") for word in cues if word.startswith(r"\b")]
    return rf"\b(?:{'|'.join(latin)})|" + "|".join(word for word in cues if not word.startswith(r"\b"))


@lru_cache(maxsize=8)
def _cue(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word that says what a number behind it is, anywhere, and close before the end of the text."""
    word = _any_of(kind)
    return (
        re.compile(word, re.IGNORECASE | re.ASCII),
        re.compile(rf"(?:{word}){_LOOSE if kind == 'card' else _TIGHT}\Z", re.IGNORECASE | re.ASCII),
    )


@lru_cache(maxsize=8)
def _speaks_of(kind: str, plain: str) -> bool:
    return _cue(kind)[0].search(plain) is not None


def _after(kind: str, plain: str, match: re.Match[str], sight: int = 40) -> bool:
    """Whether such a word stands before a match, no more than `sight` characters away."""
    start = match.start()
    return _speaks_of(kind, plain) and _cue(kind)[1].search(plain, max(start - sight, 0), start) is not None


def _counts(plain: str, match: re.Match[str]) -> bool:
    """Whether the words before a number say that it is one of an order, a version, a part."""
    return _after("others", plain, match, 20)


@lru_cache(maxsize=8)
def _cued(kind: str, it: str) -> re.Pattern[str]:
    """What stands directly behind "passport number" or 身份证号."""
    return re.compile(
        rf"(?:{_any_of(kind)})(?:'s)?"
        r"(?:\s?(?:number|num|no\.?|nr\.?|card|号码|號碼|字號|字号|号|號|卡|1[58]位|是|为|為|is|was|[:：#=(（]))*\s*"
        rf"(?P<it>{it})(?![A-Za-z0-9_])",
        re.IGNORECASE | re.ASCII,
    )


def _is_number(_: str, match: re.Match[str]) -> bool:
    """Whether what a word calls a number is one, and no date."""
    number = match["it"]
    return sum(map(str.isdecimal, number)) >= 4 and not _LOOKS_LIKE_DATE.match(number) and not _DAYS.fullmatch(number)


def _is_identity(plain: str, match: re.Match[str]) -> bool:
    """A number of the shape of a person's by its check digit, or called one."""
    return _after("id", plain, match) or (is_right(match[0]) and not _counts(plain, match))


def _is_card(plain: str, match: re.Match[str]) -> bool:
    """A card of a known issuer by its check digit, or any with one, or of plain length, that is called a card."""
    digits = _NO_DIGITS.sub("", match[0])
    if not 12 <= len(digits) <= 19:
        return False
    called, counts = _after("card", plain, match), _counts(plain, match)
    if called and not counts:
        return len(digits) >= 15 or luhn.is_valid(digits)
    if counts and digits == match[0] and not called:
        return False
    return is_issued(digits) or (_UNION_PAY.match(match[0]) is not None and not counts)


def _looked_up(pattern: re.Pattern[str]) -> Finder:
    """Numbers with a country's or a trunk prefix that a telephone plan knows; past a bound, by their shape alone."""
    looked_up = 0

    def known(plain: str, match: re.Match[str]) -> bool:
        nonlocal looked_up
        looked_up += 1
        if _counts(plain, match) or _LOOKS_LIKE_DATE.match(match[0]):
            return False
        return looked_up > _LOOKED_UP or _is_in_plan(match[0])

    return _every(pattern, known)


@lru_cache(maxsize=1024)
def _is_in_plan(number: str) -> bool:
    try:
        if number.startswith(("+", "00")):
            parsed = parse(re.sub("^00 ?", "+", number))
            if number[0] == "0":
                return is_valid_number(parsed)
            return is_valid_number(parsed) or (is_possible_number(parsed) and len(re.findall(r"\d+", number)) > 2)
        return any(is_valid_number(parse(number, region)) for region in _REGIONS)
    except NumberParseException:
        return False


def _called_phones(plain: str) -> Iterator[Span]:
    """Seven to fifteen digits, and perhaps an extension, beside a word such as "call me" or 电话."""
    for match in _ANY_PHONE.finditer(plain):
        digits = _NO_DIGITS.sub("", re.split("[xe]", match[0])[0])
        if not 7 <= len(digits) <= 15 or _LOOKS_LIKE_DATE.match(match[0]):
            continue
        called = _after("phone", plain, match) and not _counts(plain, match)
        if called or _AFTER_PHONE.match(plain, match.end()):
            yield match.span()
