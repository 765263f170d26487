"""Which language a question is in, as far as its script and its small words tell, and what is in that language."""

import re
from collections.abc import Collection
from functools import lru_cache

from pipeline.domain.asks import language_of
from pipeline.domain.spelling import HAN, fold, has_han
from pipeline.words import words

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
#: Small words that make a language: one alone may be a name.
_ENOUGH = 2
#: An abbreviation is at home in every language.
_ABBREVIATION = re.compile(r"[A-Z0-9/&.+-]{2,6}")
_ENGLISH = "English"
#: Greek and what follows it, kana, hangul.
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\u30ff\uac00-\ud7af]")


@lru_cache(maxsize=64)
def language_name(text: str) -> str | None:
    """The name of the text's language, in that language; None where neither script nor small words tell."""
    if language_of(text) == "zh":
        return "中文"
    spoken = {word.casefold().replace("’", "'") for word in _WORD.findall(text)}
    counts = {name: len(spoken & listed) for name, listed in _small_words().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= _ENOUGH else None


def is_surely(languages: Collection[str], text: str) -> bool:
    """Whether the text is in one of these languages beyond doubt: of English, a fifth is small words."""
    name = language_name(text)
    if name != _ENGLISH:
        return name in languages and _OTHER_SCRIPT.search(text) is None
    spoken = [word.casefold() for word in _WORD.findall(text)]
    small = sum(word in _small_words()[_ENGLISH] for word in spoken)
    return name in languages and all(word.isascii() or "’" in word for word in spoken) and 5 * small >= len(spoken)


def fits_language(text: str, question: str) -> bool:
    """Whether a learnt string is in the language of its question; one in two languages takes both."""
    asked_in = language_name(question)
    if has_han(text):
        return has_han(question)
    if asked_in in (None, _ENGLISH) or re.search(
        rf"(?<![^\W{HAN}]){re.escape(fold(text))}(?![^\W{HAN}])", fold(question)
    ):
        return True
    if asked_in == "中文":
        return _ABBREVIATION.fullmatch(text) is not None or not any("a" <= char <= "z" for char in text.casefold())
    spoken = _WORD.findall(fold(text))
    return language_name(text) != _ENGLISH and (not spoken or spoken[-1] not in _english_occupations())


@lru_cache(maxsize=1)
def _small_words() -> dict[str, frozenset[str]]:
    lists = words("languages").values()
    return {entry["name"]: frozenset(word.strip() for word in entry["words"].split(",")) for entry in lists}


@lru_cache(maxsize=1)
def _english_occupations() -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in words("occupations")["en"].split(","))
