"""Which roles the user's questions give to somebody else, to a quotation, to a game, or to another time."""

from collections.abc import Sequence

from pipeline.adapters.rules.patterns import compiled
from pipeline.adapters.rules.reading import read
from pipeline.domain.guards import clauses_in, not_of_the_user, speaks_of_self
from pipeline.domain.mentions import echoes, hints_at, mentions
from pipeline.domain.quoting import own_words
from pipeline.words import words

#: How many characters of a question, and of an earlier one, are searched for whose a role is.
_SEEN, _SEEN_BEFORE = 2_000, 200


def put_away(name: str, question: str, history: Sequence[str]) -> bool:
    """Whether a role is somebody else's by the words of the user, who never gives it to themselves.

    What the rules read or see a hint of in the question's own words is for the caller to except.
    """
    question = question[:_SEEN]
    if _played(name, question) or (mentions(question, name) and not hints_at(own_words(question), name)):
        return True
    earlier = [text[:_SEEN_BEFORE] for text in history if hints_at(text[:_SEEN_BEFORE], name)]
    if any(_of_the_user(name, text) for text in (*earlier, question)):
        return False
    if any(_given_away(name, text) for text in (*earlier, question)):
        return True
    return any(_not_own(name, text) for text in earlier) and not hints_at(own_words(question), name)


def _played(name: str, text: str) -> bool:
    """Whether the role comes after words of role play, in their sentence, and nowhere else."""
    own = read(text).own
    return any(mentions(_after_role_play(sentence.text), name) for sentence in own.invented) and not any(
        mentions(sentence.text, name) for sentence in own.sentences
    )


def _after_role_play(sentence: str) -> str:
    found = (compiled(pattern).search(sentence) for pattern in words("scenes")["imagined"])
    return sentence[min((match.end() for match in found if match), default=len(sentence)) :]


def _of_the_user(name: str, text: str) -> bool:
    """Whether the user gives the role to themselves there."""
    own = any(
        speaks_of_self(clause)
        and (hints_at(clause, name) or echoes(clause, name))
        and not not_of_the_user(clause, name)
        for clause in clauses_in(own_words(text))
    )
    return own and not read(text).own.planted and not _played(name, text)


def _given_away(name: str, text: str) -> bool:
    """Whether plain words there give the role to somebody else, to a game or to another time."""
    return _played(name, text) or any(not_of_the_user(clause, name) for clause in clauses_in(own_words(text)))


def _not_own(name: str, text: str) -> bool:
    """Whether the role stands there in words that are not the user's own, or is a trade that anybody may ask about."""
    own = read(text).own
    return own.planted or own.on_a_trade or not hints_at(own_words(text), name)
