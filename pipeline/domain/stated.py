"""A fact as a rule reads it, and the words by which it is compared with what is known."""

import re
from dataclasses import dataclass
from functools import cache

from pipeline.domain.slots import folded
from pipeline.domain.spelling import has_han
from pipeline.words import words
from schemas.features import MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature

#: What may turn into its opposite.
OF_TASTE = ("PREFERENCE", "HABIT")


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


def used_thing(text: str) -> str:
    """What is used, of a slot or value that says so: "tea" of "drink tea"."""
    thing = compiled(words("features_slots")["deeds"]).sub("", folded(text))
    for kind in ("deeds", "counted"):
        thing = compiled(words("changing")[kind]).sub("", thing) or thing
    return thing


def sentence_of(change: FeatureChange) -> str:
    """What a fact's sentence says of the user."""
    return change.content.removeprefix("The user ").removeprefix("用户").rstrip(".。")


def moved(change: FeatureChange, slot: str, value: str = "") -> FeatureChange:
    """The change in another slot, in other words where some are given."""
    return change.model_copy(update={"slot": slot[:MAX_SLOT], "value": (value or change.value)[:MAX_VALUE]})


def denies(one: KnownFeature | FeatureChange) -> bool:
    """Whether it says that something is not so, or is not liked."""
    return is_over(one) or matches(words("features_slots")["denies"], one.value)


def is_over(one: KnownFeature | FeatureChange) -> bool:
    """Whether it says that something is not so, or not any more."""
    return any(matches(words(table)["over"], one.value) for table in ("features_slots", "changing"))


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is anywhere in the text, read in its folded form."""
    return compiled(pattern).search(folded(text)) is not None


def holds(text: str, part: str) -> bool:
    """Whether the words of a text hold a part as a whole."""
    return part in text if has_han(part) else re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Letter case apart."""
    return re.compile(pattern, re.IGNORECASE)
