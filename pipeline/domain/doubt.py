"""The one pair of a turn in whose likeness another opinion is worth asking for, and what its yes does."""

from pipeline.domain.merging import hear
from pipeline.domain.similarity import SIBLING, Measure, settled
from pipeline.ports import Similarity
from schemas.role import Extraction, RoleMemory

#: What two descriptions score that are said to mean the same role: they agree, and neither is known to be a form.
SAID_SAME = SIBLING


def doubtful_pair(memory: RoleMemory, extraction: Extraction, measure: Measure) -> tuple[str, str] | None:
    """An identity heard and one known, the most alike of those that the word lists cannot tell.

    None where a yes would change nothing: the two sides agree already, the user speaks of it outright, one side
    names nobody, or the threshold asks for more than a yes can say.
    """
    heard, known = hear(extraction, memory.denied_identities), [identity.name for identity in memory.identities]
    if heard.states or heard.denies or measure.threshold > SAID_SAME or measure.agree(heard.identities, known):
        return None
    pairs = [(name, other) for name in heard.identities for other in known if not settled(name, other)]
    return max(pairs, key=lambda pair: measure.similarity(*pair), default=None)


def said_same(similarity: Similarity, one: str, other: str) -> Similarity:
    """The similarity, but for a pair that is said to mean the same role."""
    pair = {one, other}

    def similarity_or_said(name: str, another: str, /) -> float:
        return max(SAID_SAME, similarity(name, another)) if {name, another} == pair else similarity(name, another)

    return similarity_or_said
