"""How the user likes to be answered, by how far each wish reaches."""

from dataclasses import dataclass

from schemas.role import CommunicationPreferences, Extraction, PreferenceOrigins, RoleMemory

_FIELDS = tuple(CommunicationPreferences.model_fields)


@dataclass(frozen=True)
class Preferred:
    """The stored preferences after a turn, and what became of those that were asked for."""

    stored: CommunicationPreferences
    origins: PreferenceOrigins
    asked: bool
    changed: bool
    repeated: bool
    """One that was asked for was stored already, with the same value."""


def prefer(memory: RoleMemory, extraction: Extraction, *, identity_accepted: bool) -> Preferred:
    """Store what was asked for; what was inferred only where nothing was asked and the identity was accepted.

    A field without a value that reaches the conversation is one that was withdrawn.
    """
    stored, origins = memory.preferences.model_dump(), memory.preference_origins.model_dump()
    asked = changed = repeated = False
    for field in _FIELDS:
        value, scope = getattr(extraction.preferences, field), getattr(extraction.preference_scopes, field)
        if value is None and scope == "conversation" and stored[field] is not None:
            stored[field], origins[field], asked, changed = None, None, True, True
        if value is None or scope in (None, "turn"):
            continue
        if scope == "inferred":
            if identity_accepted and origins[field] != "asked" and stored[field] != value:
                stored[field], origins[field], changed = value, "inferred", True
            continue
        asked = True
        repeated = repeated or stored[field] == value
        changed = changed or stored[field] != value
        stored[field], origins[field] = value, "asked"
    return Preferred(CommunicationPreferences(**stored), PreferenceOrigins(**origins), asked, changed, repeated)


def for_this_turn(extraction: Extraction) -> CommunicationPreferences:
    """The preferences that shape this turn's guidance alone."""
    return CommunicationPreferences(
        **{
            field: getattr(extraction.preferences, field)
            for field in _FIELDS
            if getattr(extraction.preference_scopes, field) == "turn"
        }
    )
