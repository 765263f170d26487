"""What every model of the contract shares: camelCase, frozen, and the ids."""

from datetime import UTC, datetime
from typing import Annotated, NewType, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

#: The longest question, in characters.
MAX_TEXT = 32_000
#: The longest id, in characters.
MAX_IDENTIFIER = 200

ConversationId = NewType("ConversationId", str)
UserId = NewType("UserId", str)
QuestionId = NewType("QuestionId", str)

# Ids become record keys and database keys: no control characters, NUL included, and no blank ends. These characters
# are written out, for few readers of JSON Schema know the classes of Unicode.
_INNER, _END = r"[^\x00-\x1f\x7f-\x9f]", r"[^\s\x00-\x1f\x7f-\x9f]"
Identifier = StringConstraints(min_length=1, max_length=MAX_IDENTIFIER, pattern=f"^{_END}({_INNER}*{_END})?$")


def without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("it holds a NUL character: remove it")
    return text


#: Of a text that is taken in; what was stored before it was asked for is read as it is.
NoNul = AfterValidator(without_nul)


def _assume_utc(value: object) -> object:
    """Read a time without an offset as UTC, and a date as its first moment, as every sender of one means it."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    if isinstance(value, str) and ("T" in value.upper() or "-" in value):
        try:
            return _assume_utc(datetime.fromisoformat(value))
        except ValueError:
            return value  # the field's own validator says what is wrong
    return value


def _to_utc(moment: datetime) -> datetime:
    """Millisecond precision in UTC: what MongoDB and Kafka both keep."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError("the time is out of range in UTC") from exc
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


#: A moment, in UTC, to the millisecond.
Moment = Annotated[AwareDatetime, BeforeValidator(_assume_utc), AfterValidator(_to_utc)]


class Wire(BaseModel):
    """A value on the wire or in a stored document: camelCase outside, snake_case inside.

    Unknown fields are refused in what we write; a reader that meets a newer writer passes
    `extra="ignore"` when it validates.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # what was said would come into logs
    )

    @classmethod
    def from_stored(cls, event: str) -> Self:
        """Read an event back that we stored, perhaps as a newer version of us wrote it."""
        return cls.model_validate_json(event, extra="ignore")

    def to_json(self) -> bytes:
        """The record value: UTF-8 JSON with camelCase names."""
        return self.model_dump_json(by_alias=True).encode()
