"""What memory injects into a model's prompt stands in tags, so that it is told from what was said, and never learnt."""

import re

_OPENING, _CLOSING = "<user-memory>", "</user-memory>"
#: A tag in any letter case, width and spacing, with attributes, or left without its end.
_TAG = re.compile(r"[<＜]\s*+([/／]?)\s*+user[\s_-]*+memory\b[^<>＜＞]{0,100}[>＞]?", re.IGNORECASE)
_SIGN = re.compile(r"[<＜](?=\s*+[/／]?\s*+user[\s_-]*+memory\b)", re.IGNORECASE)
#: How often what is left may be a tag again, written around another one; then nothing from there on was said.
_MOST_NESTED = 8


def tagged(text: str) -> str:
    """The text between the tags; a tag inside it is written so that it is none. Empty text stays empty."""
    return f"{_OPENING}\n{_SIGN.sub('(', text)}\n{_CLOSING}" if text else ""


def without_injected(text: str) -> str:
    """What was said: all without the tags and what is between them; what is opened and not closed goes to the end."""
    for _ in range(_MOST_NESTED):
        if not _TAG.search(text):
            return text
        text = _outside(text)
    return text[: tag.start()] if (tag := _TAG.search(text)) else text


def _outside(text: str) -> str:
    kept, start, depth = [], 0, 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "\n".join(part for part in kept if part.strip())
