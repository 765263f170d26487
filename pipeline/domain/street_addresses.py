"""Where a text names a street address, in English and European spelling and in Chinese."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pipeline.domain.spelling import HAN
from pipeline.words import words

_UNIT = r"(?:,?\s{1,2}(?:Apt|Apartment|Suite|Unit|Flat|Floor|Fl|Room|Box)\.?\s?#?\w{1,6})"
_NUMBER = r"(?:[0-9]{1,5}|[一二三四五六七八九十百〇零两]{1,6})"
_ROOM = (
    r"(?:(?:[0-9A-Za-z一二三四五六七八九十]{1,5}(?:号楼|号院|栋|幢|座|单元|层|楼|室|房|号)"
    r"|[0-9]{3,4}(?![0-9元块年]))[-\s]?)"
)
_MILITARY = r"(?:(?:PSC|Unit)\s\d{3,5},?\sBox\s\d{3,5}|USNV\s\w{2,20})(?:\s[ADF]PO\s[A-Z]{2}\s\d{5})?"
_BOX = r"P\.?\s?O\.?\s?Box\s\d{1,6}"


def address_spans(plain: str) -> Iterator[tuple[int, int]]:
    """The places of street addresses, in order; `plain` holds digits and letters of plain width."""
    place = 0
    for match in _address().finditer(plain):
        if match.start() >= place:
            start, place = match.start() + _lead(match["road"] or match["block"] or ""), match.end()
            yield start, place


def _lead(name: str) -> int:
    """How many characters before a Chinese address are caught with it and say something else: 我住在."""
    han = words("masking")["han"]
    if region := re.search("|".join(han["regions"]), name):
        return region.start()
    return max([name.rfind(word) + 1 for word in han["before"] if not name.endswith(word)] + [len(name) - 8, 0])


@lru_cache(maxsize=1)
def _address() -> re.Pattern[str]:
    streets, han = words("masking")["streets"], words("masking")["han"]
    name = (
        r"(?:[A-Z\u00c0-\u00de\u0370-\u03ab][\w'’.-]{0,20}|[1-9]\d?(?:st|nd|rd|th)|de|du|des|da|do|dos|del|la|of|the)"
    )
    tail = (
        rf"(?:{_UNIT}{{0,2}}(?:,\s[A-Z][a-z]{{2,15}}(?:\s[A-Z][a-z]{{2,15}}){{0,2}})?"
        r"(?:,?\s[A-Z]{2}\b)?(?:\s\d{5}(?:-\d{4})?\b)?)"
    )
    number = r"(?<![\w.,:/$€£#-])\d{1,6}[A-Za-z]?(?:[-/]\d{1,4})?"
    english = (
        rf"{number}\s(?!(?:{'|'.join(streets['never'])})\b){name}(?:\s{name}){{0,3}}?\s"
        rf"(?:{'|'.join(streets['endings'])})\b(?![-'’]\w)\.?{tail}"
    )
    before = rf"(?:{number}\s)?(?<!\w)(?:{'|'.join(streets['before'])})(?:\s{name}){{1,4}}\s\d{{1,4}}\b{tail}"
    compound = rf"(?:{number}\s)?(?<!\w)[A-ZÄÖÜØÅ]\w{{2,20}}(?:{'|'.join(streets['compounds'])})\s\d{{1,4}}\b{tail}"
    unit = rf"{number}\s{name}(?:\s{name}){{0,3}}(?:\s\d{{1,5}}\.?)?{_UNIT}{tail}"
    road = rf"(?:(?<![{han['never']}])(?:路|街|道|巷)|公路(?=\d{{3}})|弄|胡同)(?:[东南西北中一二三四五六]段)?"
    village = r"(?:小区|花园|公寓|家园|新村|苑|大厦|村)"
    chinese = rf"(?P<road>[{HAN}]{{1,18}}{road}){_NUMBER}(?:-\d{{1,4}})?(?:号|弄)(?!线)(?:{_ROOM}){{0,5}}"
    block = rf"(?P<block>[{HAN}]{{2,16}}{village})\d{{1,3}}(?:号楼|栋|幢|座|号)(?:{_ROOM}){{1,4}}"
    return re.compile(
        "|".join(f"(?:{part})" for part in (english, before, compound, unit, _BOX, _MILITARY, chinese, block))
    )
