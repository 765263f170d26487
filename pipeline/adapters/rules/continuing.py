"""What is known from the questions before, and which of it a new question goes on with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.adapters.rules.own_words import clauses
from pipeline.adapters.rules.patterns import compiled, first
from pipeline.adapters.rules.reading import Reading
from pipeline.adapters.rules.topics import is_neutral
from pipeline.domain.similarity import lexical
from pipeline.words import words
from schemas.role import WINDOW

#: From here on two identities agree.
_AGREE = 0.8
_MIN_LETTERS = 4
#: Shorter words around a wish belong to it ("please", 一下).
_MIN_AROUND_WISH = 9
_MAX_QUOTE = 80


@dataclass
class Known:
    """An identity from the questions before; `subjects` are the topics that came with it."""

    name: str
    stated: bool
    sure: bool
    """Said outright, suggested twice, or suggested in the words of somebody at work: only then it goes on by itself."""
    own: bool
    """Stated, or suggested by more than neutral questions, which anybody may ask."""
    subjects: set[str] = field(default_factory=set)


def agree(one: str, other: str) -> bool:
    return lexical(one, other) >= _AGREE


def among(name: str, others: Iterable[str]) -> bool:
    """Whether the name agrees with any of the others."""
    return any(agree(name, other) for other in others)


def leader(before: Sequence[Reading]) -> Known | None:
    """The identity that holds after the questions before: a stated one, or one that two of the last five suggest."""
    lead: Known | None = None
    signals: list[str] = []
    for earlier in before:
        if lead and any(agree(lead.name, name) for name in earlier.named("denies")):
            lead = None
        for name in earlier.suggested[:1]:
            if lead and agree(lead.name, name):
                lead.subjects |= _subjects(earlier)
                lead.name = name if earlier.named("states") else lead.name
                lead.stated |= bool(earlier.named("states"))
                lead.own |= _own(earlier)
                lead.sure |= any(hint.sure for hint in earlier.hints) or lead.stated
            elif earlier.named("states") or not lead or any(agree(name, old) for old in signals[1 - WINDOW :]):
                lead = _known(name, earlier)
            signals.append(name)
    return lead


def last_known(before: Sequence[Reading]) -> Known | None:
    """The identity that the last question with one suggests."""
    for earlier in reversed(before):
        if earlier.suggested:
            return _known(earlier.suggested[0], earlier)
    return None


def _known(name: str, reading: Reading) -> Known:
    return Known(name, bool(reading.named("states")), _sure(reading), _own(reading), _subjects(reading))


def _own(reading: Reading) -> bool:
    return bool(reading.named("states")) or any(hint.own for hint in reading.hints)


def _sure(reading: Reading) -> bool:
    writes = set(words("topics")["fiction"])
    return bool(reading.named("states")) or any(
        hint.sure and (hint.at_work or hint.role in writes) for hint in reading.hints
    )


def _subjects(reading: Reading) -> set[str]:
    return {hint.role for hint in reading.hints}


def goes_on(reading: Reading, known: Known) -> str:
    """The words that go on with the subject before; empty where the question does not.

    Small talk, planted words, other people and questions about a trade go on with nothing; role play does with a
    writer's work alone. Neutral questions go on with what was stated, and neither suggest a role nor bear one out.
    """
    own = reading.own
    if not known.own or (not known.stated and is_neutral(own)):
        return ""
    if reading.small_talk or own.planted or own.on_a_trade or own.others:
        return ""
    if own.imagined and not (own.fiction or known.subjects & set(words("topics")["fiction"])):
        return ""
    return _longest_clause(reading)


def links_back(question: str) -> bool:
    """The question opens with a word that ties it to the one before."""
    return compiled(words("statements")["links"]["opening"]).match(question) is not None


def _longest_clause(reading: Reading) -> str:
    """The words that say most; a wish for another kind of answer says nothing of the subject."""
    found = [
        part.strip(" .!?。！？…~～")
        for sentence in (*reading.own.sentences, *reading.own.invented)
        for clause in clauses(sentence)
        for part in _without_wishes(clause.text)
    ]
    plain = reading.plain
    found = [reading.text[at : at + len(text)] for text in found if (at := plain.find(text)) >= 0]
    found = [text for text in found if sum(letter.isalpha() for letter in text) >= _MIN_LETTERS]
    best = max(found, key=len, default="")
    return best if len(best) <= _MAX_QUOTE else best[:_MAX_QUOTE].rsplit(" ", 1)[0]


def only_a_wish(text: str) -> bool:
    """Whether the words ask for another kind of answer, and say next to nothing else."""
    asks = words("asks")
    kinds = [*asks["detailLevel"].values(), *asks["contentDepth"].values(), *asks["responseFormat"].values()]
    if not any(first(patterns, text) for patterns in kinds):
        return False
    for pattern in (pattern for patterns in (*kinds, asks["turn"], asks["stable"]) for pattern in patterns):
        text = compiled(pattern).sub(" ", text)
    return sum(letter.isalpha() for letter in text) < _MIN_AROUND_WISH


def _without_wishes(clause: str) -> list[str]:
    """What of a clause stands before and after the words that ask for another kind of answer."""
    asks = words("asks")
    kinds = [*asks["detailLevel"].values(), *asks["contentDepth"].values(), *asks["responseFormat"].values()]
    match = next((match for patterns in (*kinds, asks["turn"]) if (match := first(patterns, clause))), None)
    if not match:
        return [clause]
    rest = (clause[: match.start()], clause[match.end() :])
    return [part for part in rest if sum(letter.isalpha() for letter in part) >= _MIN_AROUND_WISH]
