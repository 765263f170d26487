"""A command's correction of the role, taken as a statement of the user whose evidence is the command."""

from collections.abc import Sequence
from datetime import datetime

from pipeline.domain.arbitration import arbitrate
from pipeline.domain.confidence import level
from pipeline.domain.guidance import compose_guidance
from pipeline.domain.recall import Recalled
from pipeline.domain.similarity import covers
from pipeline.domain.track import memory_of
from pipeline.ports import Similarity
from schemas.events import GuidanceIssued
from schemas.memory_events import MemoryCommand
from schemas.role import MAX_CORRECTIONS, ConversationAnalysis, Evidence, Extraction, IdentifiedRole, Quote, TrackEntry
from schemas.wire import QuestionId

#: What a correction is worth: nobody knows better.
_SCORE = 1.0


def is_corrected_by(entry: TrackEntry, command: MemoryCommand) -> bool:
    return command.command_id in entry.corrections


def corrected(
    entry: TrackEntry, command: MemoryCommand, *, at: datetime, similarity: Similarity, threshold: float
) -> TrackEntry:
    """The entry as it would be, had its question said what the command says; its guidance likewise."""
    outcome = arbitrate(
        memory_of(entry),
        _statement(command),
        question_id=QuestionId(command.command_id or ""),
        turn=entry.turn,
        similarity=similarity,
        threshold=threshold,
    )
    memory = outcome.memory
    evidence = _undenied(memory.evidence, command.denies)
    who = "an administrator" if command.by == "admin" else "the user"
    left = entry.model_copy(
        update={
            **{name: getattr(memory, name) for name in ("identities", "characteristics", "signals")},
            "evidence": evidence,
            "denied_identities": memory.denied_identities,
            "decision": "UPDATE",
            "identity_decision": "UPDATE",
            "similarity": outcome.similarity,
            "reason": f"corrected by a command of {who}: {outcome.reason}",
            "conversation_analysis": ConversationAnalysis(
                confidence_score=memory.confidence_score, interaction_count=entry.turn
            ),
            "identified_role": IdentifiedRole(
                possible_identities=[identity.name for identity in memory.identities],
                primary_characteristics=[item.name for item in memory.characteristics],
                evidence_summary=[item.quote for item in evidence],
                confidence_level=level(memory.confidence_score),
            ),
            "user_overview": memory.user_overview,
            "corrections": [*entry.corrections, command.command_id][-MAX_CORRECTIONS:],
            "correction_count": max(entry.correction_count, len(entry.corrections)) + 1,
            "update_time": at,
        }
    )
    return left.model_copy(update={"event": _guidance(left).to_json().decode()})


def _undenied(evidence: Sequence[Evidence], denies: Sequence[str]) -> list[Evidence]:
    """The quotes without those that speak for a denied role: they are evidence of nothing any more."""
    kept = []
    for item in evidence:
        supports = [name for name in item.supports if not any(covers(denial, name) for denial in denies)]
        if supports:
            kept.append(item.model_copy(update={"supports": supports}))
    return kept


def _statement(command: MemoryCommand) -> Extraction:
    return Extraction(
        identities=command.identities,
        states=command.identities,
        denies=command.denies,
        evidence=[Quote(quote=name, supports=[name]) for name in command.identities],
        score=_SCORE,
    )


def _guidance(entry: TrackEntry) -> GuidanceIssued:
    """What was issued for the entry's turn, with the role as it is now."""
    issued = GuidanceIssued.from_stored(entry.event)
    recalled = Recalled(issued.features, issued.summary, issued.skill)
    guidance = compose_guidance(entry, issued.preferences, issued.turn_preferences, entry.user_query, recalled)
    return issued.model_copy(
        update={
            "decision": entry.decision,
            "reason": entry.reason,
            "similarity": entry.similarity,
            "identities": entry.identified_role.possible_identities,
            "characteristics": entry.identified_role.primary_characteristics,
            "confidence_score": entry.conversation_analysis.confidence_score,
            "confidence_level": entry.identified_role.confidence_level,
            "user_overview": entry.user_overview,
            "text": guidance.text,
            "rules": guidance.rules,
        }
    )
