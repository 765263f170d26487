"""What a question's subject suggests about who asks it: low-confidence hints, from lists of words."""

import re
from dataclasses import dataclass
from functools import cache

from pipeline.adapters.rules.own_words import OwnWords, Span, clauses
from pipeline.adapters.rules.patterns import compiled, first, listed
from pipeline.adapters.rules.whose import told_of_another, without_others
from pipeline.domain.asks import Language
from pipeline.words import words

_TOKEN = re.compile(r"[^\W_\u3400-\u9fff]+(?:['+#.-][^\W_\u3400-\u9fff]+)*[+#]*")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_ENDINGS = (("'s", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"))
_LONGEST_HAN, _LONGEST_PHRASE = 6, 4
_SURE, _MAYBE, _SIGN = 2.0, 1.0, 1.0
#: The score of a hint that just suffices, and of the plainest one: no subject alone makes a role certain.
_VAGUE, _LOWEST, _HIGHEST = 0.2, 0.3, 0.6


@dataclass(frozen=True)
class Hint:
    """A role that the subject suggests; `score` is 0 to 1 and `quote` the words that suggest it."""

    role: str
    name: str
    score: float
    quote: Span
    sure: bool
    """Some word of it is one that few others use."""
    at_work: bool
    """The words around it are those of somebody in the middle of it."""
    own: bool
    """They ask no neutral question, which anybody may ask of the world."""

    @property
    def everyday(self) -> bool:
        """Nearly everybody has one or is one at times: however plain the words, the role is never sure."""
        return self.role in words("topics")["everyday"]


@dataclass
class _Found:
    weight: float
    spans: list[Span]
    terms: set[str]
    sure: bool = False


def hints(own: OwnWords, language: Language) -> list[Hint]:
    """The best role, and others that are nearly as likely, best first."""
    text = " ".join(sentence.text for sentence in own.sentences)
    signs = words("topics")["signs"]
    if len(compiled(signs["foreign"]).findall(text)) > len(compiled(signs["english"]).findall(text)):
        return []
    neutral = is_neutral(own)
    found = _weigh(own, neutral)
    texts = {home: " ".join(sentence.text for sentence in _of_the_user(own, home)) for home in (True, False)}
    for role in words("topics")["scenes"] if own.sentences else ():
        if match := first(words("topics")["scenes"][role], texts[_is_at_home(role)]):
            _add(found, role, match.group(), _SURE + _SIGN, own.sentences[0])
    plain = {role: hit for role, hit in found.items() if hit.weight >= _SURE and not _of_another(role, hit, found, own)}
    ranked = sorted(plain.items(), key=lambda item: (-item[1].weight, item[1].spans[0].start))
    best = ranked[0][1].weight if ranked else 0
    enough = max(_SURE, best - 0.5)
    beside = words("topics")["beside"]
    kept = [(role, hit) for role, hit in ranked if hit.weight >= enough or (role in beside and hit.sure)][:2]
    at_work = first(signs["at_work"], text) is not None
    return [
        _hint(role, hit, _name(role, text, language), own, at_work=at_work, own_doing=at_work or not neutral)
        for role, hit in kept
    ]


def is_neutral(own: OwnWords) -> bool:
    """Whether anybody may ask it: what something is or causes, and nothing of the user's doing; or what to buy."""
    signs, text = words("topics")["signs"], " ".join(sentence.text for sentence in own.sentences)
    if first(signs["personal"], compiled(signs["frames"]).sub(" ", text)):
        return first([signs["buys"]], text) is not None and not first(signs["at_work"], text)
    return first(signs["neutral"], text) is not None


def _hint(role: str, hit: _Found, name: str, own: OwnWords, *, at_work: bool, own_doing: bool) -> Hint:
    weight = hit.weight + (_SIGN if at_work else 0)
    highest = _LOWEST if role in words("topics")["everyday"] else _HIGHEST
    score = min(highest, _LOWEST + 0.1 * (weight - _SURE)) if hit.sure else _VAGUE
    return Hint(role, name, round(score, 2), _clause(own, hit.spans[0]), hit.sure, at_work, own_doing)


def _name(role: str, text: str, language: Language) -> str:
    """The role's name as a trade, as a teacher of it or as a pastime, by the signs around the subject."""
    entry, signs = words("topics")["roles"][role], words("topics")["signs"]
    kinds = (("teacher", signs["teaches"]), ("trade", signs["trades"]), ("start", signs["begins"]))
    kind = next((kind for kind, patterns in kinds if kind in entry and first(patterns, text)), "name")
    english, _, chinese = entry[kind].partition(" / ")
    name: str = chinese if language == "zh" else english
    return name.strip()


def _weigh(own: OwnWords, neutral: bool) -> dict[str, _Found]:
    """What the terms weigh, without those of what the user eats and drinks: that makes nobody a barista."""
    found, consumes = dict[str, _Found](), compiled(words("topics")["signs"]["consumes"])
    for home in (True, False):
        for sentence in (*_of_the_user(own, home), *own.code):
            for term, span in _terms(sentence):
                if consumes.search(_clause(own, span).text):
                    continue
                for role, weight in _index().get(term, ()):
                    if _is_at_home(role) is home:
                        _add(found, role, term, weight - (_MAYBE if neutral else 0), span)
    return found


def _of_the_user(own: OwnWords, home: bool) -> list[Span]:
    return [without_others(sentence, home=home) for sentence in own.sentences]


def _is_at_home(role: str) -> bool:
    return role in words("topics")["at_home"]


def _of_another(role: str, hit: _Found, found: dict[str, _Found], own: OwnWords) -> bool:
    """Whether the words tell of another topic, which has some of its own, or of somebody else who is of the trade."""
    shared = set(words("topics")["shared"])
    if hit.terms <= shared and any(other.weight >= _SURE and other.terms - shared for other in found.values()):
        return True
    names = [name.strip() for name in words("topics")["roles"][role]["name"].split(" / ")]
    return any(told_of_another(sentence.text, name) for sentence in own.sentences for name in names)


def _add(found: dict[str, _Found], role: str, term: str, weight: float, span: Span) -> None:
    hit = found.setdefault(role, _Found(0, [], set()))
    if term not in hit.terms:
        hit.terms.add(term)
        hit.weight += weight
        hit.sure |= weight >= _SURE
        hit.spans.append(span)


def _terms(sentence: Span) -> list[tuple[str, Span]]:
    """Every listed term, the longest at each place."""
    return [*_latin_terms(sentence), *_han_terms(sentence)]


def _latin_terms(sentence: Span) -> list[tuple[str, Span]]:
    tokens, found, at, index = list(_TOKEN.finditer(sentence.text)), [], 0, _index()
    lasts = [forms(token.group()) for token in tokens]
    while at < len(tokens):
        for size in range(min(_LONGEST_PHRASE, len(tokens) - at), 0, -1):
            head = [token.group().casefold() for token in tokens[at : at + size - 1]]
            term = next((name for last in lasts[at + size - 1] if (name := " ".join([*head, last])) in index), None)
            if term:
                start, end = tokens[at].start(), tokens[at + size - 1].end()
                found.append((term, Span(sentence.text[start:end], sentence.start + start)))
                at += size - 1
                break
        at += 1
    return found


def _han_terms(sentence: Span) -> list[tuple[str, Span]]:
    found, index = [], _index()
    for run in _HAN_RUN.finditer(sentence.text):
        at, text = 0, run.group()
        while at < len(text):
            size = next((n for n in range(min(_LONGEST_HAN, len(text) - at), 0, -1) if text[at : at + n] in index), 0)
            if size:
                found.append((text[at : at + size], Span(text[at : at + size], sentence.start + run.start() + at)))
            at += size or 1
    return found


def forms(word: str) -> list[str]:
    """The word and what it may be an ending of: a listed word is found in its plural and in its verb forms."""
    word = word.casefold()
    found = [word]
    if word.isascii():
        for ending, put in _ENDINGS:
            base = word.removesuffix(ending)
            if base != word and len(base) >= 3:
                found.append(base + put)
                if ending in {"ing", "ed"} and base[-1] == base[-2]:
                    found.append(base[:-1])
    return found


@cache
def _index() -> dict[str, tuple[tuple[str, float], ...]]:
    """From a term to the roles that it hints at, with its weight."""
    index: dict[str, dict[str, float]] = {}
    for role, entry in words("topics")["roles"].items():
        for kind, weight in (("sure", _SURE), ("maybe", _MAYBE)):
            for term in listed(entry.get(kind, "")):
                key = " ".join(_TOKEN.findall(term.casefold())) if term.isascii() else term.casefold()
                index.setdefault(key, {}).setdefault(role, weight)
    return {term: tuple(roles.items()) for term, roles in index.items()}


def _clause(own: OwnWords, hit: Span) -> Span:
    """The clause that holds the hit, as a quote; the hit alone where the clause is long."""
    for sentence in own.sentences:
        if sentence.start <= hit.start < sentence.end:
            for clause in clauses(sentence):
                if clause.start <= hit.start and hit.end <= clause.end and len(clause.text) <= 80:
                    return clause
    return hit
