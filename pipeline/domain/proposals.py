"""The plain values of a proposal: names, numbers and enums out of JSON that nobody has checked."""

import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, get_args

from pipeline.domain.spelling import fold
from pipeline.ports import Json
from schemas.role import (
    MAX_NAME,
    MAX_OVERVIEW,
    CommunicationPreferences,
    ContentDepth,
    DetailLevel,
    PreferenceScope,
    PreferenceScopes,
    ResponseFormat,
)

DEFAULT_SCORE = 0.3
#: How many elements of a list are read: more than any honest extraction holds, few enough to stay cheap.
MAX_READ = 60
#: Where a model that gives an object instead of a string puts the string.
_NAME_KEYS = ("name", "value", "label", "text", "identity", "role", "characteristic")
#: The fields of the preferences, each with the values that it takes.
PREFERENCES = {"detailLevel": DetailLevel, "contentDepth": ContentDepth, "responseFormat": ResponseFormat}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
#: Control, direction and zero-width characters, and lone surrogates, which no database takes.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SENTENCE_END = re.compile(r"[.!?。！？]")


def object_of(raw: Json) -> dict[str, Any] | None:
    """The object of a proposal: itself, the first one of a list, an empty one for an empty list; else None."""
    if isinstance(raw, list):
        return next((item for item in raw if isinstance(item, dict)), None) if raw else {}
    return raw if isinstance(raw, dict) else None


def text_of(value: object, longest: int) -> str | None:
    """A string on one line; None where it is none, empty, or too long."""
    if not isinstance(value, str) or len(value) > 4 * longest:
        return None
    text = _printable(value)
    return text if 0 < len(text) <= longest else None


def _printable(value: str) -> str:
    return " ".join(_UNPRINTABLE.sub(" ", value).split())


def names_of(value: object) -> list[str]:
    """The usable names of a list, each once; an object in it counts by its name."""
    items = value[:MAX_READ] if isinstance(value, list) else []
    return distinct(name for item in items if (name := text_of(_name_in(item), MAX_NAME)) and fold(name))


def _name_in(item: object) -> object:
    return next((item[key] for key in _NAME_KEYS if key in item), None) if isinstance(item, dict) else item


def distinct(names: Iterable[str]) -> list[str]:
    """Each name once, as it was first written."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(fold(name), name)
    return list(first.values())


def score_of(value: object) -> float:
    """Between 0 and 1; what is no number is 0.3."""
    if isinstance(value, str) and len(value) < 40 and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return DEFAULT_SCORE
    if isinstance(value, float) and not math.isfinite(value):
        return DEFAULT_SCORE
    return float(min(max(value, 0), 1))


def preferences_of(value: object) -> tuple[CommunicationPreferences, PreferenceScopes]:
    """Each field with a value and a scope that can be read; one without a scope is inferred."""
    values: dict[str, Any] = {}
    scopes: dict[str, Any] = {}
    for field, allowed in PREFERENCES.items():
        entry = value.get(field) if isinstance(value, dict) else None
        if not isinstance(entry, dict):
            continue
        chosen = _enum(entry.get("value"), get_args(allowed))
        scope = "inferred" if entry.get("scope") is None else _enum(entry["scope"], get_args(PreferenceScope))
        if chosen and scope:
            values[field], scopes[field] = chosen, scope
    return CommunicationPreferences(**values), PreferenceScopes(**scopes)


def _enum(value: object, allowed: tuple[str, ...]) -> str | None:
    """The option that is plainly meant: another case or separator, an ending more or less, a slip of the pen."""
    if not isinstance(value, str) or len(value) > 60:
        return None
    letters = {re.sub(r"[^a-z]", "", option.casefold()): option for option in allowed}
    meant = re.sub(r"[^a-z]", "", value.casefold())
    if meant in letters:
        return letters[meant]
    if len(meant) < 5:
        return None
    starts = [option for plain, option in letters.items() if plain.startswith(meant) or meant.startswith(plain)]
    if len(starts) == 1:
        return starts[0]
    close = get_close_matches(meant, letters, n=2, cutoff=0.85)
    return letters[close[0]] if len(close) == 1 else None


def overview_text(value: object) -> str:
    """The overview on one line and within its bound; empty where it is no string."""
    if not isinstance(value, str):
        return ""
    text = _printable(value[: 4 * MAX_OVERVIEW])
    return text if len(text) <= MAX_OVERVIEW else _cut(text)


def _cut(text: str) -> str:
    """The last whole sentence within the bound, else the last whole word."""
    text = text[: MAX_OVERVIEW - 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] >= MAX_OVERVIEW // 2:
        return text[: ends[-1]]
    return re.split(r"[\s,，、;；]+(?=[^\s,，、;；]*$)", text)[0] + "…"
