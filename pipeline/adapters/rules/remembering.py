"""What is remembered of a user where it bears on a question, and which of its options the user's preferences leave."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from pipeline.adapters.rules.patterns import compiled, entries
from pipeline.domain.relevance import line_of, terms
from pipeline.domain.spelling import fold, has_han, simplified
from pipeline.words import words
from schemas.features import KnownFeature

_MOST_MENTIONED, _MOST_OPTIONS, _MOST_WORDS = 5, 6, 2
_SENTENCE = re.compile(r"[.?!:;\n]|\s[-–—]\s")
_CLAUSE = re.compile(r"[,，、;；.。!！\n]|\bbut\b|但是?|而是")


@dataclass(frozen=True)
class Choice:
    """The options that are left, and the preferences that decided it."""

    options: Sequence[str]
    because: Sequence[KnownFeature]


def mentioned(question: str, features: Sequence[KnownFeature]) -> list[KnownFeature]:
    """The facts that share a word with the question; where it asks about the user and none does, those it asks for."""
    asked = set(terms(question))
    sharing = [feature for feature in features if asked & set(terms(f"{feature.slot} {line_of(feature)}"))]
    if not sharing and compiled(words("answers")["remembered"]["about_me"]).search(fold(question)):
        likes = compiled(words("answers")["remembered"]["likes"]).search(fold(question)) is not None
        sharing = [feature for feature in features if feature.category in ("PREFERENCE", "HABIT")] if likes else []
        sharing = sharing or list(features)
    return sharing[:_MOST_MENTIONED]


def choice_of(question: str, features: Sequence[KnownFeature]) -> Choice | None:
    """The option that the user prefers, or those that they do not reject; None where nothing is known of any."""
    options, asked = _options(question), set(terms(question))
    marks = _marks(options)
    preferred, rejected, because = list[str](), list[str](), list[KnownFeature]()
    for feature in features:
        for option, mark in zip(options, marks, strict=True):
            verdict = _verdict(mark, feature, asked)
            if verdict is None or option in (*preferred, *rejected):
                continue
            (preferred if verdict else rejected).append(option)
            if feature not in because:
                because.append(feature)
    left = preferred or [option for option in options if option not in rejected]
    return Choice(left, because) if because and left and len(left) < len(options) else None


def _options(question: str) -> list[str]:
    """What the question lets the user choose from: at least two, or nothing."""
    text = simplified(question.casefold().replace("’", "'"))
    for options in _in_chinese(text) if has_han(question) else _in_english(text):
        named = list(dict.fromkeys(filter(None, map(fold, options))))
        if 2 <= len(named) <= _MOST_OPTIONS:
            return named
    return []


def _in_chinese(text: str) -> Iterator[list[str]]:
    signs = words("answers")["options"]
    for pattern in signs["zh"]:
        found = [option for match in compiled(pattern).finditer(text) for option in match.groups()]
        yield [compiled(signs["zh_leads"]).sub("", option) for option in found]


def _in_english(text: str) -> Iterator[list[str]]:
    """What stands around "or"; where the question asks which, around "and" as well."""
    asks = compiled(words("answers")["options"]["asks"])
    for link in (r"\bor\b", r"\bor\b|\band\b") if asks.search(text) else (r"\bor\b",):
        for sentence in _SENTENCE.split(text):
            if compiled(link).search(sentence):
                parts = [part.split() for part in compiled(rf",|{link}").split(sentence)]
                named = (part for at, part in enumerate(parts) if at == 0 or not asks.search(" ".join(part)))
                yield [_option(part, is_first=part is parts[0]) for part in named]


def _option(part: Sequence[str], *, is_first: bool) -> str:
    """The words next to "or": the last ones before it, the first ones after it."""
    leads = entries("answers", "leads")
    after = max((at for at, word in enumerate(part) if word in leads), default=-1) if is_first else -1
    named = [word for word in part[after + 1 :] if word not in leads]
    return " ".join(named[-_MOST_WORDS:] if is_first else named[:_MOST_WORDS])


def _marks(options: Sequence[str]) -> list[str]:
    """What tells each option from the others: "sweet" of sweet apples beside sour ones, 甜 of 甜苹果 beside 酸苹果."""
    gap = "" if has_han("".join(options)) else " "
    parts = [option.split() if gap else list(option) for option in options]
    shared = {part for part in parts[0] if all(part in others for others in parts)} if parts else set[str]()
    if gap and parts:
        shared.update(parts[-1][1:])
    return [gap.join(part for part in words_of if part not in shared) or gap.join(words_of) for words_of in parts]


def _verdict(mark: str, feature: KnownFeature, asked: Set[str]) -> bool | None:
    """Whether the user prefers what has this mark; None where the fact says nothing of it or of the thing."""
    slot, negative = fold(feature.slot), compiled(words("answers")["options"]["negative"])
    sign = _sign(mark)
    if sign.search(slot):
        return negative.search(fold(f"{feature.value} {feature.content}")) is None
    if asked.isdisjoint(terms(slot)) and slot not in entries("answers", "broad"):
        return None
    sign = _sign(_without(slot, mark))
    clause = next((clause for clause in map(fold, _CLAUSE.split(feature.value)) if sign.search(clause)), None)
    return None if clause is None else negative.search(sign.sub(" ", clause)) is None


def _sign(mark: str) -> re.Pattern[str]:
    return re.compile(re.escape(mark) if has_han(mark) else rf"(?<!\w){re.escape(mark)}(?!\w)")


def _without(slot: str, mark: str) -> str:
    """What the mark says of the thing: "sour" of sour apples, 甜 of 苹果甜."""
    if has_han(mark):
        return compiled(words("answers")["options"]["zh_leads"]).sub("", mark.replace(slot, "")).rstrip("的") or mark
    return " ".join(word for word in mark.split() if not set(terms(word)) & set(terms(slot))) or mark
