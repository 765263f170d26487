"""Where a plain statement goes among what is known of a user: a changed mind lands in the slot that it changes."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
    if fact.old and not fact.is_switch and _is_of_things(fact, slots.get(subject_of(fact.old))):
        return []
    if diets := _of_diet(fact, known):
        over = [_given_up(change, one) if held else _moved(change, one.slot, _deed(change)) for one in diets]
        return [change, *over] if held else over
    if fact.is_switch:
        return _switched(fact, known)
    if ended := _ended(fact, known):
        return [ended]
    if (fact.only_known and not held) or (fact.lifts and not (held and _denies(held))):
        return []
    broken = _forgotten(change, (one for one in known if _breaks(one, change)))
    plainer = slots.get(_FAVORITE.sub("", subject_of(change.slot)))
    return [_moved(change, plainer.slot)] if plainer and plainer.category == "PREFERENCE" else [change, *broken]


def _switched(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    change, rivals, holder = fact.change, _rivals_of(fact.thing), _holder(fact, known)
    stays = {subject_of(slot) for slot in (fact.thing, change.slot, *([holder.slot] if holder else []))}
    others = [one for one in known if subject_of(one.slot) not in stays]
    family = [] if fact.old or holder else [one for one in others if _is_of_family(one, fact)]
    gone = _forgotten(
        change, (one for one in others if _is_replaced(one, fact, rivals) or (len(family) == 1 and one in family))
    )
    if holder:
        is_one_of_it = rivals or fact.old
        value = change.value
        if is_one_of_it and subject_of(holder.slot) != subject_of(fact.thing):
            value = _in_place(fact, holder)
        if subject_of(holder.slot) != subject_of(change.slot) and not is_one_of_it:
            value = fact.full
        return [_moved(change, holder.slot, value), *gone]
    return [] if fact.only_known and not (gone or rivals) else [change, *gone]


def _forgotten(change: FeatureChange, known: Iterable[KnownFeature]) -> list[FeatureChange]:
    return [FeatureChange(operation="FORGET", slot=one.slot, quote=change.quote) for one in known]


def _in_place(fact: Stated, holder: KnownFeature) -> str:
    """The value that is held, with the new thing for the old: "learning Kotlin" of "learning Java"."""
    if not fact.old or not _holds(folded(holder.value), folded(fact.old)):
        return fact.thing
    return re.sub(re.escape(fact.old), lambda _: fact.thing, holder.value, count=1, flags=re.IGNORECASE)


def _is_of_things(fact: Stated, old: KnownFeature | None) -> bool:
    """Whether "from … to …" is of things that are used, and of no places."""
    is_used = old is not None and old.category == "OTHER"
    return is_used or bool(_rivals_of(fact.old) or _rivals_of(fact.change.value))


def _breaks(one: KnownFeature, change: FeatureChange) -> bool:
    """Whether it is a habit of eating what a diet keeps off: eating meat, of a vegetarian."""
    lists = words("features_slots")
    is_diet = subject_of(change.slot) == "diet" and _is(lists["diets"], change.value) and not _is_over(change)
    return is_diet and one.category == "HABIT" and not _is_over(one) and _is(lists["eats"], one.value)


def _ended(fact: Stated, known: Sequence[KnownFeature]) -> FeatureChange | None:
    """What is given up: running in the mornings, of "run every morning"; a place of work by its name."""
    said, change = terms(fact.thing), fact.change
    if not said or not _is_over(change):
        return None
    for one in known:
        if subject_of(one.slot) == "workplace" and folded(one.value) == folded(fact.thing):
            return _moved(change, one.slot, f"{change.value} {fact.thing}")
        if subject_of(one.slot) == "skill" and not _is_over(one) and _holds(folded(one.value), folded(fact.thing)):
            return _moved(change, one.slot, _deed(change))
        begins = (terms(text)[:1] for text in (one.slot, _thing_of(one.slot), _thing_of(one.value)))
        is_of_it = one.category == "HABIT" and said[:1] in begins and {*said} <= {*terms(f"{one.slot} {one.value}")}
        is_it = subject_of(_thing_of(one.slot)) == subject_of(fact.thing) != subject_of(one.slot)
        if (is_it or is_of_it) and not _is_over(one) and _is_deed_of(one, fact):
            return _moved(change, one.slot)
    return None


def _is_deed_of(one: KnownFeature, fact: Stated) -> bool:
    """Whether what is given up is what one does with the thing: 打篮球, of 不打篮球了 and not of 不看篮球了."""
    deed = folded(one.slot).removesuffix(_thing_of(one.slot)).strip()
    value = folded(fact.change.value)
    if not deed or _is(words("features_slots")["any_deed"], value):
        return True
    return deed[-1:] in value if has_han(deed) else not {*terms(deed)}.isdisjoint(terms(value))


def _is_replaced(one: KnownFeature, fact: Stated, rivals: Mapping[str, Any] | None) -> bool:
    """Whether what is known is the old thing, or another of the kind that is used no longer."""
    is_rival = rivals is not None and "apart" not in rivals and _is(rivals["things"], one.slot) and not _is_over(one)
    return is_rival or (bool(fact.old) and subject_of(one.slot) == subject_of(fact.old)) or _is_done_with(one, fact)


def _is_done_with(one: KnownFeature, fact: Stated) -> bool:
    """Whether another thing of its kind is used or preferred to it: oat milk, where it is soy milk now."""
    kinds = _kinds(_thing_of(one.slot)) & _kinds(fact.thing)
    if not _is_used(one) and one.category == "PREFERENCE" and _chooses(one.value, fact.full):
        return not _denies(one) and any(len(kind) > 1 for kind in kinds)
    return _is_used(one) and not _is_over(one) and bool(kinds)


def _chooses(*values: str) -> bool:
    """Whether one of them says that a kind of a thing is preferred."""
    return any(_is(words("features_slots")["chosen"], value) for value in values)


def _is_of_family(one: KnownFeature, fact: Stated) -> bool:
    """Whether it is the habit of using what the new thing may take the place of: tea, where it is coffee now."""
    things = (_thing_of(one.slot), _thing_of(fact.thing))
    is_family = any(all(_is(family, thing) for thing in things) for family in words("features_slots")["families"])
    deed = fact.full.removesuffix(fact.thing)
    is_same_deed = deed.endswith(" at ") and folded(one.slot).startswith(folded(deed))
    return (is_same_deed or (is_family and _is_used(one))) and not _is_over(one)


def _thing_of(text: str) -> str:
    """What is used, of a slot or value that says so: "tea" of "drink tea"."""
    return _compiled(words("features_slots")["deeds"]).sub("", folded(text))


def _is_used(one: KnownFeature) -> bool:
    is_deed = _compiled(words("features_slots")["deeds"]).match
    return any(is_deed(folded(text)) is not None for text in (one.slot, one.value))


def _kinds(thing: str) -> set[str]:
    """What a longer name is a kind of, by its end."""
    return {head for head in _heads(thing) if head and head != subject_of(thing)}


def _holder(fact: Stated, known: Sequence[KnownFeature]) -> KnownFeature | None:
    """The known feature whose value the new thing takes: milk for no-sugar milk, an operating system for Linux."""
    heads, rivals = _heads(fact.thing), _rivals_of(fact.thing)
    if fact.change.category == "HABIT":
        heads = {subject_of(fact.change.slot)}
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
