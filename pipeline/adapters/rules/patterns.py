"""Word lists as compiled patterns and sets, made once."""

import re
from collections.abc import Iterable
from functools import cache

from pipeline.words import words


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    """The first pattern's first match; None where no pattern matches."""
    return next((match for pattern in patterns if (match := compiled(pattern).search(text))), None)


def listed(text: str) -> frozenset[str]:
    """The entries of a list that is written with commas."""
    return frozenset(entry for part in text.split(",") if (entry := " ".join(part.split())))


@cache
def entries(subject: str, name: str) -> frozenset[str]:
    return listed(words(subject)[name])
