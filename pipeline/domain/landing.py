"""Where a plain statement goes among what is known of a user: a changed mind lands in the slot that it changes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipeline.domain.relevance import terms
from pipeline.domain.slots import folded, subject_of
from pipeline.domain.spelling import has_han
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature

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
    lifts: bool = False
    """It says something only where the opposite is known."""


def landed(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    """The changes that come of it: in its own slot, in that of what it changes, and what it takes out."""
    change, slots = fact.change, {subject_of(one.slot): one for one in known}
    held = slots.get(subject_of(change.slot))
    if diets := _of_diet(fact, known):
        over = [_given_up(change, one) if held else _moved(change, one.slot, _deed(change)) for one in diets]
        return [change, *over] if held else over
    if fact.is_switch:
        return _switched(fact, known)
    if ended := _ended(fact, known):
        return [ended]
    if (fact.only_known and not held) or (fact.lifts and not (held and _denies(held))):
        return []
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


def _ended(fact: Stated, known: Sequence[KnownFeature]) -> FeatureChange | None:
    """What is given up: running in the mornings, of "run every morning"; a place of work by its name."""
    said, change = terms(fact.thing), fact.change
    if not said or not _is_over(change):
        return None
    for one in known:
        if subject_of(one.slot) == "workplace" and folded(one.value) == folded(fact.thing):
            return _moved(change, one.slot, f"{change.value} {fact.thing}")
        is_of_it = terms(one.slot)[:1] == said[:1] and {*said} <= {*terms(f"{one.slot} {one.value}")}
        if one.category == "HABIT" and is_of_it and not _is_over(one):
            return _moved(change, one.slot)
    return None


def _is_replaced(one: KnownFeature, fact: Stated, rivals: Mapping[str, Any] | None) -> bool:
    """Whether what is known is the old thing, or another of the kind that is used no longer."""
    is_rival = rivals is not None and "apart" not in rivals and _is(rivals["things"], one.slot) and not _is_over(one)
    return is_rival or (bool(fact.old) and subject_of(one.slot) == subject_of(fact.old)) or _is_done_with(one, fact)


def _is_done_with(one: KnownFeature, fact: Stated) -> bool:
    """Whether it is the habit of using another thing of the same kind: drinking oat milk, where it is soy milk now."""
    deed = _compiled(words("features_slots")["deeds"])
    thing = deed.sub("", folded(one.slot))
    used = thing != folded(one.slot) or deed.match(folded(one.value)) is not None
    return used and not _is_over(one) and bool(_kinds(thing) & _kinds(fact.thing))


def _kinds(thing: str) -> set[str]:
    """What a longer name is a kind of, by its end."""
    return {head for head in _heads(thing) if head and head != subject_of(thing)}


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


def _of_diet(fact: Stated, known: Sequence[KnownFeature]) -> list[KnownFeature]:
    """The diets that are over: who eats meat again is no vegetarian any more."""
    lists = words("features_slots")
    if not _is(lists["animal"], fact.thing) or not fact.is_again:
        return []
    diets = [one for one in known if subject_of(one.slot) == "diet" and not _is_over(one)]
    return [one for one in diets if re.search(lists["diets"], folded(one.value))]


def _deed(change: FeatureChange) -> str:
    """What a fact's sentence says of the user."""
    return change.content.removeprefix("The user ").removeprefix("用户").rstrip(".。")


def _given_up(change: FeatureChange, diet: KnownFeature) -> FeatureChange:
    """That a diet is over, beside the fact of what is eaten again."""
    is_han = has_han(diet.value)
    value = f"不再{diet.value}" if is_han else f"no longer {diet.value}"
    content = f"用户{value}。" if is_han else f"The user is {value}."
    return _moved(change, diet.slot, value).model_copy(update={"content": content[:MAX_CONTENT]})


def _moved(change: FeatureChange, slot: str, value: str = "") -> FeatureChange:
    return change.model_copy(update={"slot": slot[:MAX_SLOT], "value": (value or change.value)[:MAX_VALUE]})


def _rivals_of(thing: str) -> Mapping[str, Any] | None:
    """The kind of things, one of which is used at a time, that a thing is of."""
    return next((kind for kind in words("features_slots")["rivals"] if _is(kind["things"], thing)), None)


def _denies(one: KnownFeature) -> bool:
    return _is_over(one) or _is(words("features_slots")["denies"], one.value)


def _is_over(one: KnownFeature | FeatureChange) -> bool:
    return _compiled(words("features_slots")["over"]).search(folded(one.value)) is not None


def _is(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(folded(text)) is not None


def _holds(text: str, part: str) -> bool:
    """Whether the words of a text hold a part as a whole."""
    return part in text if has_han(part) else re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
