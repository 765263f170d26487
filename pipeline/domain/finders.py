"""A finder tells where in a text something stands: a pattern, and a check of each match."""

import re
from collections.abc import Callable, Iterator

#: A place in the text; the end is exclusive.
Span = tuple[int, int]
#: Whether a match in a text is what it looks like.
Check = Callable[[str, re.Match[str]], bool]
Finder = Callable[[str], Iterator[Span]]


def every(pattern: re.Pattern[str], check: Check | None = None) -> Finder:
    """Every match that passes; the text after the first character of one that fails is searched again."""

    def places(plain: str) -> Iterator[Span]:
        match = pattern.search(plain)
        while match is not None:
            passed = check is None or check(plain, match)
            if passed:
                yield match.span("it") if "it" in pattern.groupindex else match.span()
            match = pattern.search(plain, match.end() if passed else match.start() + 1)

    return places
