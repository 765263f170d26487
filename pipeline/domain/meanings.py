"""What a fact says, word by word: each by its meaning, with its polarity, what it counts and where it is so."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from pipeline.domain.slots import folded
from pipeline.domain.spelling import HAN, has_han
from pipeline.words import words

_NOT, _LIGHT = "!", ""
_SINGLE = ("a", "an", "another")
_PART = re.compile(rf"[{HAN}]+|[^{HAN}]+")
#: The most words, or Chinese characters, of a listed phrase.
_LONGEST = 6
#: A letter that names something, such as that of a vitamin.
_LETTER = re.compile(r"(?<=[\w,] )[A-HJ-Z]\b")


@dataclass(frozen=True)
class Reading:
    """What a text says, word by word in its order, each by its meaning."""

    order: tuple[str, ...] = ()
    denied: frozenset[str] = frozenset()
    """Those that stand in a clause with a "not"."""
    numbers: frozenset[tuple[str, str]] = frozenset()
    """Each with the word that it counts."""
    pairs: frozenset[tuple[str, str]] = frozenset()
    """Words that stand side by side."""
    one: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    """Of words in which one and several are told apart: those of one, and those of several."""
    where: frozenset[str] = frozenset()
    """Those that tell of a place, at the end."""
    points: bool = False
    """Something is meant that was said before."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.order)

    @property
    def weight(self) -> int:
        return weight_of(self.words) + bool(self.denied) + len(self.numbers)


def weight_of(said: Iterable[str]) -> int:
    return sum(len(word.split()) for word in said)


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    """The words of a text by their meaning; empty where it says nothing."""
    numbers = {(letter, "") for letter in _LETTER.findall(text)}
    parts = [_clause(clause) for clause in _clauses(text)]
    order = dict.fromkeys(word for part in parts for word in part.order)
    return Reading(
        order=tuple(order),
        denied=frozenset().union(*(part.denied for part in parts)),
        numbers=frozenset().union(numbers, *(part.numbers for part in parts)),
        pairs=frozenset().union(*(part.pairs for part in parts)),
        one=frozenset().union(*(part.one for part in parts)),
        many=frozenset().union(*(part.many for part in parts)),
        where=parts[-1].where if parts else frozenset(),
        points=any(part.points for part in parts),
    )


def _clauses(text: str) -> Iterator[str]:
    lists = words("restating")
    plain = re.sub(lists["excluded"], " | not ", folded(text))
    for form in lists["forms_of"]:
        plain = re.sub(form["pattern"], form["reads"], plain)
    return (clause for clause in re.split(lists["clause"], plain) if clause.strip())


def _clause(clause: str) -> Reading:
    order: list[str] = []
    numbers, pairs = set[tuple[str, str]](), set[tuple[str, str]]()
    one, many, nots = set[str](), set[str](), set[str]()
    last = counted = before = ""
    for raw, word in _tokens(clause):
        if word == _NOT:
            nots.add(raw)
        if word in (_NOT, _LIGHT):
            last, before = "", raw
            continue
        if any(char.isdigit() for char in word):
            numbers.add((word, ""))
            last, counted = "", word
            continue
        if counted:
            numbers = numbers - {(counted, "")} | {(counted, word)}
        if last:
            pairs.add((last, word))
        if before in _SINGLE:
            one = one - {last} | {word}
        if raw.endswith("s") and raw != _lemma(raw):
            many.add(word)
        order.append(word)
        last, counted = word, ""
    return Reading(
        order=tuple(order),
        denied=frozenset(order) if len(nots) % 2 else frozenset(),
        numbers=frozenset(numbers),
        pairs=frozenset(pairs),
        one=frozenset(one),
        many=frozenset(many),
        where=_where(clause),
        points=_pronouns().search(clause) is not None,
    )


@lru_cache(maxsize=8192)
def _where(clause: str) -> frozenset[str]:
    """The words that tell of a place, at the end of a clause."""
    lists = words("restating")
    begins = list(re.finditer(lists["where"], clause))
    if not begins or re.search(lists["where_ends"], clause[begins[-1].end() :]):
        return frozenset()
    return frozenset(word for _, word in _tokens(clause[begins[-1].end() :]) if word not in (_NOT, _LIGHT))


def _tokens(clause: str) -> Iterator[tuple[str, str]]:
    """Each word as it stands there, and by its meaning."""
    for part in _PART.findall(_counted(clause)):
        if has_han(part):
            yield from _named(list(part), list(part), "")
        else:
            raws = part.split()
            yield from _named(raws, [_lemma(raw) for raw in raws], " ")


def _named(raws: Sequence[str], forms: Sequence[str], glue: str) -> Iterator[tuple[str, str]]:
    """The longest listed phrases first; Chinese characters between two of them are one word."""
    meanings, at, unlisted = _meanings(), 0, ""
    while at < len(forms):
        sizes = range(min(_LONGEST, len(forms) - at), 0, -1)
        size = next((size for size in sizes if glue.join(forms[at : at + size]) in meanings), 0)
        if unlisted and size:
            yield unlisted, unlisted
            unlisted = ""
        if size:
            raw = glue.join(raws[at : at + size])
            yield from ((raw, word) for word in meanings[glue.join(forms[at : at + size])])
        elif glue:
            yield raws[at], forms[at]
        else:
            unlisted += forms[at]
        at += size or 1
    if unlisted:
        yield unlisted, unlisted


def _counted(clause: str) -> str:
    """With Chinese numbers before what they count as digits, without the word for its kind."""
    lists = words("restating")
    han, counters = lists["han_numbers"], lists["counters"]
    clause = re.sub(rf"(?!一个人)([{han}两])(?=[{counters}])", lambda found: f" {_digit(found[1])} ", clause)
    return re.sub(rf"(\d+)\s*[{counters}]", r"\1 ", clause)


def _digit(number: str) -> str:
    return "2" if number == "两" else str(words("restating")["han_numbers"].index(number) + 1)


@lru_cache(maxsize=8192)
def _lemma(word: str) -> str:
    """One form of a word: the singular, the base of "-ing"; a past stays one."""
    word = word.strip("'\".:").removesuffix("'s").removesuffix("'") or word
    if word in _forms():
        return _forms()[word]
    if not (word.isascii() and word.isalpha()) or len(word) <= 3:
        return word
    if word.endswith("ing") and re.search(r"[aeiouy]", word[:-3]) and len(word) > 5:
        return _base(word[:-3])
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "news")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes")) else word[:-1]


def _base(stem: str) -> str:
    if re.search(r"([bdgmnprt])\1$", stem):
        return stem[:-1]
    return stem + "e" if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]|.*[cvuz]", stem) else stem


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", " ").split(",") if part.strip()]


def _plain(text: str) -> str:
    return " ".join(_lemma(word) for word in folded(text).split())


@cache
def _meanings() -> Mapping[str, tuple[str, ...]]:
    """What each listed word or phrase stands for."""
    lists = words("restating")
    found: dict[str, tuple[str, ...]] = {_plain(word): (_LIGHT,) for word in _listed(lists["light"])}
    for line in lists["same"]:
        names = [_plain(name) for name in _listed(line)]
        found |= dict.fromkeys(names, (names[0],))
    for word in _listed(lists["denying"]):
        name, _, of = word.partition("=")
        found[_plain(name)] = (_NOT, of) if of else (_NOT,)
    found |= {word: (str(at),) for at, word in enumerate(_listed(lists["numbers"]), 1)}
    return found | {word: (number,) for word, number in lists["times"].items()}


@cache
def _forms() -> Mapping[str, str]:
    pairs = (pair.split("=") for pair in _listed(words("restating")["forms"]))
    return dict(pairs)


@cache
def people() -> frozenset[str]:
    return _set("people")


@cache
def labels() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(_listed(words('restating')['labels']))})+")


@cache
def attitudes() -> frozenset[str]:
    """What people do about a thing, such as liking it, and what sort of thing it is to them."""
    return _set("attitudes")


@cache
def ordered() -> frozenset[str]:
    return _set("ordered")


def _set(name: str) -> frozenset[str]:
    """The meanings of a list's words."""
    listed = map(_plain, _listed(words("restating")[name]))
    return frozenset(meaning for word in listed for meaning in _meanings().get(word, (word,)) if meaning)


@cache
def _pronouns() -> re.Pattern[str]:
    listed = _listed(words("restating")["pronouns"])
    return re.compile("|".join(one if re.match(f"[{HAN}]", one) else rf"\b{one}\b" for one in listed))
