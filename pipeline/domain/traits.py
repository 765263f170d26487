"""The lasting traits that users tell of themselves: of each kind one holds, and different kinds stand side by side."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from pipeline.domain.slots import folded, subject_of
from pipeline.domain.spelling import has_han, simplified
from pipeline.words import words
from schemas.features import KnownFeature

#: The slot of a trait whose kind is not told.
_ANY = "trait"
_ARTICLE = re.compile(r"^(?:an?|the)\s+|^(?:是|一个|个)+", re.IGNORECASE)
_LONGEST = 40


def kind_of(text: str) -> str:
    """The kind of the trait that a text names, which is its slot: the handedness of "left-handed"; empty of none."""
    language = "zh" if has_han(text) else "en"
    return next(
        (kind[language] for kind in words("traits")["lasting"] if _named(kind, language).search(_plain(text))), ""
    )


def denies_another(value: str, held: str) -> bool:
    """Whether the trait that a value denies is not the one that is held: no early bird, of a night owl."""
    named = [
        _named(kind, "zh" if has_han(value) else "en").search(_plain(value)) for kind in words("traits")["lasting"]
    ]
    return not any(match and match.group() in _plain(held) for match in named)


def holder_of(slot: str, known: Sequence[KnownFeature]) -> KnownFeature | None:
    """What holds the trait of a kind under the name of any trait."""
    traits = (one for one in known if subject_of(one.slot) == _ANY)
    return next((one for one in traits if subject_of(kind_of(one.value)) == subject_of(slot)), None)


def slot_of_trait(slot: str, value: str, held: Mapping[str, str]) -> str:
    """The slot of its own that a trait is given; `held` are the values of the known slots, folded.

    What is of no trait stays where it is, and so does what another of its kind is held under.
    """
    kind, was = kind_of(value), held.get(slot, "")
    is_held = folded(value) == was or (kind != "" and kind_of(was) == kind)
    return slot if subject_of(slot) != _ANY or is_held or len(value) > _LONGEST else kind or _ARTICLE.sub("", value)


@cache
def patterns(language: str) -> str:
    """Any lasting trait, as one expression."""
    return "|".join(f"(?:{kind[f'traits_{language}']})" for kind in words("traits")["lasting"])


def _plain(text: str) -> str:
    return simplified(text).casefold()


def _named(kind: Mapping[str, str], language: str) -> re.Pattern[str]:
    return _compiled(kind[f"traits_{language}"], language)


@cache
def _compiled(pattern: str, language: str) -> re.Pattern[str]:
    return re.compile(pattern if language == "zh" else rf"\b(?:{pattern})(?!\w)", re.IGNORECASE)
