"""Where a text names a street address, in English and European spelling and in Chinese."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pipeline.domain.spelling import HAN
from pipeline.words import words

_UPPER = r"A-Z\u00c0-\u00de\u0100-\u017f\u0370-\u03ab"
#: One word of the name of a street; the small ones join.
_NAME = (
    rf"(?:[{_UPPER}][\w'’.-]{{0,20}}|[1-9]\d?(?:st|nd|rd|th)|de|du|des|da|do|dos|dei|del|della|der|den|dem|das"
    r"|la|le|las|los|of|the|e|y|van|von|het)"
)
_HOUSE = r"(?<![\w.,:/$€£#-])(?:\d{3,5}\s)?\d{1,6}[A-Za-z]?(?:[-/]\d{1,4})?"
#: Between the lines of an address, quoted or not.
_GAP = r"[,\s>?]{1,8}"
_UNIT = (
    rf"(?:{_GAP}(?i:Apt|Apartment|Suite|Unit|Flat|Floor|Fl|Room|Box)\.?\s?#?\d\w{{0,5}}"
    rf"|{_GAP}(?:Apt|Unit|Flat|Suite)\.?\s?[A-Z]\b|,?\s\d{{1,3}}(?:st|nd|rd|th)\s[Ff]loor)"
)
_PLACE = rf"{_GAP}\(?[{_UPPER}][\w().'’-]{{0,20}}(?:\s[{_UPPER}(][\w().'’-]{{0,20}}){{0,3}}"
_CODE = r"(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d)(?!\w)"
_TOWN = rf"(?:{_PLACE}){{0,4}}{_GAP}{_CODE}"
#: What may follow the street: a flat, then lines up to a postal code, a code and a town, or a town alone.
_REST = (
    rf"{_UNIT}{{0,2}}(?:,\s\d{{4,5}}\s[{_UPPER}]\w{{2,20}}|{_TOWN}"
    rf"|\s[{_UPPER}]\w{{2,15}}(?:\s[{_UPPER}]\w{{2,15}})?,?\s[A-Z]{{2}}\b"
    rf"|,\s[{_UPPER}]\w{{2,15}}(?:\s[{_UPPER}]\w{{2,15}}){{0,2}}(?:,?\s[A-Z]{{2}}\b)?(?!\w|\s\d))?"
)
_MILITARY = (
    r"(?i:(?:PSC|Unit)\s\d{3,5},?\sBox\s\d{3,5}(?:\s[ADF]PO\s[A-Z]{2}\s\d{5})?"
    r"|US(?:NV|NS|S|CGC)\s\w{2,20}\s[ADF]PO\s[A-Z]{2}\s\d{5})"
)
_BOX = rf"P\.?\s?O\.?\s?Box\s\d{{1,6}}{_REST}"

_NUMBER = r"[甲乙丙丁]?(?:[0-9]{1,5}|[一二三四五六七八九十百〇零两]{1,6})"
_ROOM = (
    r"(?:(?:[0-9A-Za-z一二三四五六七八九十]{1,5} ?(?:号楼|號樓|号院|栋|棟|幢|座|单元|單元|层|樓|楼|室|房|号|號)"
    r"|[0-9]{3,4}(?![0-9元块年]))[-\s]?)"
)
_BESIDE = r"(?:之[一二三四五六七八九十]|-\d{1,4})?"
_DISTRICT = re.compile(rf"[{HAN}]{{2}}(?:新区|[区區县縣市镇鎮])")


def address_spans(plain: str) -> Iterator[tuple[int, int]]:
    """The places of street addresses, in order; `plain` holds digits and letters of plain width."""
    places = [
        *(match.span() for match in _address().finditer(plain)),
        *(match.span("it") for pattern in _cued() for match in pattern.finditer(plain)),
        *(
            (match.start() + _lead(match["name"]), match.end())
            for pattern in _chinese()
            for match in pattern.finditer(plain)
        ),
    ]
    place = -1
    for start, end in sorted(places, key=lambda span: (span[0], -span[1])):
        if end > place:
            joined = start <= place and plain[max(start, place)] in "和与或及"
            yield max(start, place) + joined, end
            place = end


def _lead(name: str) -> int:
    """How many characters before a Chinese address are caught with it and say something else: 我住在."""
    han = words("masking")["han"]
    if region := re.search("|".join(han["regions"]), name):
        return region.start()
    start = max(name.rfind(word) + 1 for word in han["before"] if not name.endswith(word))
    if len(name) - start > 8:
        district = _DISTRICT.search(name, start)
        start = district.start() if district else len(name) - 8
    return start


@lru_cache(maxsize=1)
def _address() -> re.Pattern[str]:
    """What is an address by itself."""
    streets = words("masking")["streets"]

    def either(kind: str) -> str:
        return f"(?:{'|'.join(streets[kind])})"

    flat = r"(?:\b(?:Flat|Apt|Room|Unit|Suite)\s\w{1,5},\s)?"
    english = (
        rf"{flat}{_HOUSE}\s(?!{either('never')}\b){_NAME}(?:\s{_NAME}){{0,3}}?\s"
        rf"{either('endings')}\b(?![-'’]\w)\.?(?!\s(?!{either('followed')}\b)[a-z]){_REST}"
    )
    highway = (
        rf"(?<![\w.,:/$€£#-])\d{{3,5}}\s(?:[A-Z]\w{{1,15}}\s){{0,2}}(?:Highway|Hwy|County Road)\s\d{{1,4}}\b{_REST}"
    )
    single = rf"{_HOUSE}\s[A-Z]\w{{2,15}}(?:way|gate|side)\b(?=,\s[A-Z]){_REST}"
    french = (
        rf"{_HOUSE},?\s(?:{either('french')}|{either('french_of')}(?=\sd(?:es?|u|['’])))"
        rf"(?:\s(?:de|du|des|la|le|les))*\s(?:[dl]['’])?[\w'’-]{{2,20}}(?:\s[{_UPPER}][\w'’-]{{1,20}}){{0,3}}{_REST}"
    )
    before = rf"(?:{_HOUSE}\s)?(?<!\w){either('before')}(?:\s{_NAME}){{1,5}}\s\d{{1,4}}(?:[a-z]|/\w)?\b{_REST}"
    compound = rf"(?:{_HOUSE}\s)?(?<!\w)[{_UPPER}]\w{{1,20}}{either('compounds')}\s\d{{1,4}}[a-z]?\b{_REST}"
    after = (
        rf"(?:{_HOUSE}\s)?(?<!\w)(?!D(?:er|ie|as|en|em)\b)[{_UPPER}][\w-]{{1,20}}(?:\s[\w-]{{1,20}}){{0,2}}?\s"
        rf"{either('after')}\s\d{{1,4}}[a-z]?\b\.?{_REST}"
    )
    unit = rf"{_HOUSE}\s{_NAME}(?:\s{_NAME}){{0,3}}(?:\s\d{{1,5}}\.?)?{_UNIT}{_REST}"
    town = rf"{_HOUSE}\s{_NAME}(?:\s{_NAME}){{0,3}}(?:\s\d{{1,5}}\.?)?(?=[ ]?[,\n]){_TOWN}"
    corner = (
        rf"\bcorner of(?=[^.\n]{{0,60}}\d)(?:\s(?:{_NAME}|\d{{1,5}}\.?|str)){{1,7}}\sand\s{_NAME}"
        rf"(?:\s(?:{_NAME}|\d{{1,5}}\.?)){{0,3}}"
    )
    parts = (english, highway, single, french, before, compound, after, unit, town, corner, _BOX, _MILITARY)
    return re.compile(rf"(?<![A-Za-z0-9_])(?=[\d{_UPPER}cpu])(?:{'|'.join(f'(?:{part})' for part in parts)})")


@lru_cache(maxsize=1)
def _cued() -> tuple[re.Pattern[str], ...]:
    """What is an address behind words such as "I live at", in small letters or of no known street."""
    streets = words("masking")["streets"]
    never = f"(?!(?i:{'|'.join(streets['never'] + streets['measures'])})\\b)"
    small = rf"{_HOUSE}\s{never}[\w'’.-]{{1,20}}(?:\s[\w'’.-]{{1,20}})?\s(?i:{'|'.join(streets['small'])})\b\.?{_REST}"
    names = rf"{never}(?![A-Z]{{1,5}}\b){_NAME}(?:\s{_NAME}){{0,4}}"
    numbered = rf"{_HOUSE}\s{names}(?:\s\d{{1,4}}\b\.?)?{_REST}"
    named = rf"{names}\s\d{{1,4}}\b{_REST}"
    both = rf"{_HOUSE}\s{names}\s\d{{1,4}}\b\.?{_REST}"
    return tuple(
        re.compile(rf"\b(?i:{'|'.join(streets['cues'][cue])})[\s:]{{1,10}}(?P<it>{small}|{what})(?!\w)")
        for cue, what in (("at", f"{numbered}|{named}"), ("to", both))
    )


@lru_cache(maxsize=1)
def _chinese() -> tuple[re.Pattern[str], ...]:
    """A house of a road, of a named block, and of a village."""
    han = words("masking")["han"]
    road = (
        rf"(?:(?<![{han['never']}])(?:路|街|道|巷)|公路(?=\d{{3}})|弄|胡同)"
        r"(?:[东南西北中東内外](?=[甲乙丙丁]?\d))?(?:[一二三四五六七八九十1-9]段)?"
    )
    named = rf"(?:[A-Za-z]{{0,8}}(?:(?![是在的有和到离])[{HAN}]){{1,8}}"
    landmark = rf"{named}(?:{'|'.join(han['landmarks'])}|(?:{'|'.join(han['blocks'])})(?={_ROOM})))?"
    number = rf" ?{_NUMBER}(?:-\d{{1,4}})? ?(?:号(?: ?院)?|號|弄|巷)(?!线|線)"
    house = rf"{number}{_BESIDE} ?{_ROOM}{{0,5}}{_BESIDE}{landmark}{_ROOM}{{0,4}}"
    building = r"(?:\d{1,3}|[一二三四五六七八九十]{1,3})(?:号楼|號樓|栋|棟|幢|座|号|號)"
    return (
        re.compile(rf"(?P<name>[{HAN}]{{1,18}}{road}){house}"),
        re.compile(rf"(?P<name>[{HAN}]{{2,16}}(?:{'|'.join(han['blocks'])})){building}{_ROOM}{{1,4}}"),
        re.compile(rf"(?P<name>[{HAN}]{{1,16}}[村屯])\d{{1,3}}[组組社队]\d{{1,4}}[号號]"),
    )
