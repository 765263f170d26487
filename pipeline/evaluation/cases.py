"""The format of a case: a misspelt key or a turn that is none would be counted wrongly, and is an error instead."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from schemas.role import ConfidenceLevel, ContentDepth, Decision, DetailLevel, ResponseFormat

Case = dict[str, Any]

Words = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
Change = Literal["up", "down", "same"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Preferences(_Strict):
    detailLevel: DetailLevel | None = None
    contentDepth: ContentDepth | None = None
    responseFormat: ResponseFormat | None = None


class _Expected(_Strict):
    turn: Annotated[StrictInt, Field(ge=1)]
    decision: list[Decision] | None = None
    identities_any: list[Words] | None = None
    identities_none: list[str] | None = None
    first: Words | None = None
    levels: list[ConfidenceLevel] | None = None
    confidence: Change | None = None
    characteristics_any: list[Words] | None = None
    characteristics_none: list[str] | None = None
    evidence_any: list[str] | None = None
    evidence_none: list[str] | None = None
    overview_any: list[Words] | None = None
    overview_none: list[str] | None = None
    preferences: _Preferences | None = None
    turnPreferences: _Preferences | None = None


class _Asked(BaseModel):
    q: Annotated[str, Field(min_length=1)]


class _Case(BaseModel):
    id: str
    lang: str
    kind: str
    turns: Annotated[list[_Asked], Field(min_length=1)]
    expect: list[_Expected]

    @model_validator(mode="after")
    def _expects_of_turns_that_are(self) -> "_Case":
        for expected in self.expect:
            if expected.turn > len(self.turns):
                raise ValueError(f"an expectation is of turn {expected.turn}, and there are {len(self.turns)}")
        return self


def read_case(line: str, *, extractions: bool) -> Case:
    """The case of a line, with an extraction `x` for each turn where they are wanted.

    Raises ValueError that says in one line which field is wrong.
    """
    try:
        case = json.loads(line)
        _Case.model_validate(case)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'the case'}: {first['msg']}") from exc
    for number, turn in enumerate(case["turns"], 1):
        if extractions and "x" not in turn:
            raise ValueError(f"turn {number} has no extraction x, which --model given feeds to the arbiter")
    return case  # type: ignore[no-any-return]  # it was validated
