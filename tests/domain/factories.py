"""Short ways to say what was heard, and to hear it turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.domain.arbitration import Outcome, arbitrate
from pipeline.domain.similarity import lexical
from pipeline.ports import Similarity
from schemas.role import (
    CommunicationPreferences,
    Extraction,
    PreferenceScope,
    PreferenceScopes,
    Quote,
    RoleMemory,
)
from schemas.wire import QuestionId


def heard(
    *identities: str,
    states: Sequence[str] = (),
    denies: Sequence[str] = (),
    traits: Sequence[str] = (),
    score: float = 0.6,
    overview: str = "",
    quote: str = "",
) -> Extraction:
    """An extraction whose one quote supports all of it; a stated identity need not be named twice."""
    names = [*identities, *(name for name in states if name not in identities)]
    supports = [*names, *denies, *traits]
    evidence = [Quote(quote=quote or f"about {supports[0]}", supports=supports)] if supports else []
    return Extraction(
        identities=names,
        characteristics=list(traits),
        evidence=evidence,
        states=list(states),
        denies=list(denies),
        score=score,
        overview=overview,
    )


def preferring(scope: PreferenceScope, extraction: Extraction | None = None, **values: str) -> Extraction:
    """An extraction that also, or only, prefers; fields by their Python names."""
    return (extraction or Extraction(score=0.2)).model_copy(
        update={
            "preferences": CommunicationPreferences.model_validate(values),
            "preference_scopes": PreferenceScopes.model_validate(dict.fromkeys(values, scope)),
        }
    )


@dataclass
class Talk:
    """One conversation: every turn heard is arbitrated against the memory of the one before."""

    similarity: Similarity = lexical
    threshold: float = 0.8
    turn: int = 0
    memory: RoleMemory = field(default_factory=RoleMemory)

    def hear(self, extraction: Extraction) -> Outcome:
        self.turn += 1
        outcome = arbitrate(
            self.memory,
            extraction,
            question_id=QuestionId(f"q{self.turn}"),
            turn=self.turn,
            similarity=self.similarity,
            threshold=self.threshold,
        )
        self.memory = outcome.memory
        return outcome

    @property
    def names(self) -> list[str]:
        return [identity.name for identity in self.memory.identities]

    @property
    def traits(self) -> list[str]:
        return [item.name for item in self.memory.characteristics]

    @property
    def quotes(self) -> list[str]:
        return [item.quote for item in self.memory.evidence]


def talk(*extractions: Extraction) -> Talk:
    conversation = Talk()
    for extraction in extractions:
        conversation.hear(extraction)
    return conversation
