"""What is recalled of a user for one question, from what is kept across conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domain.mentions import mentions_any_form
from pipeline.domain.proposals import preferences_of
from pipeline.domain.relevance import as_known, by_relevance, fitting
from pipeline.domain.slots import ANSWERING, SKILL, is_meant, slot_of, subject_of
from schemas.features import FeatureChange, KnownFeature, Summary, UserFeature, is_by_hand
from schemas.role import CommunicationPreferences

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

    Nothing that says the user to be what they deny to be; a summary of the turn itself or of later ones is left out.
    """
    told = [change for change in wishes if change.operation == "OBSERVE"]
    forgotten = [change for change in wishes if change.operation == "FORGET"]
    spoken_of = {subject_of(change.slot) for change in wishes}
    denied = list(denied)
    active = [
        feature
        for feature in _one_a_slot(stored)
        if subject_of(feature.slot) not in spoken_of
        and not any(is_meant(change.slot, feature) for change in forgotten)
        and not (feature.category == "PERSONAL_INFO" and any(mentions_any_form(feature.value, name) for name in denied))
    ]
    ranked = [*map(as_known, told), *map(as_known, by_relevance(active, question))]
    values = {slot_of(known.slot): known.value for known in ranked}
    return Recalled(
        features=fitting(known for known in ranked if slot_of(known.slot) not in (SKILL, *ANSWERING)),
        summary=summary if summary and summary.turn < turn and _says_something(summary) else None,
        skill=values.get(SKILL, ""),
        preferences=_preferences(values),
    )


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
