"""The things that a plain clause names: the items of a list with their polarity, what "it" means, what is no thing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from pipeline.domain.spelling import HAN, simplified
from pipeline.words import words

_MOST_WORDS, _MOST_HAN = 6, 14
#: The most words of an item that stands in a clause of its own.
_MOST_OF_ITEM = 4


@dataclass(frozen=True)
class Item:
    """One thing of a list, by its place; "tea, not coffee" turns the second one's polarity."""

    start: int
    end: int
    turned: bool = False


def items_of(text: str, language: str) -> Iterator[Item]:
    """The items of a list; what comes after a "neither" or "not" is turned, what stands together stays so."""
    lists = words("features")[language]
    together = [match.span() for match in _compiled(_together(lists)).finditer(text)]
    turned, at = False, 0
    if _compiled(lists["one"]).search(text):
        yield Item(0, len(text))
        return
    if match := _compiled(lists["turned"]).match(text):
        turned, at = True, match.end()
    for link in _compiled(lists["also"]).finditer(text, at):
        if any(start < link.end() and link.start() < end for start, end in together):
            continue
        if text[at : link.start()].strip():
            yield Item(at, link.start(), turned)
        turned, at = turned or link["no"] is not None, link.end()
    if text[at:].strip():
        yield Item(at, len(text), turned)


def _together(lists: Mapping[str, Any]) -> str:
    return f"{lists['together']}|{words('changing')['together']}"


def lists_on(text: str, language: str) -> bool:
    """Whether a clause holds nothing but further items of the list before it."""
    lists = words("features")[language]
    bare = _compiled(lists["goes_on"]).sub("", text.strip(), count=1)
    parts = [trimmed(bare[item.start : item.end], language) for item in items_of(bare, language)]
    longest = _MOST_HAN // 2 if language == "zh" else _MOST_OF_ITEM
    sizes = [len(part) if language == "zh" else len(part.split()) for part in parts]
    return bool(parts) and all(0 < size <= longest for size in sizes) and not _compiled(lists["no_item"]).search(bare)


def ends_list(text: str, language: str) -> bool:
    """Whether the clause has the "and" that comes before a list's last item."""
    return _compiled(words("features")[language]["last_item"]).search(text) is not None


def is_turned(text: str, language: str) -> bool:
    """Whether a clause of further items says "not" of them."""
    return _compiled(words("features")[language]["turns"]).match(text) is not None


def narrows(text: str, language: str) -> str:
    """Which of the things before it a clause means: "not sour ones"; empty where it says none."""
    lists, plain = words("features")[language], _plain(text).strip(" ,，.。!！")
    for form, pattern in lists["narrows"].items():
        if match := _compiled(pattern.replace("{tastes}", f"(?:{lists['tastes']})")).search(plain):
            return str(form).format(match["how"])
    return ""


def named(text: str, language: str, before: Sequence[str]) -> str:
    """What is named, without what is no part of it; "it" is what was spoken of last, and what is no thing is empty."""
    lists, thing = words("features")[language], trimmed(text, language)
    if not thing or _compiled(lists["pronoun"]).search(_plain(thing)):
        thing = _spoken_of(before, language)
    return (
        ""
        if is_long(thing, language) or _compiled(lists["no_thing"]).search(_plain(thing)) or not is_named(thing)
        else thing
    )


def is_long(thing: str, language: str) -> bool:
    """Whether it is no thing any more, but a sentence."""
    return len(thing) > _MOST_HAN if language == "zh" else len(thing.split()) > _MOST_WORDS


def trimmed(text: str, language: str, *, tail_only: bool = False) -> str:
    """Without the words around a thing that are no part of it, the articles and the "very much"."""
    lists = words("features")[language]
    text, before = text.strip(" ,，.。!！、"), ""
    while text != before:
        before = text
        if not tail_only and not _compiled(words("changing")["whole"]).match(text):
            text = _compiled(lists["begins"]).sub("", text)
        text = _compiled(lists["ends"]).sub("", text).strip(" ,，.。!！、")
    return text


def is_named(text: str) -> bool:
    """Whether a text may name what a fact is about: no conjunction, no command, no rest of a contraction."""
    plain = _plain(text).strip()
    return bool(plain) and _compiled(words("features_slots")["unnamed"]).search(plain) is None


def _spoken_of(before: Sequence[str], language: str) -> str:
    """What a clause or a message before was about, the newest first; empty where none tells.

    Of a long message only what it suggests or asks tells.
    """
    return next((thing for text in reversed(before) if (thing := _subject_of(text, language))), "")


@lru_cache(maxsize=256)
def _subject_of(text: str, language: str) -> str:
    lists, plain = words("features")[language], _plain(text)
    no_thing = _compiled(rf"(?:{lists['kin']})$|{lists['no_thing']}|{lists['unspoken']}")
    patterns = [*lists["suggested"], *(lists["spoken_of"] if len(plain) <= lists["short"] else ())]
    for clause in reversed(_compiled(words("features")["spoken_end"]).split(plain)):
        for pattern in patterns:
            match = _compiled(pattern).search(clause.strip())
            thing = trimmed(match["what"], language) if match and not _offers(match) else ""
            if is_named(thing) and not no_thing.search(thing):
                return thing
    return ""


def _offers(match: re.Match[str]) -> bool:
    """Whether another thing is offered beside: "almonds or walnuts" is no "it"."""
    return match.string[match.end("what") :].lstrip().startswith(("or ", "还是"))


def _plain(text: str) -> str:
    return simplified(text).replace("’", "'")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("{HAN}", HAN), re.IGNORECASE)
