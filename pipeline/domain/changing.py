"""A habit that a clause says is so in another way now: another number, another time, another thing in its place."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from pipeline.domain.fact_clauses import Clause, plain_of
from pipeline.domain.meanings import Reading, read
from pipeline.domain.spelling import has_han
from pipeline.domain.things import is_named
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature

#: The verb that helps another, which a value goes without.
_HELPING = re.compile(r"^(?:['’](?:ve|m|re)|have|am|are)\s+", re.IGNORECASE)
#: How a habit is named by its first words, or Chinese characters.
_LONGEST = {"en": 4, "zh": 8}


def shortened(clause: Clause) -> Clause | None:
    """The clause without what only says since when or why it is so; None where that is nothing."""
    lists = words("changing")[clause.language]
    begin = _compiled(lists["begins"]).match(clause.text)
    start = begin.end() if begin else 0
    end = _compiled(lists["ends"]).search(clause.text, start)
    text = clause.text[start : end.start() if end else None]
    return replace(clause, text=text, start=clause.start + start) if text.strip() and text != clause.text else None


def done_otherwise(clause: Clause, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    """The habit as it is now, and where it is not named any more by what it was, the old one taken out."""
    if not known or not _compiled(words("changing")[clause.language]["now"]).search(clause.text):
        return []
    own = _speaker(clause.language).match(clause.text)
    if not own and not clause.goes_on:
        return []
    said = clause.text[own.end() if own else 0 :]
    now = _deed(said)
    for one in known:
        readings = (_deed(one.value), _deed(f"{one.slot} {one.value}"))
        is_choice = one.category == "PREFERENCE" and _compiled(words("changing")["choice"]).match(one.value)
        was = next((reading for reading in readings if _is_the_same_otherwise(reading, now)), None)
        if was and (one.category == "HABIT" or is_choice):
            return _replaced(one, was, clause, said, now)
    return []


def _replaced(one: KnownFeature, was: Reading, clause: Clause, said: str, now: Reading) -> list[FeatureChange]:
    """What no longer names the habit as it is now makes room for what does."""
    is_han = clause.language == "zh"
    start = len(clause.text) - len(said)
    value = _HELPING.sub("", clause.written(start, len(clause.text)).strip(" ,，.。"))
    content = f"用户{value}。" if is_han else f"The user: {value}."
    still = read(one.slot)
    slot = one.slot
    if _digits(still) - _digits(now) or (still.words & was.words) - now.words:
        bare = _compiled(words("changing")[clause.language]["bare"]).sub("", plain_of(value)).strip()
        name = bare[: _LONGEST["zh"]] if is_han else " ".join(bare.split()[: _LONGEST["en"]])
        slot = name if is_named(name) else slot
    change = FeatureChange(
        slot=slot[:MAX_SLOT],
        value=value[:MAX_VALUE],
        content=content[:MAX_CONTENT],
        category=one.category,
        quote=clause.quote,
    )
    gone = FeatureChange(operation="FORGET", slot=one.slot, quote=clause.quote)
    return [change] if slot == one.slot else [change, gone]


def _is_the_same_otherwise(was: Reading, now: Reading) -> bool:
    """Whether two readings are one habit but for a number, a time, or what is had for the same purpose."""
    if not was.order or not now.order or bool(was.denied) != bool(now.denied):
        return False
    gone, come = was.words - now.words, now.words - was.words
    if not come and gone <= _listed("uses"):
        return bool(_digits(was) and _digits(now)) and _digits(was) != _digits(now)
    if len(gone) == len(come) == 1 and len(was.words) > 1:
        is_other_time = any(gone | come <= kind for kind in _kinds()) and _digits(was) == _digits(now)
        if is_other_time or gone | come <= _listed("periods"):
            return True
    return bool(gone and come and was.words & now.words & _listed("purposes")) and was.order[0] == now.order[0]


def _digits(reading: Reading) -> frozenset[str]:
    return frozenset(number for number, _ in reading.numbers)


@lru_cache(maxsize=1024)
def _deed(text: str) -> Reading:
    """What is done, without how often or since when in words: the numbers stay."""
    language = "zh" if has_han(text) else "en"
    lists = words("changing")
    parted = _compiled(lists["parted"]["pattern"]).sub(lists["parted"]["reads"], plain_of(text))
    return read(_compiled(lists[language]["bare"]).sub(" ", parted))


@cache
def _kinds() -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset().union(*(read(word).words for word in line.split(", "))) for line in words("changing")["kinds"]
    )


@cache
def _listed(kind: str) -> frozenset[str]:
    return read(words("changing")[kind]).words


@cache
def _speaker(language: str) -> re.Pattern[str]:
    lists = words("features")[language]
    return re.compile(f"{lists['lead']}{lists['me']}{lists['adverbs'] if language == 'zh' else ''}", re.IGNORECASE)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
