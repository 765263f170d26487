"""What the identity part of a turn comes to: the rules of arbitration in their order."""

from collections.abc import Sequence
from typing import Literal

from pipeline.domain.confidence import level
from pipeline.domain.merging import Heard
from pipeline.domain.similarity import Measure
from schemas.role import WINDOW, Decision, RoleMemory, Signal

#: From this score on, an extraction moves a role that is inferred and LOW at once.
MOVES_LOW = 0.5

Ruling = Literal["nothing", "denied", "trait", "denial", "stated", "merged", "moved", "both", "differs"]

REASONS: dict[Ruling, str] = {
    "nothing": "the question says nothing about who the user is",
    "denied": "the question only suggests what the user has denied",
    "trait": "a characteristic was learnt, and no identity",
    "denial": "the user said outright who they are not",
    "stated": "the user said outright who they are",
    "merged": "the question agrees with what is known, or is the first to suggest an identity",
    "moved": "an earlier question had suggested this other role already, or the known one was weak: the role has moved",
    "both": "both roles have gone and come back: both are kept",
    "differs": "the question suggests another role, and no other lately did: it stays a candidate",
}
_UNCHANGED: dict[Ruling, Decision] = {"nothing": "SKIPPED", "denied": "NONE_CHANGE", "differs": "NONE_CHANGE"}


def ruling_of(memory: RoleMemory, heard: Heard, measure: Measure) -> Ruling:
    """`memory` is what is known without what this question denies."""
    if heard.states:
        return "stated"
    if heard.identities:
        return _inferred(memory, heard, measure)
    if heard.denies:
        return "denial"
    if heard.characteristics:
        return "trait"
    return "denied" if heard.refused else "nothing"


def accepts(ruling: Ruling, heard: Heard) -> bool:
    """Whether an identity of the extraction was taken into the memory."""
    return bool(heard.identities) and ruling != "differs"


def decision_of(ruling: Ruling, heard: Heard, *, new: bool) -> Decision:
    """What happened to the identity; `new` where nothing at all was known."""
    if ruling == "differs" and heard.denies:
        return "UPDATE"
    return _UNCHANGED.get(ruling) or ("CREATE" if new else "UPDATE")


def _inferred(memory: RoleMemory, heard: Heard, measure: Measure) -> Ruling:
    known = [identity.name for identity in memory.identities]
    if not known or measure.agree(heard.identities, known):
        return "merged"
    window = memory.signals[-(WINDOW - 1) :]
    # A signal that also agreed with today's role is no sign that the role has moved away from it.
    if any(_side(signal, heard, known, measure) == "new" for signal in window):
        return "both" if _both_came_back([_side(signal, heard, known, measure) for signal in window]) else "moved"
    inferred = memory.identities[0].origin == "inferred"
    if inferred and level(memory.confidence_score) == "LOW" and heard.score >= MOVES_LOW:
        return "moved"
    return "differs"


def _side(signal: Signal, heard: Heard, known: Sequence[str], measure: Measure) -> Literal["new", "known"] | None:
    """Which of the two roles an earlier signal speaks for; None for neither, or both."""
    for_new, for_known = measure.agree(signal.identities, heard.identities), measure.agree(signal.identities, known)
    if for_new == for_known:
        return None
    return "new" if for_new else "known"


def _both_came_back(sides: Sequence[str | None]) -> bool:
    """Whether the window, which ends with the new role, reads known, new, known, new, whatever lies between."""
    wanted = ["known", "new", "known"]
    for side in sides:
        if wanted and side == wanted[0]:
            wanted.pop(0)
    return not wanted
