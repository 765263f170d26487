"""What one question says by itself: who the user says they are, and what its subject hints at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.adapters.rules.own_words import OwnWords, own_words
from pipeline.adapters.rules.statements import Claim, claims
from pipeline.adapters.rules.topics import Hint, hints
from pipeline.domain.asks import Language, language_of
from pipeline.domain.gate import teaches_nothing
from pipeline.domain.spelling import simplified


@dataclass(frozen=True)
class Reading:
    """What one question says by itself."""

    text: str
    own: OwnWords
    language: Language
    claims: tuple[Claim, ...] = ()
    hints: tuple[Hint, ...] = ()
    small_talk: bool = False

    def named(self, kind: str) -> list[str]:
        return list(dict.fromkeys(as_written(self.text, claim) for claim in self.claims if claim.kind == kind))

    @property
    def plain(self) -> str:
        """The text with traditional characters as simplified ones, as the rules read it."""
        return simplified(self.text).replace("’", "'")

    @property
    def suggested(self) -> list[str]:
        """The identities that the question brings by itself."""
        return self.named("states") or [hint.name for hint in self.hints]


@lru_cache(maxsize=2048)
def read(question: str, others_before: bool = False) -> Reading:
    """Read one question by itself; `others_before`: the one before it was about somebody else."""
    own, language = own_words(question, others_before), language_of(question)
    if own.planted or teaches_nothing(question):
        return Reading(question, own, language, small_talk=not own.planted)
    found = tuple(claims(own))
    subject = () if own.on_a_trade and not found else tuple(hints(own, language))
    return Reading(question, own, language, found, subject)


def readings(question: str, history: Sequence[str]) -> tuple[Reading, list[Reading]]:
    """The question's reading and those before it, oldest first."""
    before: list[Reading] = []
    others = False
    for earlier in (*history, question):
        reading = read(earlier, others)
        others = reading.own.others or (others and reading.small_talk)
        before.append(reading)
    return before[-1], before[:-1]


def as_written(text: str, claim: Claim) -> str:
    """The name in the user's own characters, where the words hold it as it is."""
    at = simplified(text[claim.start : claim.end]).find(claim.name)
    return text[claim.start + at : claim.start + at + len(claim.name)] if at >= 0 else claim.name
