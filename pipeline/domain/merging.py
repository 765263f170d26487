"""What was heard brought together with the identities that are known."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.domain.similarity import Measure, Relation, covers, more_specific, relation
from schemas.role import MAX_IDENTITIES, WINDOW, Extraction, Identity, Signal

#: After how many agreeing turns without the first identity another comes first.
TURNS_TO_LEAD = 3


@dataclass(frozen=True)
class Heard:
    """What of an extraction takes part in arbitration, once denied identities are out and it is cut to size."""

    identities: list[str]
    states: list[str]
    denies: list[str]
    characteristics: list[str]
    refused: list[str]
    """Identities taken out because the user denied them."""
    score: float
    overview: str


@dataclass(frozen=True)
class Merged:
    """Identities after a merge, and the name in memory of each that was heard or was there before."""

    identities: list[Identity]
    names: dict[str, str]


def hear(extraction: Extraction, denied: Sequence[str]) -> Heard:
    """Take the denied identities out, and cut what is left to five: stated ones stay before inferred ones."""
    states = extraction.states
    # A statement in the same breath is the last word: "I'm no student, I'm a PhD student".
    denies = [denial for denial in extraction.denies if not any(covers(denial, stated) for stated in states)]
    out = [*(old for old in denied if not any(covers(old, stated) for stated in states)), *denies]
    kept = [name for name in extraction.identities if name in states or not any(covers(denial, name) for denial in out)]
    kept = _one_each(kept, states)
    if len(kept) > MAX_IDENTITIES:
        chosen = [*(n for n in kept if n in states), *(n for n in kept if n not in states)][:MAX_IDENTITIES]
        kept = [name for name in kept if name in chosen]
    return Heard(
        identities=kept,
        states=[name for name in states if name in kept],
        denies=denies,
        characteristics=extraction.characteristics,
        refused=[
            name for name in extraction.identities if any(covers(denial, name) for denial in out) and name not in kept
        ],
        score=extraction.score,
        overview=extraction.overview,
    )


def _one_each(names: list[str], states: list[str]) -> list[str]:
    """One name for each concept, the stated one where there are two."""
    kept: list[str] = []
    for name in sorted(names, key=lambda name: name not in states):
        if not any(relation(name, other) is Relation.SAME for other in kept):
            kept.append(name)
    return [name for name in names if name in kept]


def merge_identities(
    old: Sequence[Identity], signals: Sequence[Signal], heard: Heard, *, turn: int, measure: Measure
) -> Merged:
    """Bring what was heard together with what is known: forms become the more specific one, others stand beside.

    `signals` are the earlier ones, in which a role may have been heard that found no room until now.
    """
    first_heard = bool(old) and _means_the_first(old, heard.identities, measure)
    merged = [
        _seen(identity, heard, turn, measure, behind=place > 0 and not first_heard)
        for place, identity in enumerate(old)
        if not any(relation(stated, identity.name) is Relation.RIVAL for stated in heard.states)
    ]
    names = {identity.name: identity.name for identity in merged}
    for name in heard.identities:
        streak = 0 if first_heard or not old else 1 + _streak(name, old[0].name, signals)
        names[name] = _take_in(merged, name, heard, turn, streak)
        names = {was: _renamed(merged, now) for was, now in names.items()}
    ahead = [names[stated] for stated in heard.states]
    merged.sort(key=lambda identity: ahead.index(identity.name) if identity.name in ahead else len(ahead))
    return Merged(_led(merged, [names[name] for name in heard.identities], stated=bool(ahead)), names)


def _means_the_first(old: Sequence[Identity], names: Sequence[str], measure: Measure) -> bool:
    """Whether one of `names` means the first identity rather than a later one, or a sibling that is not known yet."""
    for name in names:
        if relation(name, old[0].name) is Relation.SIBLING:
            continue
        scores = [measure.similarity(name, identity.name) for identity in old]
        if scores[0] >= measure.threshold and scores[0] == max(scores):
            return True
    return False


def _seen(identity: Identity, heard: Heard, turn: int, measure: Measure, *, behind: bool) -> Identity:
    """An identity after this turn; `behind` where the first, which it is not, was not heard of."""
    agrees = measure.agree(heard.identities, [identity.name]) or any(
        covers(name, identity.name) or covers(identity.name, name) for name in heard.identities
    )
    streak = identity.streak + agrees if behind else 0
    if not agrees:
        return identity.model_copy(update={"streak": streak})
    return identity.model_copy(update={"support": identity.support + 1, "last_turn": turn, "streak": streak})


def _streak(name: str, first: str, signals: Sequence[Signal]) -> int:
    """How many of the earlier signals named a role, and not the first one."""
    return sum(
        any(covers(name, said) or covers(said, name) for said in signal.identities)
        and not any(covers(first, said) or covers(said, first) for said in signal.identities)
        for signal in signals[-(WINDOW - 1) :]
    )


def _take_in(merged: list[Identity], name: str, heard: Heard, turn: int, streak: int) -> str:
    """Put one heard name into the list, and say under which name it is there."""
    origin = "stated" if name in heard.states else "inferred"
    same = [place for place, known in enumerate(merged) if covers(known.name, name) or covers(name, known.name)]
    if not same:
        merged.append(Identity(name=name, origin=origin, support=1, last_turn=turn, score=heard.score, streak=streak))
        return name
    place = same[0]
    known = merged[place]
    stated = "stated" if "stated" in (origin, known.origin) else "inferred"
    kept = more_specific(known.name, name)
    if origin == "stated" and relation(name, known.name) is Relation.SAME:
        kept = name  # of two words for one thing the user's own
    merged[place] = known.model_copy(update={"name": kept, "origin": stated})
    # What was general may have stood for two that the narrower name now joins.
    for other in reversed(same[1:]):
        if relation(merged[other].name, merged[place].name) in {Relation.SAME, Relation.GENERAL}:
            gone = merged.pop(other)
            joined = max(gone.support, merged[place].support)
            merged[place] = merged[place].model_copy(update={"support": joined})
    return merged[place].name


def _renamed(merged: Sequence[Identity], name: str) -> str:
    """The name under which an earlier name is in the list now."""
    if any(identity.name == name for identity in merged):
        return name
    return next((identity.name for identity in merged if covers(name, identity.name)), name)


def _led(identities: list[Identity], named: Sequence[str], *, stated: bool) -> list[Identity]:
    """After three agreeing turns without the first, another comes first; a statement settles it at once."""
    ready = [identity for identity in identities[1:] if identity.streak >= TURNS_TO_LEAD]
    if ready and not stated:
        leader = max(ready, key=lambda identity: (identity.name in named, identity.streak, identity.support))
        identities = [leader, *(identity for identity in identities if identity is not leader)]
    if stated or ready:
        return [identity.model_copy(update={"streak": 0}) for identity in identities]
    return identities
