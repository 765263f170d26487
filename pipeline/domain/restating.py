"""Whether two facts say one thing in other words: the same polarity, numbers and people, and every word that says what.

Words count by their meaning, of which a table tells, in any order that does not matter. A word more makes another fact,
but where it tells of a place at the end. Nothing is guessed: whatever cannot be told is another fact.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from pipeline.domain.meanings import Reading, attitudes, labels, ordered, people, read, weight_of
from pipeline.domain.slots import ANSWERING, SKILL, TARGET, folded, hash_of, slot_of, subject_of
from pipeline.domain.spelling import has_han
from pipeline.words import words
from schemas.features import FeatureChange, KnownFeature, UserFeature
from schemas.wire import UserId

#: How many of the last quotes of a feature are compared.
_QUOTES = 5
#: The fewest words, a denial among them, by which a fact is told from others.
_LEAST, _LEAST_OF_A_QUOTE = 2, 3


def restates(known: UserFeature, change: FeatureChange) -> bool:
    """Whether the change says what is known, in the same slot or, beyond doubt, under another name."""
    if subject_of(known.slot) == subject_of(change.slot):
        return _restates_value(known, change)
    if _implies(known, change):
        return True
    reserved = (SKILL, TARGET, *ANSWERING)
    if slot_of(known.slot) in reserved or slot_of(change.slot) in reserved or not known.value:
        return False
    one, other = whole(known.slot, known.value), whole(change.slot, change.value)
    if _alike(one, other):
        return True
    told = _names_its_slot(known.slot, known.content) or _names_its_slot(change.slot, change.content)
    if told and _same_sentence(known, change):
        return True
    # of one sentence two facts may be made, and then neither holds all of the other
    nested = one.words <= other.words or other.words <= one.words
    return nested and bool(one.denied) == bool(other.denied) and _same_quote(known, change, one.words, other.words)


def _implies(known: UserFeature, change: FeatureChange) -> bool:
    """Whether what is known says it along with the rest: no meat, of a vegetarian."""
    held, said = (folded(f"{fact.slot} {fact.value}") for fact in (known, change))
    return not read(known.value).denied and any(
        re.search(one["held"], held) and re.fullmatch(one["said"], said) for one in words("restating")["implied"]
    )


def hashes_of(fact: UserFeature | FeatureChange, user_id: UserId, key: str) -> list[str]:
    """By which a fact is known once it is deleted, the best first, the thing that it is about last."""
    readings = [read(fact.content), whole(fact.slot, fact.value)]
    said = [_canonical(one) for one in readings if one.weight >= _LEAST and not one.points]
    thing = " ".join(["about", *sorted(thing_of(fact))])
    return [hash_of(fact.model_copy(update={"content": text}), user_id, key) for text in (*said, fact.content, thing)]


def thing_of(fact: UserFeature | FeatureChange | KnownFeature) -> frozenset[str]:
    """What a fact is about, and not what the user does about it: "squash" of a favourite sport and of a love."""
    said = whole(fact.slot, fact.value).words
    return said - attitudes() or said


def _restates_value(known: UserFeature, change: FeatureChange) -> bool:
    slot, one, other = read(known.slot), read(known.value), read(change.value)
    if _has_ended(known.value) and _has_ended(change.value):
        return one.words == other.words or not (one.words and other.words)
    if bool(one.denied) != bool(other.denied):
        return False
    if has_han(known.value) != has_han(change.value) and one.order == other.order and one.numbers == other.numbers:
        return bool(one.order)
    if one.order and other.order and _alike(one, other, beside=slot.words):
        return True
    if _same_sentence(known, change):
        return True
    return _same_quote(known, change, one.words - slot.words, other.words - slot.words)


def _has_ended(value: str) -> bool:
    """Whether a value says no more than that a habit is over: "gave up", "no longer drinks"."""
    return re.fullmatch(words("restating")["ended"], folded(value)) is not None


def _same_quote(known: UserFeature, change: FeatureChange, value: frozenset[str], its: frozenset[str]) -> bool:
    """Whether the user has said the very same of it before."""
    quotes = (seen.quote for seen in known.evidence[-_QUOTES:])
    return any(_same_text(quote, change.quote, value, its, _LEAST_OF_A_QUOTE) for quote in quotes)


def _same_sentence(known: UserFeature, change: FeatureChange) -> bool:
    one, other = read(known.value), read(change.value)
    return bool(one.denied) == bool(other.denied) and _same_text(
        known.content, change.content, one.words, other.words, _LEAST
    )


def _same_text(text: str, other: str, value: frozenset[str], its: frozenset[str], least: int) -> bool:
    """Whether two texts say the same, and each holds the value that was made of it."""
    a, b = read(text), read(other)
    if a.points or b.points or not (value <= a.words and its <= b.words):
        return False
    return _alike(a, b, least=least)


def _names_its_slot(slot: str, content: str) -> bool:
    return _naming(slot).words <= read(content).words


@lru_cache(maxsize=8192)
def _naming(slot: str) -> Reading:
    """What a slot is about, without words such as "hobby"."""
    reading = read(slot)
    kept = tuple(word for word in reading.order if not labels().fullmatch(word))
    return Reading(order=kept, denied=reading.denied, numbers=reading.numbers, pairs=reading.pairs)


@lru_cache(maxsize=8192)
def whole(slot: str, value: str) -> Reading:
    """A slot and its value as one text; what the slot names is of the value's polarity."""
    about, said = _naming(slot), read(value)
    return Reading(
        order=(*about.order, *(word for word in said.order if word not in about.words)),
        denied=said.denied | about.denied | (about.words if said.denied else frozenset()),
        numbers=said.numbers | about.numbers,
        pairs=said.pairs | about.pairs,
        one=said.one,
        many=said.many,
        where=said.where - about.words,
    )


def _alike(a: Reading, b: Reading, *, beside: frozenset[str] = frozenset(), least: int = _LEAST) -> bool:
    """`beside` are words that either may leave out."""
    shared = a.words & b.words
    if weight_of(shared) + bool(a.denied) + len(a.numbers) < least or not _agree(a, b, shared):
        return False
    more, less = a.words - b.words - beside, b.words - a.words - beside
    if (more and less) or not (more <= a.where and less <= b.where) or (more | less) & ordered():
        return False
    needs_order = (a.words | b.words) & (ordered() | people())
    return not needs_order or _of(shared, a.order) == _of(shared, b.order)


def _agree(a: Reading, b: Reading, shared: frozenset[str]) -> bool:
    """In polarity, numbers and people; and no two words side by side are the other way round."""
    return (
        bool(a.denied) == bool(b.denied)
        and a.denied & shared == b.denied & shared
        and a.numbers == b.numbers
        and a.words & people() == b.words & people()
        and not any((second, first) in b.pairs for first, second in a.pairs)
        and not (a.one & b.many | a.many & b.one) - a.denied
    )


def _of(shared: frozenset[str], order: Iterable[str]) -> list[str]:
    return [word for word in order if word in shared]


def _canonical(reading: Reading) -> str:
    order = reading.order if reading.words & (ordered() | people()) else sorted(reading.words)
    return " ".join(["not" if reading.denied else "so", *order, *(" ".join(pair) for pair in sorted(reading.numbers))])
