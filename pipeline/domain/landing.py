"""Where a plain statement goes among what is known of a user: a changed mind lands in the slot that it changes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipeline.domain.slots import folded, subject_of
from pipeline.domain.spelling import has_han
from pipeline.words import words
from schemas.features import MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature

_FAVORITE = re.compile(r"^favorite ")


@dataclass(frozen=True)
class Stated:
    """A fact as a rule reads it."""

    change: FeatureChange
    thing: str
    """What it names in full: "no-sugar milk" of a slot "milk"."""
    full: str = ""
    """The value with all of the thing in it."""
    old: str = ""
    """What somebody switched from."""
    is_switch: bool = False
    is_again: bool = False
    """It takes up again what was given up."""
    only_known: bool = False
    """It says something of a user only where what it replaces is known, or plainly one of its kind."""


def landed(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    """The changes that come of it: in its own slot, in that of what it changes, and what it takes out."""
    change, slots = fact.change, {subject_of(one.slot): one for one in known}
    is_known, diet = subject_of(change.slot) in slots, _of_diet(fact, known)
    if diet:
        return [change, *diet] if is_known else diet
    if fact.is_switch:
        return _switched(fact, known)
    plainer = slots.get(_FAVORITE.sub("", subject_of(change.slot)))
    return [_moved(change, plainer.slot)] if plainer and plainer.category == "PREFERENCE" else [change]


def _switched(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    change, rivals, holder = fact.change, _rivals_of(fact.thing), _holder(fact, known)
    stays = {subject_of(slot) for slot in (fact.thing, change.slot, *([holder.slot] if holder else []))}
    gone = [
        FeatureChange(operation="FORGET", slot=one.slot, quote=change.quote)
        for one in known
        if subject_of(one.slot) not in stays and _is_replaced(one, fact, rivals)
    ]
    if holder:
        is_one_of_it = rivals or fact.old
        value = fact.thing if is_one_of_it and subject_of(holder.slot) != subject_of(fact.thing) else change.value
        if subject_of(holder.slot) != subject_of(change.slot) and not is_one_of_it:
            value = fact.full
        return [_moved(change, holder.slot, value), *gone]
    return [] if fact.only_known and not (gone or rivals) else [change, *gone]


def _is_replaced(one: KnownFeature, fact: Stated, rivals: Mapping[str, Any] | None) -> bool:
    """Whether what is known is the old thing, or another of the kind that is used no longer."""
    is_rival = rivals is not None and "apart" not in rivals and _is(rivals["things"], one.slot) and not _is_over(one)
    return is_rival or (bool(fact.old) and subject_of(one.slot) == subject_of(fact.old))


def _holder(fact: Stated, known: Sequence[KnownFeature]) -> KnownFeature | None:
    """The known feature whose value the new thing takes: milk for no-sugar milk, an operating system for Linux."""
    heads, rivals = _heads(fact.thing), _rivals_of(fact.thing)
    for one in known:
        slot, value = subject_of(one.slot), folded(one.value)
        if slot in heads:
            return one
        if rivals and _is(rivals["slots"], one.slot):
            return one
        if fact.old and slot != subject_of(fact.old) and _holds(value, folded(fact.old)):
            return one
    return None


def _heads(thing: str) -> set[str]:
    """What a thing is of: no-sugar milk, milk; 无糖牛奶, 糖牛奶, 牛奶."""
    plain, gap = folded(thing), "" if has_han(thing) else " "
    parts = plain if has_han(thing) else plain.split()
    return {subject_of(gap.join(parts[at:])) for at in range(len(parts))}


def _of_diet(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    """Who eats meat again is no vegetarian any more."""
    lists, change = words("features_slots"), fact.change
    if not _is(lists["animal"], fact.thing) or not fact.is_again:
        return []
    diets = [one for one in known if subject_of(one.slot) == "diet" and not _is_over(one)]
    value = change.content.removeprefix("The user ").removeprefix("用户").rstrip(".。")
    return [_moved(change, one.slot, value=value) for one in diets if re.search(lists["diets"], folded(one.value))]


def _moved(change: FeatureChange, slot: str, value: str = "") -> FeatureChange:
    return change.model_copy(update={"slot": slot[:MAX_SLOT], "value": (value or change.value)[:MAX_VALUE]})


def _rivals_of(thing: str) -> Mapping[str, Any] | None:
    """The kind of things, one of which is used at a time, that a thing is of."""
    return next((kind for kind in words("features_slots")["rivals"] if _is(kind["things"], thing)), None)


def _is_over(one: KnownFeature) -> bool:
    return _compiled(words("features_slots")["over"]).search(folded(one.value)) is not None


def _is(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(folded(text)) is not None


def _holds(text: str, part: str) -> bool:
    """Whether the words of a text hold a part as a whole."""
    return part in text if has_han(part) else re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
