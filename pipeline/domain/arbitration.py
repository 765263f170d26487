"""The decision of a turn: what was just heard against what is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.domain.confidence import earned, lowered, raised, started
from pipeline.domain.keeping import (
    bound_evidence,
    bound_identities,
    merge_characteristics,
    merge_denials,
    merge_evidence,
)
from pipeline.domain.merging import Heard, Merged, hear, merge_identities
from pipeline.domain.overview import overview_of
from pipeline.domain.preferences import Preferred, for_this_turn, prefer
from pipeline.domain.rulings import REASONS, Ruling, accepts, decision_of, ruling_of
from pipeline.domain.similarity import Measure, covers
from pipeline.domain.spelling import fold
from pipeline.ports import Similarity
from schemas.role import (
    WINDOW,
    Characteristic,
    CommunicationPreferences,
    Decision,
    Extraction,
    Identity,
    RoleMemory,
    Signal,
)
from schemas.wire import QuestionId


@dataclass(frozen=True)
class Outcome:
    """One turn's decision and the memory after it."""

    decision: Decision
    identity_decision: Decision
    """What happened to the identity, apart from the preferences."""
    similarity: float | None
    """How alike the extraction and the memory were; None where there was nothing to compare."""
    reason: str
    memory: RoleMemory
    """Equal to an empty `RoleMemory` while nothing is known."""
    turn_preferences: CommunicationPreferences
    """What was asked for this turn alone."""


def arbitrate(
    memory: RoleMemory | None,
    extraction: Extraction,
    *,
    question_id: QuestionId,
    turn: int,
    similarity: Similarity,
    threshold: float,
) -> Outcome:
    """Compare an extraction with the memory, the identity and the preferences apart.

    Two extractions agree from `threshold` on, 0 to 1, of `similarity`, which is calibrated to 0.8.
    """
    known, measure = memory or RoleMemory(), Measure(similarity, threshold)
    heard = hear(extraction, known.denied_identities)
    standing = _without_denied(known, heard.denies)
    ruling = ruling_of(standing, heard, measure)
    preferred = prefer(known, extraction, identity_accepted=accepts(ruling, heard))
    learnt = known
    if ruling not in ("nothing", "denied"):
        learnt = _Turn(known, standing, heard, ruling, turn, measure).learn(extraction, question_id)
    new = known == RoleMemory()
    identity_decision = decision_of(ruling, heard, new=new)
    return Outcome(
        decision=_decision(identity_decision, preferred, new=new),
        identity_decision=identity_decision,
        similarity=measure.closest(heard.identities, [identity.name for identity in known.identities]),
        reason=_reason(ruling, heard, preferred),
        memory=learnt.model_copy(update={"preferences": preferred.stored, "preference_origins": preferred.origins}),
        turn_preferences=for_this_turn(extraction),
    )


def failed(memory: RoleMemory | None, reason: str) -> Outcome:
    """The outcome of a turn whose model could not be used: what is known stands."""
    return Outcome("FAILED", "FAILED", None, reason, memory or RoleMemory(), CommunicationPreferences())


def _without_denied(memory: RoleMemory, denies: Sequence[str]) -> RoleMemory:
    """The memory without the identities that are denied, their more specific forms, and their votes."""
    if not denies:
        return memory

    def stands(name: str) -> bool:
        return not any(covers(denial, name) for denial in denies)

    votes = [(signal, [name for name in signal.identities if stands(name)]) for signal in memory.signals]
    return memory.model_copy(
        update={
            "identities": [identity for identity in memory.identities if stands(identity.name)],
            "signals": [signal.model_copy(update={"identities": names}) for signal, names in votes if names],
        }
    )


@dataclass(frozen=True)
class _Turn:
    """One turn that changes the memory."""

    known: RoleMemory
    standing: RoleMemory
    """What is known without what this question denies."""
    heard: Heard
    ruling: Ruling
    number: int
    measure: Measure

    def learn(self, extraction: Extraction, question_id: QuestionId) -> RoleMemory:
        """The memory after the turn, the preferences apart."""
        merged = self._identities()
        identities = bound_identities(merged.identities)
        roles = {identity.name: identity for identity in identities}
        characteristics = self._characteristics(merged, roles)
        denials = merge_denials(self.known.denied_identities, self.heard)
        others = [*(item.name for item in characteristics), *denials]
        names = merged.names | self._spellings(others)
        evidence = bound_evidence(merge_evidence(self.known.evidence, extraction, names, question_id), roles, others)
        return self.known.model_copy(
            update={
                "identities": identities,
                "characteristics": characteristics,
                "denied_identities": denials,
                "evidence": evidence,
                "signals": self._signals(),
                "confidence_score": self._confidence(identities),
                "user_overview": self._overview(identities, denials),
            }
        )

    def _identities(self) -> Merged:
        before = self.standing.identities
        if not accepts(self.ruling, self.heard):
            return Merged(list(before), {identity.name: identity.name for identity in before})
        if self.ruling not in ("moved", "both"):
            return merge_identities(before, self.standing.signals, self.heard, turn=self.number, measure=self.measure)
        behind = self._behind()
        new = merge_identities([], [], self.heard, turn=self.number, measure=self.measure)
        came = [self._with_votes(identity) for identity in new.identities]
        names = new.names | {identity.name: identity.name for identity in behind}
        return Merged([*came, *(identity.model_copy(update={"streak": 0}) for identity in behind)], names)

    def _behind(self) -> list[Identity]:
        """What stays behind a role that has moved: what was stated, and all of it where both have come back."""
        return [known for known in self.standing.identities if self.ruling == "both" or known.origin == "stated"]

    def _with_votes(self, identity: Identity) -> Identity:
        """A role that has moved in, with the support of the earlier turns of the window that suggested it."""
        window = self.standing.signals[-(WINDOW - 1) :]
        votes = sum(self.measure.agree(signal.identities, [identity.name]) for signal in window)
        return identity.model_copy(update={"support": identity.support + votes})

    def _characteristics(self, merged: Merged, roles: dict[str, Identity]) -> list[Characteristic]:
        stay = list(self.known.characteristics)
        if self.ruling == "differs":
            return stay
        if self.ruling == "moved":
            behind = {identity.name for identity in self._behind()}
            stay = [item for item in stay if not item.brought_with or behind.intersection(item.brought_with)]
        companions = [merged.names[name] for name in self.heard.identities if merged.names[name] in roles]
        stay = [
            item.model_copy(update={"brought_with": [merged.names.get(name, name) for name in item.brought_with]})
            for item in stay
        ]
        return merge_characteristics(stay, self.heard.characteristics, companions, self.number)

    def _spellings(self, kept: Iterable[str]) -> dict[str, str]:
        """The spelling in memory of each characteristic and denial, as it is kept and as it was heard."""
        spellings = {fold(name): name for name in kept}
        heard = [*self.heard.characteristics, *self.heard.denies] if self.ruling != "differs" else self.heard.denies
        return {name: name for name in spellings.values()} | {
            name: spellings[fold(name)] for name in heard if fold(name) in spellings
        }

    def _signals(self) -> list[Signal]:
        """The last five; an extraction that kept no identity does not vote."""
        before = self.standing.signals
        if not self.heard.identities:
            return list(before)
        signal = Signal(turn=self.number, identities=self.heard.identities, score=self.heard.score)
        return [*before, signal][-WINDOW:]

    def _confidence(self, identities: Sequence[Identity]) -> float:
        """The confidence of whoever comes first now."""
        if not identities:
            return 0.0
        first = identities[0]
        before = self.known.identities[0].name if self.known.identities else None
        if self.ruling in ("moved", "both"):
            return started(first.origin, self.heard.score)
        if before is None or not covers(before, first.name):
            return earned(first)
        score = self.known.confidence_score
        if self.ruling == "differs":
            return lowered(score, first.origin)
        if self.measure.agree(self.heard.identities, [first.name]):
            score = raised(score)
        if any(covers(name, first.name) or covers(first.name, name) for name in self.heard.states):
            score = max(score, started("stated", self.heard.score))
        return score

    def _overview(self, identities: Sequence[Identity], denials: Sequence[str]) -> str:
        accepted = accepts(self.ruling, self.heard)
        words = [self.heard.overview] if accepted else []
        if self.ruling != "moved":
            words.append(self.known.user_overview)
        rejected = self.heard.refused if accepted else [*self.heard.refused, *self.heard.identities]
        return overview_of(identities, words, denied=denials, rejected=rejected)


def _decision(identity: Decision, preferred: Preferred, *, new: bool) -> Decision:
    if new and (identity == "CREATE" or preferred.asked):
        return "CREATE"
    if identity == "UPDATE" or preferred.changed:
        return "UPDATE"
    return "NONE_CHANGE" if identity == "NONE_CHANGE" or preferred.repeated else "SKIPPED"


def _reason(ruling: Ruling, heard: Heard, preferred: Preferred) -> str:
    reasons = [REASONS[ruling]]
    if ruling != "denial" and heard.denies:
        reasons.append(REASONS["denial"])
    if preferred.changed:
        reasons.append("a preference changed")
    elif preferred.repeated:
        reasons.append("a preference was repeated")
    return "; ".join(reasons)
