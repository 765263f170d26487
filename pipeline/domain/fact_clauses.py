"""The clauses of a message that may say something of the user that lasts, each with the rest of its list."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.domain.spelling import has_han, simplified
from pipeline.domain.things import ends_list, is_turned, lists_on, narrows
from pipeline.domain.traits import patterns
from pipeline.words import words
from schemas.role import MAX_QUOTE

_LONGEST_CLAUSE = 200
#: How far back in its own message an "it" looks.
_SIGHT = 200
#: How far before 也 it is looked whether a clause goes on.
_UNSPLIT = 10
_ENDS = " .!?。！？\n"
#: A clause of no more characters than this may be nothing but "just this time".
_LONGEST_ADVERB = {"en": 24, "zh": 6}
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:\.(?!\s|$)[^.!?。！？\n]*)*(?:[!?。！？\n]+|\.(?=\s|$)|$)")


@dataclass(frozen=True)
class Clause:
    """A piece of a sentence, read with simplified characters, and where it stands in the message."""

    text: str
    start: int
    message: str
    """As it was written."""
    before: Sequence[str]
    """What was said before, oldest first: the messages, and the beginning of this one."""
    goes_on: bool
    """Another clause of its sentence, before it, speaks of the user."""
    sentence: str = ""
    more: str = ""
    """The clauses right after it, where they go on with its list: ", coffee and milk"."""
    is_being: bool = False
    """It may go on with what the clause before says the user to be: "I'm a nurse, left-handed"."""

    @property
    def language(self) -> str:
        return "zh" if has_han(self.text) else "en"

    def written(self, start: int, end: int) -> str:
        return self.message[self.start + start : self.start + end].strip()

    @property
    def rest(self) -> str:
        """What comes after it in its message."""
        return self.message[self.start + len(self.text) :]

    @property
    def quote(self) -> str:
        return " ".join(self.written(0, len(self.text + self.more)).split())[:MAX_QUOTE]


def sentences(text: str) -> Iterator[tuple[str, int]]:
    for match in _SENTENCE.finditer(text):
        if match.group().strip():
            yield match.group(), match.start()


def clauses(
    sentence: str, start: int, message: str, earlier: Sequence[str], says: Callable[[Clause], bool]
) -> Iterator[Clause]:
    """The clauses that may say something of the user that lasts, each with the rest of its list.

    One that `says` something itself goes on with no list.
    """
    pieces = _pieces(sentence)
    afters = _after_lists(sentence, pieces, says)
    question, at = sentence.rstrip().endswith(("?", "？")), 0
    mine = being = told = False
    while at < len(pieces):
        first, stop = pieces[at]
        after = afters[at]
        end = pieces[after - 1][1]
        text = sentence[first:stop].rstrip(_ENDS)
        more = sentence[stop:end].rstrip(_ENDS) if after > at + 1 else ""
        asks = finds("asked", _changing("unasked").sub("", text)) or (question and after == len(pieces))
        being = being and (told or finds("being_joined", text))
        told = False
        if text.strip() and len(text) <= _LONGEST_CLAUSE and not asks and not _is_passing(sentence, pieces, at, after):
            here = start + first
            before = [*earlier, message[max(here - _SIGHT, 0) : here]]
            clause = Clause(text, here, message, before, goes_on=mine, sentence=sentence, more=more, is_being=being)
            told = says(clause)
            yield clause
        mine = mine or _speaks(text)
        being = not more and (finds("being", text) or (being and finds("being_too", text)))
        at = after


def _pieces(sentence: str) -> list[tuple[int, int]]:
    """Where the clauses stand."""
    found, at = [], 0
    for end in _ends().finditer(sentence):
        if not end.group() and _changing("unsplit").search(sentence, max(end.start() - _UNSPLIT, 0), end.start()):
            continue
        found.append((at, end.start()))
        at = end.end()
    return [piece for piece in (*found, (at, len(sentence))) if sentence[slice(*piece)].strip()]


def _after_lists(sentence: str, pieces: Sequence[tuple[int, int]], says: Callable[[Clause], bool]) -> list[int]:
    """For each clause the first after those that go on with its list: ", coffee and milk"; a lone ", thanks" is none.

    Read from the end, so that each clause is looked at once however long its list is.
    """
    language = "zh" if has_han(sentence) else "en"
    afters: list[int] = []
    stop, closed, is_followed = len(pieces), False, False
    for at in reversed(range(len(pieces))):
        is_whole = stop == len(pieces) and stop - at > 2
        afters.append(stop if stop > at + 1 and (closed or is_whole or is_followed) else at + 1)
        start, end = pieces[at]
        text, between = sentence[start:end].rstrip(_ENDS), sentence[pieces[at - 1][1] : start].strip() if at else "."
        is_no = is_turned(text, language)
        if _goes_on(text, between, language, says, is_no=is_no):
            closed = closed or is_no or ends_list(text, language)
        else:
            stop, closed, is_followed = at, False, ends_list(sentence[start:end], language)
    return afters[::-1]


def _goes_on(text: str, between: str, language: str, says: Callable[[Clause], bool], *, is_no: bool) -> bool:
    """Whether a clause only goes on with the list of the one before it."""
    if between not in ("", ",", "，", "、") or not (between or is_no) or not lists_on(text, language):
        return False
    return not narrows(text, language) and not says(Clause(text, 0, text, (), goes_on=True, is_being=True))


def _is_passing(sentence: str, pieces: Sequence[tuple[int, int]], at: int, after: int) -> bool:
    """Whether it is said of this time alone, there or in a "just this once" beside it."""
    if finds("passing", sentence[pieces[at][0] : pieces[after - 1][1]]):
        return True
    beside = [*([pieces[0]] if at == 1 else []), *pieces[after : after + 1]]
    return any(is_moment(sentence[slice(*piece)]) for piece in beside)


def is_moment(clause: str) -> bool:
    """Whether a clause says no more than "just this once"."""
    text = plain_of(clause).strip()
    is_short = len(text) <= _LONGEST_ADVERB["zh" if has_han(text) else "en"]
    return is_short and finds("passing", text) and not finds("writer", text)


def is_wish_of_now(clause: str) -> bool:
    """Whether a clause asks for something once: "I'll have plain milk", 想吃辣的."""
    plain = plain_of(clause)
    return finds("wished", plain) and not finds("regular", plain) and not _changing("unwished").search(plain)


def _speaks(text: str) -> bool:
    lists = words("features")
    start = text[:_LONGEST_CLAUSE]
    if _kin().match(start):
        return False
    if _changing("topic").match(start.strip()):
        return True
    return any(re.match(lists[kind]["lead"] + lists[kind]["me"], start, re.IGNORECASE) for kind in ("en", "zh"))


@cache
def _kin() -> re.Pattern[str]:
    """One of the user's people at the beginning of a clause: 我老婆."""
    zh = words("people")["zh"]
    sorts, relations = "|".join(zh["sorts"]), "|".join(zh["relations"])
    return re.compile(rf"\W*[我俺咱]们?家?的?(?:{sorts})?(?:{relations})")


def plain_of(text: str) -> str:
    return simplified(text).replace("’", "'")


def finds(kind: str, text: str) -> bool:
    return _pattern(kind).search(text) is not None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(words("features")[kind], re.IGNORECASE)


@cache
def _ends() -> re.Pattern[str]:
    lists = words("features")
    is_so = rf"(?:{lists['en']['diets']}|{patterns('en')})\s*(?:[.,;!]|$|and\b)|(?:originally )?from (?-i:[A-Z][a-z])"
    ends = (lists["clause_end"], words("changing")["en"]["split"], rf"\s(?=and (?:{is_so}))")
    return re.compile("|".join(ends), re.IGNORECASE)


@cache
def _changing(kind: str) -> re.Pattern[str]:
    return re.compile(words("changing")[kind], re.IGNORECASE)
