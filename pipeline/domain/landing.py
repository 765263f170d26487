"""Where a plain statement goes among what is known of a user: a changed mind lands in the slot that it changes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.domain.slots import SKILL, folded, subject_of
from pipeline.domain.spelling import has_han
from pipeline.domain.stated import (
    OF_TASTE,
    Stated,
    compiled,
    denies,
    holds,
    is_over,
    matches,
    moved,
    sentence_of,
    used_thing,
)
from pipeline.domain.traits import denies_another, holder_of, kind_of
from pipeline.domain.turning import ended, of_an_aspect, opposite
from pipeline.words import words
from schemas.features import MAX_CONTENT, FeatureChange, KnownFeature

_FAVORITE = re.compile(r"^favorite ")


def landed(fact: Stated, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    """The changes that come of it: in its own slot, in that of what it changes, and what it takes out."""
    change, slots = fact.change, {subject_of(one.slot): one for one in known}
    held = slots.get(subject_of(change.slot)) or of_an_aspect(fact, known) or holder_of(change.slot, known)
    if not held and not fact.lifts:
        held = opposite(change, known)
    if fact.old and not fact.is_switch and _is_of_things(fact, slots.get(subject_of(fact.old)), known):
        return []
    if diets := _of_diet(fact, known):
        gone = [_given_up(change, one) if held else moved(change, one.slot, sentence_of(change)) for one in diets]
        return [change, *gone] if held else gone
    if fact.is_switch:
        return _switched(fact, known)
    if over := ended(fact, known):
        return [over]
    needless = fact.only_known and not (held and not _is_of_its_like(change, held))
    if needless or (fact.lifts and not (held and denies(held))):
        return []
    broken = _forgotten(change, (one for one in known if _breaks(one, change)))
    plainer = slots.get(_FAVORITE.sub("", subject_of(change.slot)))
    if not held or subject_of(held.slot) == subject_of(change.slot):
        held = plainer if plainer and plainer.category == "PREFERENCE" else None
    return [moved(change, held.slot)] if held else [change, *broken]


def _is_of_its_like(change: FeatureChange, held: KnownFeature) -> bool:
    """Whether it denies a trait where its like is held: no early bird, of a night owl."""
    return change.slot == kind_of(change.value) and denies_another(change.value, held.value)


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
        if slot := _renamed(holder, value, fact):
            return [moved(change, slot, value), *_forgotten(change, [holder]), *gone]
        return [moved(change, holder.slot, value), *gone]
    return [] if fact.only_known and not (gone or rivals) else [change, *gone]


def _renamed(holder: KnownFeature, value: str, fact: Stated) -> str:
    """The name of a habit with the new thing for the old: "drink coffee" of "drink tea"; empty where it has none."""
    slot, old = folded(holder.slot), folded(fact.old)
    if not old or slot == old:
        return ""
    if holds(slot, old):
        return _with(slot, old, fact.thing)
    is_beginning = holder.category == "HABIT" and folded(holder.value).startswith(f"{slot} ")
    return " ".join(value.split()[: len(slot.split())]) if is_beginning and not folded(value).startswith(slot) else ""


def _with(text: str, old: str, new: str) -> str:
    """The new thing for the old; several have no article."""
    article = r"(?:\b(?:an?|one)\s+)?" if re.fullmatch(r"[a-z -]+s", new) else ""
    return re.sub(article + re.escape(old), lambda _: new, text, count=1, flags=re.IGNORECASE)


def _forgotten(change: FeatureChange, known: Iterable[KnownFeature]) -> list[FeatureChange]:
    return [FeatureChange(operation="FORGET", slot=one.slot, quote=change.quote) for one in known]


def _in_place(fact: Stated, holder: KnownFeature) -> str:
    """The value that is held, with the new thing for the old: "learning Kotlin" of "learning Java"."""
    if not fact.old or not holds(folded(holder.value), folded(fact.old)):
        return fact.thing
    return _with(holder.value, fact.old, fact.thing)


def _is_of_things(fact: Stated, old: KnownFeature | None, known: Sequence[KnownFeature]) -> bool:
    """Whether "from … to …" is of things that are used or learnt, and of no places."""
    is_used = old is not None and old.category == "OTHER"
    is_learnt = any(one.slot == SKILL and holds(folded(one.value), folded(fact.old)) for one in known)
    return is_used or is_learnt or bool(_rivals_of(fact.old) or _rivals_of(fact.change.value))


def _breaks(one: KnownFeature, change: FeatureChange) -> bool:
    """Whether it is a habit of eating what a diet keeps off: eating meat, of a vegetarian."""
    lists = words("features_slots")
    is_diet = subject_of(change.slot) == "diet" and matches(lists["diets"], change.value) and not is_over(change)
    return is_diet and one.category == "HABIT" and not is_over(one) and matches(lists["eats"], one.value)


def _is_replaced(one: KnownFeature, fact: Stated, rivals: Mapping[str, Any] | None) -> bool:
    """Whether what is known is the old thing, or another of the kind that is used no longer."""
    is_rival = rivals is not None and "apart" not in rivals and matches(rivals["things"], one.slot) and not is_over(one)
    return is_rival or (bool(fact.old) and subject_of(one.slot) == subject_of(fact.old)) or _is_done_with(one, fact)


def _is_done_with(one: KnownFeature, fact: Stated) -> bool:
    """Whether another thing of its kind is used or preferred to it: oat milk, where it is soy milk now."""
    if _is_alternative(one, fact) and not denies(one):
        return True
    kinds = _kinds(used_thing(one.slot)) & _kinds(fact.thing)
    if not _is_used(one) and one.category == "PREFERENCE" and _chooses(one.value, fact.full):
        return not denies(one) and any(len(kind) > 1 for kind in kinds)
    return _is_used(one) and not is_over(one) and bool(kinds)


def _is_alternative(one: KnownFeature, fact: Stated) -> bool:
    """Whether it is what the one now preferred is the other of: a window seat, of an aisle seat."""
    pairs = words("changing")["alternatives"]
    return one.category in OF_TASTE and any(matches(pair, one.slot) and matches(pair, fact.full) for pair in pairs)


def _chooses(*values: str) -> bool:
    """Whether one of them says that a kind of a thing is preferred."""
    return any(matches(words(table)["chosen"], value) for table in ("features_slots", "changing") for value in values)


def _is_of_family(one: KnownFeature, fact: Stated) -> bool:
    """Whether it is the habit of using what the new thing may take the place of: tea, where it is coffee now."""
    new = used_thing(fact.thing)
    families = (*words("features_slots")["families"], *words("changing")["families"])
    olds = {form for text in (one.slot, one.value) for form in (used_thing(text), folded(text))}
    is_family = any(matches(family, new) and any(matches(family, old) for old in olds) for family in families)
    deed = fact.full.removesuffix(fact.thing)
    is_same_deed = deed.endswith(" at ") and folded(one.slot).startswith(folded(deed))
    return (is_same_deed or (is_family and (_is_used(one) or one.category == "HABIT"))) and not is_over(one)


def _is_used(one: KnownFeature) -> bool:
    is_deed = compiled(words("features_slots")["deeds"]).match
    return any(is_deed(folded(text)) is not None for text in (one.slot, one.value)) or (
        any(compiled(words("changing")[kind]).match(folded(one.value)) is not None for kind in ("used", "deeds"))
    )


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
        if rivals and matches(rivals["slots"], one.slot):
            return one
        if fact.old and slot != subject_of(fact.old) and holds(value, folded(fact.old)):
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
    if not matches(lists["animal"], fact.thing) or not fact.is_again:
        return []
    diets = [one for one in known if subject_of(one.slot) == "diet" and not is_over(one)]
    return [one for one in diets if re.search(lists["diets"], folded(one.value))]


def _given_up(change: FeatureChange, diet: KnownFeature) -> FeatureChange:
    """That a diet is over, beside the fact of what is eaten again."""
    is_han = has_han(diet.value)
    value = f"不再{diet.value}" if is_han else f"no longer {diet.value}"
    content = f"用户{value}。" if is_han else f"The user is {value}."
    return moved(change, diet.slot, value).model_copy(update={"content": content[:MAX_CONTENT]})


def _rivals_of(thing: str) -> Mapping[str, Any] | None:
    """The kind of things, one of which is used at a time, that a thing is of."""
    return next((kind for kind in words("features_slots")["rivals"] if matches(kind["things"], thing)), None)
