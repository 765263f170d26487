"""What is recalled of a user for one question, from what is kept across conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domain.mentions import mentions_any_form
from pipeline.domain.proposals import preferences_of
from pipeline.domain.relevance import by_relevance, fitting
from pipeline.domain.slots import SKILL, is_meant, slot_of, subject_of
from pipeline.domain.spelling import fold
from schemas.features import FeatureChange, KnownFeature, Summary, UserFeature
from schemas.role import CommunicationPreferences

_NONE = CommunicationPreferences()
#: The slots that say how to answer, as they are stored, and their names on the wire.
_SHAPING = {
    fold(field.alias or name): field.alias or name for name, field in CommunicationPreferences.model_fields.items()
}


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
    spoken_of = {_subject(change.slot) for change in wishes}
    denied = list(denied)
    active = [
        feature
        for feature in _one_a_slot(stored)
        if _subject(feature.slot) not in spoken_of
        and not any(is_meant(change.slot, feature) for change in forgotten)
        and not (feature.category == "PERSONAL_INFO" and any(mentions_any_form(feature.value, name) for name in denied))
    ]
    ranked = [*map(_known, told), *map(_known, by_relevance(active, question))]
    values = {fold(known.slot): known.value for known in ranked}
    return Recalled(
        features=fitting(known for known in ranked if fold(known.slot) not in (SKILL, *_SHAPING)),
        summary=summary if summary and summary.turn < turn and _says_something(summary) else None,
        skill=values.get(SKILL, ""),
        preferences=_preferences(values),
    )


def _subject(slot: str) -> str:
    return subject_of(slot_of(slot))


def _one_a_slot(stored: Sequence[UserFeature]) -> list[UserFeature]:
    """The active features, of each slot the user's own one or else the newest."""
    ranked = sorted(stored, key=lambda one: (one.source == "MANUAL", one.last_seen_time))
    return list({_subject(one.slot): one for one in ranked if one.status == "ACTIVE" and one.value}.values())


def _known(feature: UserFeature | FeatureChange) -> KnownFeature:
    source = feature.source if isinstance(feature, UserFeature) else "CHAT_EXTRACT"
    return KnownFeature(
        slot=feature.slot, value=feature.value, content=feature.content, category=feature.category, source=source
    )


def _preferences(values: Mapping[str, str]) -> CommunicationPreferences:
    """Those whose value can be read."""
    wanted = {field: {"value": values[slot], "scope": "stable"} for slot, field in _SHAPING.items() if slot in values}
    return preferences_of(wanted)[0]


def _says_something(summary: Summary) -> bool:
    return any((summary.target, summary.blocker, summary.suggestion, summary.next_step))
