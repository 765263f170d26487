"""What of the known a statement turns: what is given up, and what is said of the same thing under another name."""

from collections.abc import Sequence

from pipeline.domain.meanings import read
from pipeline.domain.relevance import terms
from pipeline.domain.restating import thing_of, whole
from pipeline.domain.slots import folded, subject_of
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
from pipeline.words import words
from schemas.features import FeatureChange, KnownFeature


def of_an_aspect(fact: Stated, known: Sequence[KnownFeature]) -> KnownFeature | None:
    """What is known of the same thing by a longer or shorter name: the taste of durian, classical music."""
    if not (fact.only_known or fact.lifts):
        return None
    thing = _bare(fact.thing)
    return next((one for one in known if one.category == "PREFERENCE" and _bare(one.slot) == thing), None)


def opposite(change: FeatureChange, known: Sequence[KnownFeature]) -> KnownFeature | None:
    """What says of the same thing, and of no other deed, what the change denies, or denies what it says."""
    thing, deeds = thing_of(change), _deeds_of(change)
    for one in known:
        if one.category not in OF_TASTE or change.category not in OF_TASTE or thing_of(one) != thing:
            continue
        others = _deeds_of(one)
        if denies(one) != denies(change) and (not deeds or not others or not deeds.isdisjoint(others)):
            return one
    return None


def _deeds_of(fact: KnownFeature | FeatureChange) -> frozenset[str]:
    return whole(fact.slot, fact.value).words & read(words("changing")["done"]).words


def _bare(text: str) -> str:
    plain = folded(text)
    return subject_of(compiled(words("changing")["aspects"]).sub("", plain) or plain)


def ended(fact: Stated, known: Sequence[KnownFeature]) -> FeatureChange | None:
    """What is given up: running in the mornings, of "run every morning"; a place of work by its name."""
    if not terms(fact.thing) or not is_over(fact.change):
        return None
    return next((change for one in known if (change := _given_up(one, fact))), None)


def _given_up(one: KnownFeature, fact: Stated) -> FeatureChange | None:
    change, subject, is_thing = fact.change, subject_of(one.slot), folded(one.value) == folded(fact.thing)
    if subject == "workplace" and is_thing:
        return moved(change, one.slot, f"{change.value} {fact.thing}")
    if is_over(one):
        return None
    if without := _without(one, fact):
        return moved(change, one.slot, without)
    if (one.category in OF_TASTE and is_thing) or (subject == "skill" and _is_learnt(fact.thing, one.value)):
        return moved(change, one.slot, sentence_of(change))
    return moved(change, one.slot) if _is_habit_of(one, fact) and _is_deed_of(one, fact) else None


def _is_habit_of(one: KnownFeature, fact: Stated) -> bool:
    """Whether it is done with the thing: "drink two cups of coffee every morning", of coffee."""
    thing, said = used_thing(one.slot), terms(fact.thing)
    if subject_of(thing) == subject_of(fact.thing) != subject_of(one.slot):
        return True
    begins = (terms(text)[:1] for text in (one.slot, thing, used_thing(one.value)))
    is_of_it = said[:1] in begins and {*said} <= {*terms(f"{one.slot} {one.value}")}
    return one.category == "HABIT" and (is_of_it or _is_kind_of(thing, fact.thing))


def _is_kind_of(thing: str, whole_kind: str) -> bool:
    """Whether who gives up the whole kind gives up the thing: beer, of alcohol."""
    kinds = words("changing")["given_up_whole"]
    return any(subject_of(whole_kind) == subject_of(kind["name"]) and matches(kind["things"], thing) for kind in kinds)


def _is_learnt(thing: str, value: str) -> bool:
    """Whether a skill is of the thing: French, or studying French, of "learning French"."""
    return holds(folded(value), folded(thing)) or (len(said := read(thing).words) > 1 and said <= read(value).words)


def _without(one: KnownFeature, fact: Stated) -> str:
    """How a thing is had from now on, where what it was had with is given up: coffee without sugar."""
    had = compiled(words("changing")["had_with"]).match(folded(one.value))
    if not had or subject_of(had["thing"]) != subject_of(fact.thing):
        return ""
    return f"不{had['han']}{had['thing']}" if had["han"] else f"without {had['thing']}"


def _is_deed_of(one: KnownFeature, fact: Stated) -> bool:
    """Whether what is given up is what one does with the thing: 打篮球, of 不打篮球了 and not of 不看篮球了."""
    deed = folded(one.slot).removesuffix(used_thing(one.slot)).strip()
    value = folded(fact.change.value)
    if not deed or compiled(words("changing")["counted"]).fullmatch(deed):
        return True
    if any(matches(words(table)["any_deed"], value) for table in ("features_slots", "changing")):
        return True
    return deed[-1:] in value if has_han(deed) else not {*terms(deed)}.isdisjoint(terms(value))
