"""One turn as a track entry, the memory that an entry holds, and which entry still stands."""

from collections.abc import Iterable
from datetime import datetime

from pipeline.domain.arbitration import Outcome
from pipeline.domain.confidence import level
from schemas.events import RoleExtracted
from schemas.role import ConversationAnalysis, IdentifiedRole, RoleMemory, TrackEntry


def entry_of(event: RoleExtracted, outcome: Outcome, previous: TrackEntry | None, *, at: datetime) -> TrackEntry:
    """The entry of a turn; `at` is when the memory changed, if it did, and `previous` the entry before it."""
    memory = outcome.memory
    unmoved = previous.update_time if previous is not None and outcome.decision != "CREATE" else None
    return TrackEntry(
        user_id=event.user_id,
        conversation_id=event.conversation_id,
        question_id=event.question_id,
        turn=event.turn,
        user_query=event.text,
        decision=outcome.decision,
        identity_decision=outcome.identity_decision,
        similarity=outcome.similarity,
        reason=outcome.reason,
        extraction=event.extraction,
        conversation_analysis=ConversationAnalysis(
            confidence_score=memory.confidence_score, interaction_count=event.turn
        ),
        identified_role=IdentifiedRole(
            possible_identities=[identity.name for identity in memory.identities],
            primary_characteristics=[item.name for item in memory.characteristics],
            evidence_summary=[item.quote for item in memory.evidence],
            confidence_level=level(memory.confidence_score),
        ),
        communication_preferences=memory.preferences,
        user_overview=memory.user_overview,
        create_time=event.logged_at,
        record_time=event.record_time,
        update_time=at if outcome.decision == "UPDATE" else unmoved,
        identities=memory.identities,
        characteristics=memory.characteristics,
        evidence=memory.evidence,
        denied_identities=memory.denied_identities,
        preference_origins=memory.preference_origins,
        signals=memory.signals,
    )


def memory_of(entry: TrackEntry) -> RoleMemory:
    """The memory after the entry's turn: all that the next turn needs."""
    return RoleMemory(
        identities=entry.identities,
        characteristics=entry.characteristics,
        evidence=entry.evidence,
        denied_identities=entry.denied_identities,
        preferences=entry.communication_preferences,
        preference_origins=entry.preference_origins,
        signals=entry.signals,
        confidence_score=entry.conversation_analysis.confidence_score,
        user_overview=entry.user_overview,
    )


def standing(entries: Iterable[TrackEntry], epoch: int) -> TrackEntry | None:
    """Of some entries, newest first, the first that builds on nothing up to the epoch, where the memory was erased."""
    return next((entry for entry in entries if entry.since > epoch), None)
