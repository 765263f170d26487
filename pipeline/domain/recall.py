"""What is recalled of a user for one question, from what is kept across conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipeline.domain.contradicting import bears_on, contradicts
from pipeline.domain.mentions import mentions_any_form
from pipeline.domain.proposals import preferences_of
from pipeline.domain.relevance import as_known, by_relevance, fitting, terms
from pipeline.domain.similarity import covers
from pipeline.domain.slots import ANSWERING, SKILL, is_meant, slot_of, subject_of
from schemas.features import FeatureChange, KnownFeature, Summary, UserFeature, is_by_hand
from schemas.role import CommunicationPreferences

Known = TypeVar("Known", UserFeature, KnownFeature)

_NONE = CommunicationPreferences()


@dataclass(frozen=True)
class Recalled:
    """What shapes an answer beside the conversation's role memory; all of it may be nothing."""

    features: Sequence[KnownFeature] = ()
    """The facts that matter for the question, the most relevant first."""
    summary: Summary | None = None
    skill: str = ""
    preferences: CommunicationPreferences = _NONE
    """How the user always wants to be answered."""


def recall(
    stored: Sequence[UserFeature],
    question: str,
    *,
    wishes: Sequence[FeatureChange] = (),
    summary: Summary | None = None,
    turn: int,
    denied: Iterable[str] = (),
) -> Recalled:
    """What counts at a turn: what is active and not asked to be forgotten, under what the turn asks to remember.

    Nothing that says the user to be what they deny to be, or that cannot hold beside what was set by hand, which comes
    first where the question is about it; a summary of the turn itself or of later ones is left out.
    """
    forgotten = [change for change in wishes if change.operation == "FORGET"]
    denied = list(denied)
    active = [
        feature
        for feature in _one_a_slot(stored)
        if not any(is_meant(change.slot, feature) for change in forgotten)
        and not any(says_to_be(feature, name) for name in denied)
    ]
    held = [feature for feature in active if is_by_hand(feature.source)]
    settled = {subject_of(feature.slot) for feature in held}

    def stands(fact: UserFeature | FeatureChange) -> bool:
        return not any(contradicts(fact, one) for one in held)

    told = [
        change
        for change in wishes
        if change.operation == "OBSERVE" and subject_of(change.slot) not in settled and stands(change)
    ]
    spoken_of = {subject_of(change.slot) for change in wishes} - settled
    heard = [one for one in active if subject_of(one.slot) not in spoken_of and (one in held or stands(one))]
    ranked = [*map(as_known, told), *map(as_known, _ranked(heard, question))]
    values = {slot_of(known.slot): known.value for known in ranked}
    return Recalled(
        features=fitting(known for known in ranked if slot_of(known.slot) not in (SKILL, *ANSWERING)),
        summary=summary if summary and summary.turn < turn and _says_something(summary) else None,
        skill=values.get(SKILL, ""),
        preferences=_preferences(values),
    )


def on_topic(features: Sequence[Known], question: str) -> list[Known]:
    """Those that share a word with the question, or keep the user off what it is about."""
    asked = set(terms(question))
    return [
        one for one in features if not asked.isdisjoint(terms(f"{one.slot} {one.value}")) or bears_on(one, question)
    ]


def _ranked(features: Sequence[UserFeature], question: str) -> list[UserFeature]:
    """By relevance, what was set by hand first where the question is about it."""
    ranked = by_relevance(features, question)
    first = on_topic([one for one in ranked if is_by_hand(one.source)], question)
    return [*first, *(one for one in ranked if one not in first)]


def says_to_be(feature: UserFeature, role: str) -> bool:
    """Whether a fact says the user to be that."""
    is_of_user = feature.category == "PERSONAL_INFO" and mentions_any_form(feature.value, role)
    return is_of_user or covers(role, feature.value)


def _one_a_slot(stored: Sequence[UserFeature]) -> list[UserFeature]:
    """The active features, of each slot the one set by hand or else the newest."""
    ranked = sorted(stored, key=lambda one: (is_by_hand(one.source), one.last_seen_time))
    return list({subject_of(one.slot): one for one in ranked if one.status == "ACTIVE" and one.value}.values())


def _preferences(values: Mapping[str, str]) -> CommunicationPreferences:
    """Those whose value can be read."""
    wanted = {slot: {"value": values[slot], "scope": "stable"} for slot in ANSWERING if slot in values}
    return preferences_of(wanted)[0]


def _says_something(summary: Summary) -> bool:
    return any((summary.target, summary.blocker, summary.suggestion, summary.next_step))
