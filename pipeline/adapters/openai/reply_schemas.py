"""The JSON Schemas of the objects that models are asked for: strict-mode compatible, every list and string bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pipeline.domain.proposals import PREFERENCES
from schemas.events import Source
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, Category
from schemas.role import (
    MAX_CHARACTERISTICS,
    MAX_IDENTITIES,
    MAX_NAME,
    MAX_OVERVIEW,
    PreferenceScope,
)

Schema = dict[str, Any]

#: Some servers refuse these: the structure alone is then asked for, and code keeps the bounds.
BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"})


@dataclass(frozen=True)
class ReplyShape:
    """An object that a model is asked for; without one of the `core` keys it says nothing."""

    name: str
    schema: Schema
    core: frozenset[str]

    @property
    def keys(self) -> list[str]:
        return list(self.schema["properties"])


def extraction_shape() -> ReplyShape:
    """What one question suggests about the user."""
    names = _list(_text(MAX_NAME), MAX_IDENTITIES)
    evidence = _object(quote=_text(160), supports=_list(_text(MAX_NAME), 3))
    schema = _object(
        identities=names,
        characteristics=_list(_text(MAX_NAME), MAX_CHARACTERISTICS),
        evidence=_list(evidence, 8),
        preferences=_list({"anyOf": [_preference(field, values) for field, values in PREFERENCES.items()]}, 3),
        states=names,
        denies=names,
        score={"type": "number", "minimum": 0, "maximum": 1},
        overview=_text(MAX_OVERVIEW),
    )
    return ReplyShape("extraction", schema, frozenset(schema["properties"]))


def features_shape() -> ReplyShape:
    """What one message says of the user that stays true."""
    change = _object(
        operation=_one_of(["OBSERVE", "FORGET"]),
        slot=_text(MAX_SLOT),
        value=_text(MAX_VALUE),
        content=_text(MAX_CONTENT),
        category=_one_of(get_args(Category)),
        quote=_text(160),
    )
    return ReplyShape("features", _object(changes=_list(change, 8)), frozenset({"changes"}))


def holding_shape(slots: Sequence[str]) -> ReplyShape:
    """Which of these features hold still."""
    return ReplyShape("holding", _object(holds=_list(_one_of(slots), len(slots))), frozenset({"holds"}))


def summary_shape() -> ReplyShape:
    """Where a conversation stands."""
    schema = _object(
        target=_text(MAX_CONTENT),
        blocker=_text(MAX_CONTENT),
        suggestion=_text(MAX_CONTENT),
        nextStep=_text(MAX_CONTENT),
    )
    return ReplyShape("summary", schema, frozenset(schema["properties"]))


def report_shape(sources: Sequence[Source]) -> ReplyShape:
    """A report that can cite these sources and no others."""
    citations = _list(_one_of([source.id for source in sources]), len(sources)) if sources else _list(_text(1), 0)
    schema = _object(
        title=_text(150),
        citations=citations,
        keyPoints=_list(_text(300), 7),
        overview=_text(1200),
        sections=_list(_object(heading=_text(120), text=_text(1800)), 6),
        surveyNote=_text(800),
    )
    return ReplyShape("report", schema, frozenset({"overview", "sections"}))


def without_bounds(schema: Schema) -> Schema:
    """The same structure for servers that know no bounds."""
    return {key: _bare(value) for key, value in schema.items() if key not in BOUNDS}


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return without_bounds(value)
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(longest: int) -> Schema:
    return {"type": "string", "maxLength": longest}


def _list(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def _preference(field: str, values: Any) -> Schema:
    return _object(field=_one_of([field]), value=_one_of(get_args(values)), scope=_one_of(get_args(PreferenceScope)))


def _one_of(options: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(options)}
