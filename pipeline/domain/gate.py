"""Which questions cannot teach anything about who asks, so that no model is asked about them."""

import re
import unicodedata
from functools import cache

from pipeline.domain.quoting import own_words
from pipeline.domain.spelling import fold, simplified
from pipeline.words import words

#: Chit-chat is short; a longer question is asked about, whatever it says.
_LONGEST = 200
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\u3000-\u9fff\uff00-\uffef]+", re.IGNORECASE)
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")
_NO_WORD = re.compile(r"[^\w\s]|_")
_LAUGHTER_OR_NUMBER = re.compile(r"(?:(?:ha|he|hi|hu|ja|je|xi|lo|哈|呵|嘿|嘻|嘎|呜){2,}[hl]?|\d+)(?![a-z\d])")
_HAN_NUMBER = "[零〇一二三四五六七八九十百千万两]+"
#: From this character on scripts write words without blanks between them.
_CJK = "\u2e80"


def teaches_nothing(question: str) -> bool:
    """Whether the question is greetings, thanks, assent, laughter, "go on", sums, signs and bare addresses alone.

    A single word beyond the listed ones is a reason to ask: a call too many costs less than a role that is missed.
    """
    if len(question) > _LONGEST:
        return False
    plain = simplified(unicodedata.normalize("NFKC", _ADDRESS.sub(" ", question))).casefold()
    rest, sums = _sum().subn(" ", plain)
    return _is_chit_chat(_words_of(rest), beside_a_sum=sums > 0)


def says_nothing_lasting(question: str) -> bool:
    """Whether nothing in the question speaks of its writer, so that it can hold no fact about them that lasts.

    Most questions that anybody may ask are told so; a call too many costs less than a fact that is missed.
    """
    own = simplified(own_words(question)).replace("’", "'")
    if teaches_nothing(question):
        return not _signs("tastes").search(own)
    return not (_signs("writer").search(own) or _signs("corrections").search(own))


@cache
def _signs(kind: str) -> re.Pattern[str]:
    """Where a text speaks of its writer, says a taste, as "I like it" does that is chit-chat else, or corrects."""
    return re.compile("|".join(words("observing")["signs"][kind]), re.IGNORECASE)


def _is_chit_chat(text: str, *, beside_a_sum: bool) -> bool:
    """Listed words one after another, the longest first; an addressee only after a greeting.

    "No", "is" and their like may say of the user what an addressee names: beside them it is none.
    """
    at, greeted = 0, False
    claims = _claims().search(text) is not None
    while at < len(text):
        if end := _listed("greetings", text, at):
            greeted = True
        elif greeted and not claims and (end := _listed("addressees", text, at)):
            pass
        elif (end := _listed("plain", text, at)) or (beside_a_sum and (end := _listed("sums", text, at))):
            greeted = False
        elif match := _LAUGHTER_OR_NUMBER.match(text, at):
            end = match.end()
        else:
            return False
        at = _next(text, end)
    return True


def _listed(table: str, text: str, at: int) -> int:
    """Where the longest entry of a list that stands at a place ends; 0 where none does."""
    listed, longest = _entries(table)
    for end in range(min(at + longest, len(text)), at, -1):
        if text[at:end] in listed and not (_is_latin(text[end - 1]) and _is_latin(text[end : end + 1])):
            return end
    return 0


def _is_latin(char: str) -> bool:
    return char.isalnum() and char < _CJK


def _next(text: str, end: int) -> int:
    return end + 1 if text[end : end + 1] == " " else end


def _words_of(text: str) -> str:
    """The words of a text without signs and apostrophes, one space between them."""
    bare = _NO_WORD.sub(" ", fold(text).replace("'", ""))
    return " ".join(_DRAWN_OUT.sub(r"\1", bare).split())


@cache
def _entries(table: str, column: str = "words") -> tuple[frozenset[str], int]:
    """The entries of a list, and the length of the longest."""
    entries = frozenset(map(_words_of, words("chitchat")[table][column].split(",")))
    return entries, max(map(len, entries))


@cache
def _claims() -> re.Pattern[str]:
    return re.compile(words("chitchat")["claims"]["signs"])


@cache
def _sum() -> re.Pattern[str]:
    """Numbers with a sign or a word of arithmetic between them."""
    number = rf"(?:\d[\d.,]*%?|{_any_of('numbers')}|{_HAN_NUMBER})"
    operator = rf"(?:[-+*/×÷^]|(?<=\s)x(?=\s)|{_any_of('operators')})"
    return re.compile(rf"(?<![\w.])[(\s]*{number}(?:[()\s]*{operator}[()\s]*{number})++[)\s]*=?(?![a-z\d])")


def _any_of(column: str) -> str:
    entries, _ = _entries("sums", column)
    return "|".join(
        entry if entry[-1] >= _CJK else rf"{entry}(?![a-z])" for entry in sorted(entries, key=len, reverse=True)
    )
