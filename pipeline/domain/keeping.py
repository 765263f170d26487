"""The lists of the memory under their bounds: who leaves when there is no room."""

from collections.abc import Iterable, Mapping, Sequence

from pipeline.domain.merging import Heard
from pipeline.domain.similarity import Relation, covers, relation
from pipeline.domain.spelling import fold
from schemas.role import (
    MAX_CHARACTERISTICS,
    MAX_COMPANIONS,
    MAX_DENIALS,
    MAX_EVIDENCE,
    MAX_IDENTITIES,
    Characteristic,
    Evidence,
    Extraction,
    Identity,
)
from schemas.wire import QuestionId


def bound_identities(identities: Sequence[Identity]) -> list[Identity]:
    """Inferred leaves before stated, then the least supported, then the one longest not seen; never the first."""
    kept = list(identities)
    while len(kept) > MAX_IDENTITIES:
        kept.remove(min(kept[1:], key=lambda item: (item.origin == "stated", item.support, item.last_turn)))
    return kept


def merge_characteristics(
    old: Sequence[Characteristic], heard: Sequence[str], companions: Sequence[str], turn: int
) -> list[Characteristic]:
    """Repeated ones gain support; `companions` are the identities that were accepted with them."""
    merged = {fold(item.name): item for item in old}
    for name in heard:
        known = merged.get(fold(name))
        if known is None:
            merged[fold(name)] = Characteristic(
                name=name, support=1, last_turn=turn, brought_with=list(companions)[:MAX_COMPANIONS]
            )
            continue
        alone = not companions or not known.brought_with
        brought_with = [] if alone else list(dict.fromkeys([*known.brought_with, *companions]))[-MAX_COMPANIONS:]
        merged[fold(name)] = known.model_copy(
            update={"support": known.support + 1, "last_turn": turn, "brought_with": brought_with}
        )
    kept = list(merged.values())
    while len(kept) > MAX_CHARACTERISTICS:
        kept.remove(min(kept, key=lambda item: (item.support, item.last_turn)))
    return kept


def merge_denials(old: Iterable[str], heard: Heard) -> list[str]:
    """The latest last; a statement lifts what it contradicts; beyond ten the oldest leaves."""
    standing = [name for name in old if not any(covers(name, stated) for stated in heard.states)]
    new = [name for name in heard.denies if name]
    standing = [name for name in standing if not any(relation(name, denial) is Relation.SAME for denial in new)]
    return [*standing, *new][-MAX_DENIALS:]


def merge_evidence(
    old: Sequence[Evidence], extraction: Extraction, names: dict[str, str], question_id: QuestionId
) -> list[Evidence]:
    """Earlier quotes under the names of today, then this turn's; a quote said again counts once, for the later turn."""
    renamed = [item.model_copy(update={"supports": [names.get(name, name) for name in item.supports]}) for item in old]
    merged = {fold(item.quote): item for item in renamed}
    for quote in extraction.evidence:
        supports = [names[name] for name in quote.supports if name in names]
        if not supports:
            continue
        known = merged.pop(fold(quote.quote), None)
        supports = list(dict.fromkeys([*(known.supports if known else []), *supports]))
        merged[fold(quote.quote)] = Evidence(quote=quote.quote, question_id=question_id, supports=supports)
    return list(merged.values())


def bound_evidence(
    evidence: Sequence[Evidence], roles: Mapping[str, Identity], others: Iterable[str]
) -> list[Evidence]:
    """Quotes whose every support has left memory go; beyond twelve, those go first whose support has another quote.

    `roles` are the identities in memory by name, `others` the characteristics and denials that are in it.
    """
    alive = {*roles, *others}
    kept = []
    for item in evidence:
        supports = list(dict.fromkeys(name for name in item.supports if name in alive))
        if supports:
            kept.append(item.model_copy(update={"supports": supports}))
    stated = {name for name, identity in roles.items() if identity.origin == "stated"}
    while len(kept) > MAX_EVIDENCE:
        leaving = [(_is_only_quote(item, kept, roles), bool(stated.intersection(item.supports))) for item in kept]
        kept.pop(leaving.index(min(leaving)))
    return kept


def _is_only_quote(item: Evidence, evidence: Sequence[Evidence], roles: Mapping[str, Identity]) -> bool:
    """Whether an identity in memory would be left without a quote."""
    others = {name for other in evidence if other is not item for name in other.supports}
    return any(name in roles and name not in others for name in item.supports)
