"""Whose a subject is: what plain other people have or do says nothing of the user."""

import re
from functools import cache

from pipeline.adapters.rules.own_words import Span
from pipeline.adapters.rules.patterns import compiled, first
from pipeline.domain.guards import clauses, named_as_other
from pipeline.domain.lexicon import lexicon
from pipeline.domain.roles import role_of
from pipeline.domain.similarity import covers
from pipeline.domain.spelling import has_han
from pipeline.words import words


def without_others(sentence: Span, *, home: bool) -> Span:
    """The sentence with blanks for what is said of other people; `home`: those of the user's own home stay."""
    lists, text, others = words("topics")["others"], sentence.text, False
    for start, end in clauses(sentence.text):
        clause = sentence.text[start:end]
        opened = None if compiled(lists["goes_with"]).search(clause) else _person(home).search(clause)
        if opened and not _comes_back(clause[: opened.start()]):
            at, others = start + opened.end(), True
        elif others and compiled(lists["again"]).match(clause):
            at = start
        else:
            others = False
            continue
        back = compiled(lists["self"]).search(sentence.text, at, end)
        stop = back.start() if back else end
        text = text[:at] + " " * (stop - at) + text[stop:]
    return Span(text, sentence.start)


def _comes_back(before: str) -> bool:
    return compiled(words("topics")["others"]["self"]).search(before) is not None


@cache
def _person(home: bool) -> re.Pattern[str]:
    """Somebody who owns or does something, at the end of the match; `home`: nobody of the user's own home."""
    lists = words("topics")["others"]
    english, chinese = lists["people"]["en"], lists["people"]["zh"]
    if not home:
        english, chinese = f"{english}|{lists['home']['en']}", f"{chinese}|{lists['home']['zh']}"
    patterns = [pattern.format(en=english, zh=chinese) for pattern in lists["patterns"]]
    return re.compile("|".join([*patterns, *([] if home else lists["elsewhere"])]), re.IGNORECASE)


def told_of_another(sentence: str, name: str) -> bool:
    """Whether the sentence speaks of somebody else who is what `name` says: "my lawyer says", "a farmer near us"."""
    return any(_does_it(sentence[start:end], name) for start, end in clauses(sentence))


def _does_it(clause: str, name: str) -> bool:
    lists = words("topics")["others"]
    if first(lists["as_one"], clause):
        return False
    if has_han(name):
        return _han_doer(name).match(clause) is not None
    subject = compiled(lists["doer"]).match(clause)
    named = subject["words"].split() if subject else []
    return named_as_other(clause, name) or any(covers(word, name) for word in named)


@cache
def _han_doer(name: str) -> re.Pattern[str]:
    """Somebody who is called `name`, or by another name of the role, at the start of a clause."""
    called = {other for part in role_of(name).parts for other in lexicon().names.get(part.head, ()) if has_han(other)}
    either = "|".join(map(re.escape, sorted({name} | called, key=len, reverse=True)))
    return re.compile(words("topics")["others"]["han_doer"].format(names=either))
