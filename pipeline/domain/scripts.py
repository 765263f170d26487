"""What is composed in Chinese, in the characters of the question: traditional where it is written in them."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from pipeline.domain.spelling import simplified
from pipeline.words import words


def in_script_of(asked: Sequence[str], text: str) -> str:
    """`text` in traditional characters where `asked`, the question and those before it, newest first, is in them.

    A name that the question holds stays as it is there, and a character that it holds is taken from it.
    """
    if not _is_traditional(tuple(asked)):
        return text
    if text in asked[0]:
        return text
    characters, other = _table() | _own_characters(asked[0]), words("scripts")["other"]
    parts = _other_words().split(text)
    return "".join(other.get(part) or "".join(characters.get(char, char) for char in part) for part in parts)


@lru_cache(maxsize=256)
def _is_traditional(asked: tuple[str, ...]) -> bool:
    """By the newest question whose characters tell."""
    for text in asked:
        plain = simplified(text)
        traditional = sum(one != other for one, other in zip(text, plain, strict=True))
        only_simplified = sum(char in _table() and char not in _usual() for char in text)
        if traditional != only_simplified:
            return traditional > only_simplified
    return False


@lru_cache(maxsize=256)
def _own_characters(question: str) -> dict[str, str]:
    """From a simplified character to the one that the question has for it, where it has one alone."""
    written: dict[str, set[str]] = {}
    for char in question:
        written.setdefault(simplified(char), set()).add(char)
    return {plain: chars.pop() for plain, chars in written.items() if len(chars) == 1}


@cache
def _usual() -> dict[str, str]:
    pairs = "".join(words("scripts")["usual"].split())
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


@cache
def _table() -> dict[str, str]:
    """From a simplified character to its usual traditional one."""
    lists = words("traditional")
    return dict(zip(lists["simplified"], lists["traditional"], strict=True)) | _usual()


@cache
def _other_words() -> re.Pattern[str]:
    return re.compile("(" + "|".join(map(re.escape, words("scripts")["other"])) + ")")
