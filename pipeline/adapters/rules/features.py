"""The lasting facts that plain words say of the user, as the offline rules propose them."""

from collections.abc import Sequence

from pipeline.adapters.rules.patterns import compiled
from pipeline.domain.facts import facts
from pipeline.domain.slots import slot_of
from pipeline.domain.spelling import simplified
from pipeline.ports import Json, Said
from pipeline.words import words
from schemas.features import KnownFeature

_FIELDS = {"operation", "slot", "value", "content", "category", "quote"}


def proposed_changes(messages: Sequence[Said], known: Sequence[KnownFeature]) -> list[Json]:
    """The changes that the last message of the user says; those before only tell what "it" means."""
    last = next((place for place in reversed(range(len(messages))) if messages[place].role == "user"), None)
    if last is None:
        return []
    earlier = [message.text for message in messages[:last]]
    slots = {slot_of(feature.slot) for feature in known}
    return [
        change.model_dump(include=_FIELDS)
        for change in facts(messages[last].text, earlier, known)
        if change.operation == "OBSERVE" or slot_of(change.slot) in slots
    ]


def lasts(feature: KnownFeature) -> bool:
    """Whether a fact may be expected to hold after months: tastes, names and habits, no trips, dates or ages."""
    said = simplified(f"{feature.slot} {feature.value} {feature.content}")
    return compiled(words("features")["lasts"]["over"]).search(said) is None
