"""Which facts about a user matter for a question: the words that they share, the rarer the more."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log

from pipeline.domain.lexicon import normal
from pipeline.domain.spelling import HAN, fold, has_han
from pipeline.words import words
from schemas.features import FeatureChange, KnownFeature, UserFeature, is_by_hand

#: The most facts that one question is told, and their characters together.
MOST_FEATURES, MOST_CHARACTERS = 20, 1500
#: What stands around a fact in its line.
_AROUND = len("- \n")
#: BM25: how soon a word's repetition stops to count, and how much a long text is worth less.
_SATURATION, _LENGTH = 1.2, 0.5
#: The longest text whose words are kept for the next time: about that of a fact.
_KEPT = 200
_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:'[a-z]+)?")
_ENDING = re.compile(
    r"(?<=[a-z]{4})(?:ations?|ingly|ements?|ments?|ness|ions?|ance|ence|able|ible|ally|er|or|ly|al|ive)$"
    r"|(?<=[a-z]{3})(?:ings?|ied|ies|ed|es|s|e|y)$"
)
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")


def as_known(fact: UserFeature | FeatureChange) -> KnownFeature:
    """A fact as guidance and models are told of it; what a turn says is overheard."""
    told = {name: getattr(fact, name) for name in KnownFeature.model_fields if hasattr(fact, name)}
    return KnownFeature.model_validate(told)


def line_of(feature: KnownFeature) -> str:
    """A fact in one line: its sentence, or what it is about and what is so."""
    said = feature.content or f"{feature.slot}{'：' if has_han(feature.slot + feature.value) else ': '}{feature.value}"
    return " ".join(said.split())


def by_relevance(features: Sequence[UserFeature], question: str) -> list[UserFeature]:
    """The facts most like the question first, then those set by hand, the surest, the newest."""
    alike = _similarities(question, [f"{feature.slot} {feature.content or feature.value}" for feature in features])

    def rank(at: int) -> tuple[float, bool, int, float, str]:
        one = features[at]
        return -alike[at], not is_by_hand(one.source), -one.confidence, -one.last_seen_time.timestamp(), one.slot

    return [features[at] for at in sorted(range(len(features)), key=rank)]


def fitting(ranked: Iterable[KnownFeature], room: int = MOST_CHARACTERS) -> list[KnownFeature]:
    """The first facts that fit into MOST_FEATURES lines of `room` characters; one that is said already takes none."""
    chosen: list[KnownFeature] = []
    said = set[str]()
    for feature in ranked:
        line = line_of(feature)
        if len(chosen) < MOST_FEATURES and len(line) + _AROUND <= room and fold(line) not in said:
            chosen.append(feature)
            said.add(fold(line))
            room -= len(line) + _AROUND
    return chosen


def _similarities(question: str, texts: Sequence[str]) -> list[float]:
    """BM25 of each text for the question; 0 where they share no word."""
    counted = [Counter(terms(text)) for text in texts]
    holds = Counter(term for text in counted for term in text)
    asked = {
        term: log(1 + (len(texts) - holds[term] + 0.5) / (holds[term] + 0.5))
        for term in dict.fromkeys(terms(question))
        if holds[term]
    }
    average = sum(text.total() for text in counted) / max(len(counted), 1)

    def weight(times: int, length: int) -> float:
        return times * (_SATURATION + 1) / (times + _SATURATION * (1 - _LENGTH + _LENGTH * length / average))

    return [
        sum(rarity * weight(text[term], text.total()) for term, rarity in asked.items() if term in text)
        for text in counted
    ]


def terms(text: str) -> tuple[str, ...]:
    """The stems of the words and the pairs of Chinese characters that say something, in their order."""
    return _kept_terms(text) if len(text) <= _KEPT else _terms(text)


@lru_cache(maxsize=4096)
def _kept_terms(text: str) -> tuple[str, ...]:
    return _terms(text)


def _terms(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for run in _RUN.findall(fold(text)):
        if has_han(run):
            parts = filter(None, _small_han().split(run))
            found.extend(pair for part in parts for pair in _pairs(part))
        elif (word := run.partition("'")[0]) not in _small_words():
            found.append(_stem(word))
    return tuple(found)


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)] or [text]


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """The same string for the forms of one word, as far as plain endings tell."""
    word = _irregular().get(word) or normal(word)
    for _ in range(2):
        word = _ENDING.sub("", word)
    return _DOUBLED.sub(r"\1", word)


@lru_cache(maxsize=1)
def _small_words() -> frozenset[str]:
    return frozenset(word.strip() for word in words("relevance")["en"].split(","))


@lru_cache(maxsize=1)
def _small_han() -> re.Pattern[str]:
    """The longer words first, so that no shorter one takes their beginning."""
    listed = (word.strip() for word in words("relevance")["zh"].split(","))
    return re.compile("|".join(sorted(listed, key=len, reverse=True)))


@lru_cache(maxsize=1)
def _irregular() -> Mapping[str, str]:
    lines = (line.split(", ") for line in words("relevance")["irregular"]["forms"])
    return {form: line[0] for line in lines for form in line}
