"""What a model proposed about a user's lasting traits, checked against what the user said in this very message."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from pipeline.domain.fact_clauses import finds, is_moment, is_wish_of_now
from pipeline.domain.facts import facts
from pipeline.domain.guards import clauses, clauses_of, speaks_of_another, speaks_of_self
from pipeline.domain.injected import without_injected
from pipeline.domain.languages import fits_language
from pipeline.domain.proposals import MAX_READ, object_of, text_of
from pipeline.domain.quoting import Ground, Span, ground_of, inside
from pipeline.domain.remembering import is_planted
from pipeline.domain.restating import thing_of
from pipeline.domain.scripts import in_script_of
from pipeline.domain.slots import ANSWERING, SKILL, TARGET, folded, slot_of, subject_of
from pipeline.domain.spelling import has_han, spans
from pipeline.domain.things import is_named
from pipeline.domain.traits import slot_of_trait
from pipeline.ports import Json
from pipeline.words import words
from schemas.features import (
    MAX_CONTENT,
    MAX_SLOT,
    MAX_VALUE,
    Category,
    FeatureChange,
    FeatureOperation,
    KnownFeature,
)
from schemas.role import MAX_QUOTE

#: The most facts that one message gives.
MAX_OBSERVED = 8
#: Other names that models give to the operations; what is none of them is an observation.
_OPERATIONS: dict[str, FeatureOperation] = {
    "FORGET": "FORGET",
    "DELETE": "FORGET",
    "REMOVE": "FORGET",
}
_IDLE = frozenset({"NONE", "NOOP", "NO_CHANGE", "KEEP"})
_LEAST_QUOTE = 2
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
#: An object with one of these is a change.
_OF_A_CHANGE = {"slot", "value", "new"}


@dataclass(frozen=True)
class Observed:
    """The changes that the message bears out, and how many others were proposed."""

    changes: list[FeatureChange]
    dropped: int


def listed(raw: Json) -> Json:
    """A list of changes, or one of them alone, in the object that was asked for; anything else stays as it is."""
    changes: list[Json] = [*raw] if isinstance(raw, list) else [raw]
    if any(isinstance(one, dict) and "changes" not in one and one.keys() & _OF_A_CHANGE for one in changes):
        return {"changes": changes}
    return raw


def read_changes(raw: Json, message: str, known: Sequence[KnownFeature]) -> Observed | None:
    """Make of a proposal what the message bears out; None where no object can be read from it."""
    proposal = object_of(listed(raw))
    if proposal is None:
        return None
    changes_of = proposal.get("changes")
    ground, slots = ground_of(without_injected(message)), {slot_of(one.slot): folded(one.value) for one in known}
    proposed = changes_of[:MAX_READ] if isinstance(changes_of, list) else []
    items = [part for item in proposed for part in _parts(item)][:MAX_READ]
    changes: dict[str, FeatureChange] = {}
    for item in items:
        change = _change(item, ground, slots) if isinstance(item, dict) else None
        if change is not None and len(changes) < MAX_OBSERVED:
            changes.setdefault(subject_of(change.slot), change)
    return Observed(list(changes.values()), len(items) - len(changes))


def with_plain_facts(
    changes: Sequence[FeatureChange], message: str, earlier: Sequence[str], known: Sequence[KnownFeature] = ()
) -> list[FeatureChange]:
    """What the message says in plain words goes in where the model left it out, or made of it what cannot be kept.

    A changed mind lands in the slot of what is known, and what it replaces is forgotten.
    """
    ground, slots = ground_of(without_injected(message)), {subject_of(one.slot) for one in known}
    plain = [fact for fact in facts(ground.text, earlier, known) if _own_place(fact.quote, ground)]
    found = list(changes)
    for fact in plain:
        is_known = subject_of(fact.slot) in slots
        beside = [one for one in plain if one.quote == fact.quote and one.operation == "OBSERVE"]
        told = [change for change in changes if _says(change, fact, alone=len(beside) == 1)]
        if fact.operation == "FORGET" and not is_known:
            continue
        if is_known and not any(subject_of(change.slot) in slots for change in told):
            found = [change for change in found if change not in told]
        elif told:
            continue
        if len(found) < MAX_OBSERVED:
            found.append(fact)
    return found


def _says(change: FeatureChange, fact: FeatureChange, *, alone: bool) -> bool:
    """Whether a model's change says the fact: of its slot, or by the same words, which of a list must name it."""
    if subject_of(change.slot) == subject_of(fact.slot):
        return True
    if fact.operation == "FORGET" or not change.quote:
        return False
    if change.quote not in fact.quote:
        return fact.quote in change.quote and not thing_of(change).isdisjoint(thing_of(fact))
    return alone or fact.slot.casefold() in f"{change.slot} {change.value} {change.content}".casefold()


def _parts(item: Json) -> list[Json]:
    """The change, or one for each field that says something, where it changes the whole profile at once."""
    value = item.get("value") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(value, dict) or not _is_whole(item.get("slot")):
        return [item]
    said = {str(name).replace("_", " "): part for name, part in value.items() if part not in (None, "", [], {})}
    return [{**item, "slot": name, "value": part, "content": ""} for name, part in said.items()]


def _is_whole(slot: object) -> bool:
    """Whether a slot is called what all of a user's facts are: "user profile"."""
    return isinstance(slot, str) and re.fullmatch(words("observing")["whole"], folded(slot)) is not None


def _change(item: dict[str, Any], ground: Ground, slots: Mapping[str, str]) -> FeatureChange | None:
    """The change, where its slot can be told, its quote is the user's own word, and what it says may last.

    `slots` are the known ones, with their values. A correction that tells no slot tells the old value, and its new
    one is its quote.
    """
    operation = _operation(item.get("operation") or item.get("op"))
    slot, quote = text_of(_plain(item.get("slot")), MAX_SLOT), item.get("quote")
    value = text_of(_plain(item.get("value") or item.get("new")), MAX_VALUE) or ""
    if slot is None:
        slot, quote = _slot_with(item.get("old"), slots), quote or value
    place = _own_place(quote, ground)
    if operation is None or slot is None or not slot_of(slot) or not is_named(slot) or place is None:
        return None
    # how answers should be is learnt from the wishes alone
    if slot_of(slot) in ANSWERING or (operation == "FORGET" and slot_of(slot) not in slots):
        return None
    content = text_of(_plain(item.get("content")), MAX_CONTENT) or ""
    is_given = slot_of(slot) in (*slots, SKILL, TARGET)
    said = [text for text in (value, content, "" if is_given else slot) if text]
    if finds("masked", f"{slot} {value} {content}"):
        return None
    if (operation == "OBSERVE" and not value) or not all(fits_language(text, ground.text) for text in said):
        return None
    value, content = (in_script_of((ground.text,), text) if has_han(text) else text for text in (value, content))
    quote = ground.text[place[0] : place[1]]
    return FeatureChange(
        operation=operation,
        slot=slot_of(slot_of_trait(slot_of(slot), value, slots) if value else slot),
        value=value,
        content=content,
        category=_category(item.get("category")),
        quote=" ".join(quote.split())[:MAX_QUOTE],
    )


def _slot_with(old: object, slots: Mapping[str, str]) -> str | None:
    """The one known slot that has a value, in any letter case and spacing; an empty value is none."""
    value = folded(old) if isinstance(old, str) else ""
    having = [slot for slot, known in slots.items() if value and known == value]
    return having[0] if len(having) == 1 else None


def _plain(value: object) -> object:
    """An object where a string was expected says what it says in its fields, without the empty ones."""
    if isinstance(value, dict):
        return ", ".join(str(part) for part in value.values() if part not in (None, "", [], {}))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _operation(value: object) -> FeatureOperation | None:
    name = value.strip().upper() if isinstance(value, str) else ""
    return None if name in _IDLE else _OPERATIONS.get(name, "OBSERVE")


def _category(value: object) -> Category:
    name = value.strip().upper().replace(" ", "_") if isinstance(value, str) else ""
    return next((category for category in get_args(Category) if category == name), "OTHER")


def _own_place(quote: object, ground: Ground) -> Span | None:
    """Where the user says it of themselves, and not for the moment alone; None where they do nowhere."""
    text = text_of(quote, MAX_QUOTE)
    if text is None or len(text) < _LEAST_QUOTE:
        return None
    return next((place for place in spans(text, ground.text) if is_own(place, ground)), None)


def is_own(place: Span, ground: Ground) -> bool:
    """Whether the user says it there of themselves, and of more than this time."""
    if any(inside(place, spans) for spans in (ground.quoted, ground.planted, ground.code)):
        return False
    if _is_beside_a_moment(place, ground.text):
        return False
    asked = _asked().match(ground.text, place[0]) is not None
    return any(
        not (speaks_of_another(clause) or _is_passing(clause) or is_planted(clause))
        and (not asked or speaks_of_self(_asking().sub("", clause)))
        for clause in clauses_of(place, ground.text)
    )


def _is_passing(clause: str) -> bool:
    return _passing().search(clause) is not None or is_wish_of_now(clause)


def _is_beside_a_moment(place: Span, text: str) -> bool:
    """Whether a "just this once" stands in a clause of its own before or after it, in one sentence."""
    found = clauses(text)
    own = [at for at, (start, end) in enumerate(found) if start < place[1] and place[0] < end]
    for at in {own[0] - 1, own[-1] + 1}.intersection(range(len(found))) if own else ():
        start, end = found[at]
        gap = text[end : found[own[0]][0]] if at < own[0] else text[found[own[-1]][1] : start]
        if is_moment(text[start:end]) and not _SENTENCE_END.search(gap):
            return True
    return False


@cache
def _asked() -> re.Pattern[str]:
    """Up to the end of a question: "sweet or sour apples, which?" says nothing of who asks."""
    return re.compile(r"[^.!?。！？\n]{0,200}[?？]")


@cache
def _asking() -> re.Pattern[str]:
    """Where the user is the one of whom is asked: "which should I buy?" says nothing of them either."""
    return re.compile("|".join(words("observing")["asking"]), re.IGNORECASE)


@cache
def _passing() -> re.Pattern[str]:
    """Words that say it of this time alone, of a case that is none, or ask."""
    return re.compile("|".join(words("observing")["passing"]), re.IGNORECASE)
