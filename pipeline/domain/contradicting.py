"""Which facts about a user cannot both hold: who keeps off a thing by diet or allergy, and takes it all the same.

It tells what plain words and a table say, and takes anything else for compatible.
"""

import re
from functools import cache, lru_cache

from pipeline.domain.meanings import Reading, attitudes, read
from pipeline.domain.mentions import hints_at
from pipeline.domain.restating import thing_of, whole
from pipeline.domain.slots import folded, subject_of
from pipeline.domain.spelling import has_han
from pipeline.words import words
from schemas.features import FeatureChange, KnownFeature, UserFeature

Fact = UserFeature | FeatureChange | KnownFeature


def contradicts(heard: Fact, held: Fact) -> bool:
    """Whether what was heard cannot hold beside what is held, in whatever slot it stands."""
    if subject_of(heard.slot) == subject_of(held.slot):
        return False  # one slot holds one value, and merging chooses it
    sensitive, was_sensitive = _is_sensitive(heard), _is_sensitive(held)
    if sensitive is not None and was_sensitive is not None:
        return sensitive != was_sensitive and _is_of_one(heard, held)
    if was_sensitive is not False and _is_kept_off(_text(held), heard):
        return True
    thing = thing_of(heard) - (_sensitive() if sensitive is False else frozenset())
    if _is_negative(heard) != _is_negative(held):
        return any(
            thing <= other or (_is_negative(held) and other - _sensitive() <= thing) for other in _things_of(held)
        )
    return not _is_negative(held) and _is_another_kind(heard, held)


def ends(fact: Fact, identity: str) -> bool:
    """Whether a fact says that the user is not any more what they were: a vegetarian who eats meat."""
    text = _text(fact)
    if _sign("over").search(text):
        return hints_at(fact.slot, identity) or hints_at(fact.value, identity)
    return _sign("takes").search(text) is not None and _is_kept_off(folded(identity), fact)


def bears_on(held: Fact, question: str) -> bool:
    """Whether a question is about what a fact keeps the user off."""
    plain = folded(question)
    return any(
        re.search(entry["who"], _text(held)) and re.search(f"{entry['off']}|{entry['about']}", plain)
        for entry in words("contradicting")["keeps_off"]
    )


def _is_kept_off(who: str, heard: Fact) -> bool:
    """Whether the text says somebody who keeps off what the fact says the user takes."""
    if _is_negative(heard) or _sign("lifted").search(who):
        return False
    taken = _sign("free").sub(" ", _text(heard))
    return any(
        re.search(entry["who"], who) and re.search(entry["off"], taken) for entry in words("contradicting")["keeps_off"]
    )


def _is_another_kind(heard: Fact, held: Fact) -> bool:
    """Whether one kind of a thing is liked, where another is held to be the one: whole milk, and low sugar of milk."""
    slot, name = folded(heard.slot), folded(held.slot)
    end = name if has_han(name) else f" {name}"
    wanted = read(held.value).words - attitudes()
    if not wanted or not slot.endswith(end) or read(heard.value).words - attitudes() - read(slot).words:
        return False
    return wanted.isdisjoint(read(slot.removesuffix(end)).words)


def _is_negative(fact: Fact) -> bool:
    sensitive = _is_sensitive(fact)
    if sensitive is not None:
        return sensitive
    reading: Reading = whole(fact.slot, fact.value)
    return bool(reading.denied) != _is_no(fact)


def _is_sensitive(fact: Fact) -> bool | None:
    """Whether it says that the user cannot stand a thing, or that they can; None where it says neither."""
    text = _joined(fact.slot, fact.value)
    if not _sign("sensitivity").search(text):
        return None
    return not (_is_no(fact) or _sign("insensitive").search(text))


def _is_of_one(heard: Fact, held: Fact) -> bool:
    """Whether two facts on what the user cannot stand are of one thing; of one that names none, of whatever it is."""
    return any(
        not thing or not other or thing <= other or other <= thing
        for thing in (said - _sensitive() for said in _things_of(heard))
        for other in (said - _sensitive() for said in _things_of(held))
    )


def _things_of(fact: Fact) -> list[frozenset[str]]:
    """What a fact is about, each thing of a list of them by itself, without how much it is so."""
    facts = [fact.model_copy(update={"value": item}) for item in _items(fact)] or [fact]
    return [thing_of(one) - _degrees() for one in facts]


def _items(fact: Fact) -> list[str]:
    """The things that a slot such as "allergies" lists; none of any other."""
    if not _sign("listing").fullmatch(folded(fact.slot)):
        return []
    return [item for item in map(str.strip, _sign("items").split(folded(fact.value))) if item]


def _is_no(fact: Fact) -> bool:
    """Whether it denies what its slot says, and no more."""
    return _sign("denying").fullmatch(folded(fact.value)) is not None


@lru_cache(maxsize=8192)
def _joined(slot: str, value: str) -> str:
    return folded(f"{slot} {value}")


def _text(fact: Fact) -> str:
    """Slot and value; what is denied, and what a slot lists, in the words of a statement."""
    if _is_no(fact):
        return f"不是{folded(fact.slot)}" if has_han(fact.slot) else f"not {folded(fact.slot)}"
    listed = [_joined(item, "过敏" if has_han(item) else "allergic") for item in _items(fact)]
    return ", ".join([_joined(fact.slot, fact.value), *listed])


@cache
def _sensitive() -> frozenset[str]:
    return read(words("contradicting")["sensitive"]).words


@cache
def _degrees() -> frozenset[str]:
    return read(words("contradicting")["degrees"]).words


@cache
def _sign(kind: str) -> re.Pattern[str]:
    return re.compile(words("contradicting")[kind])
