"""What of a question the user says in their own name: without quotes, code, role play and planted instructions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.adapters.rules.patterns import compiled, first
from pipeline.domain.guards import clauses as places_of_clauses
from pipeline.domain.quoting import ground_of, inside
from pipeline.domain.spelling import simplified
from pipeline.words import words

# Every rule below stops at a line break; one for each letter leaves offsets as they were.
_GAP = "\n"
# The cost of a rule grows with the square of a sentence: these keep the longest question's small.
_HEAD, _TAIL, _LONGEST_SENTENCE = 4000, 2000, 200
# Each sentence costs some hundred patterns: more of them are a pasted list, of which the ends are read.
_FIRST, _LAST = 400, 100
_ADDRESS = re.compile(r"https?://\S+|(?<![^\s@])[^\s@]++@[^\s@]+\.\w+")
_SENTENCE = re.compile(r"[^.!?。！？；;\n…]+(?:\.(?=\w)[^.!?。！？；;\n…]+)*[.!?。！？；;…]*")
_CLAUSE = re.compile(r"(?:[^,，、:：()（）—\s]|(?<=[^\u4e00-\u9fff,，]) |\s(?=[^\u4e00-\u9fff]))+")


@dataclass(frozen=True)
class Span:
    """A part of the question; `start` is where it begins in the whole."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class OwnWords:
    """The sentences that speak of the user; none of them where the question holds a planted instruction."""

    sentences: tuple[Span, ...]
    planted: bool = False
    fiction: bool = False
    """The question works on a text about imagined people."""
    others: bool = False
    """Some sentence is about somebody else."""
    on_a_trade: bool = False
    """Some sentence asks about an occupation, as anybody may."""
    imagined: bool = False
    invented: tuple[Span, ...] = ()
    """The sentences about somebody imagined."""
    code: tuple[Span, ...] = ()
    """Code and logs: they state nothing, but their words hint at a subject."""


def own_words(question: str, others_before: bool = False) -> OwnWords:
    """Read a question; `others_before`: the one before it was about somebody else."""
    scenes = words("scenes")
    text = _ends(simplified(question).replace("’", "'"))
    ground = ground_of(_ends(question))
    addresses = (match.span() for match in _ADDRESS.finditer(text))
    plain = _without(text, (*ground.quoted, *ground.code, *addresses))
    if first(scenes["planted"], plain):
        return OwnWords((), planted=True)
    plain = _without(plain, ground.planted)
    kept: list[Span] = []
    invented: list[Span] = []
    about = {"others": False, "on_a_trade": False, "imagined": False}
    for sentence in _sentences(plain):
        kind = _not_own(sentence.text, about["others"] or others_before)
        if kind:
            about[kind] = True
        if kind == "imagined":
            invented.append(sentence)
            kept.extend(_in_real_life(sentence))
        elif kind == "others":
            kept.extend(_of_the_user(sentence))
        else:
            kept.append(sentence)
    code = tuple(Span(text[start:end], start) for start, end in ground.code if not inside((start, end), ground.planted))
    return OwnWords(
        tuple(kept),
        code=code,
        fiction=first((*scenes["fiction"], *scenes["fiction_or_work"]), text) is not None,
        invented=tuple(invented),
        **about,
    )


def _ends(text: str) -> str:
    """The start and the end of a long text; what is between them is pasted, and becomes a gap."""
    middle = len(text) - _HEAD - _TAIL
    return text if middle <= 0 else text[:_HEAD] + _GAP * middle + text[-_TAIL:]


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + _GAP * (end - start) + text[end:]
    return text


def _not_own(sentence: str, others_before: bool) -> str:
    scenes = words("scenes")
    sentence = compiled(scenes["in_earnest"]).sub(" ", sentence)
    if first(scenes["imagined"], sentence) or first(scenes["sarcasm"], sentence):
        return "imagined"
    if first(scenes["others"], sentence) or (others_before and compiled(scenes["others_again"]).search(sentence)):
        return "others"
    return "on_a_trade" if first(scenes["trade_question"], sentence) else ""


def _in_real_life(sentence: Span) -> Iterator[Span]:
    """The clauses of a sentence about a game or a part that say who the user is outside it."""
    real_life = compiled(words("scenes")["real_life"])
    for start, end in places_of_clauses(sentence.text):
        if real_life.search(sentence.text[start:end]):
            yield Span(sentence.text[start:end], sentence.start + start)


def _of_the_user(sentence: Span) -> Iterator[Span]:
    """The clauses of a sentence about somebody else in which the user speaks of themselves, and not what others say."""
    scenes, reported = words("scenes"), False
    for start, end in places_of_clauses(sentence.text):
        clause = sentence.text[start:end]
        if compiled(scenes["reports"]).search(clause):
            reported = True
        elif compiled(scenes["contrast"]).match(clause):
            reported = False
        if not reported and compiled(scenes["self"]).match(clause) and not first(scenes["others"], clause):
            yield Span(clause, sentence.start + start)


def _sentences(text: str) -> list[Span]:
    """Sentences, cut where they run on; the first and the last ones where there are very many."""
    found = [
        Span(match.group()[at : at + _LONGEST_SENTENCE], match.start() + at)
        for match in _SENTENCE.finditer(text)
        if match.group().strip()
        for at in range(0, len(match.group()), _LONGEST_SENTENCE)
    ]
    return found if len(found) <= _FIRST + _LAST else [*found[:_FIRST], *found[-_LAST:]]


def clauses(sentence: Span) -> list[Span]:
    """Between commas; a blank beside Chinese characters is a comma as well."""
    return [Span(match.group(), sentence.start + match.start()) for match in _CLAUSE.finditer(sentence.text)]
