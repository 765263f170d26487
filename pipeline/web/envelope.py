"""The one shape of every answer, and the errors that become one."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from fastapi.responses import JSONResponse
from pydantic import BaseModel

T = TypeVar("T")


class Envelope(BaseModel, Generic[T]):
    code: int
    status: Literal["success", "error"]
    message: str = ""
    data: T


class FieldError(BaseModel):
    field: str
    """Where it was sent, as it is called there: `query.limit`, `body.slot`."""
    message: str


def ok(data: T, code: int = 200, message: str = "") -> Envelope[T]:
    return Envelope[T](code=code, status="success", message=message, data=data)


class ApiError(Exception):
    """Becomes an error's envelope; the message says what is wrong and what to do."""

    def __init__(
        self, code: int, message: str, *, data: Any = None, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.headers = code, message, data, headers

    def response(self) -> JSONResponse:
        envelope = Envelope[Any](code=self.code, status="error", message=self.message, data=self.data)
        return JSONResponse(envelope.model_dump(mode="json"), self.code, dict(self.headers))


def no_conversation() -> ApiError:
    return ApiError(404, "there is no such conversation")


def no_question() -> ApiError:
    return ApiError(404, "there is no such question")


def no_feature() -> ApiError:
    return ApiError(404, "there is no such feature")


def no_user() -> ApiError:
    return ApiError(404, "there is no such user")


def wrong_fields(*errors: FieldError) -> ApiError:
    """What was sent is not what is asked for, field by field."""
    named = "; ".join(f"{error.field}: {error.message}" for error in errors)
    return ApiError(422, named, data=[error.model_dump() for error in errors])


_MEANINGS = {
    400: "The request cannot be read.",
    401: "No key, or one that is not known.",
    403: "The key may not do this, or the request comes from another site.",
    404: "It does not exist, or it is not the caller's.",
    408: "The body stopped coming.",
    409: "It was refused; the message says why.",
    412: "It has changed since it was read.",
    413: "The body is too large.",
    415: "The body is no JSON by its Content-Type.",
    428: "The version that was read is wanted, in If-Match.",
    429: "Too many requests; Retry-After says when to go on.",
    500: "Something unexpected went wrong; it is in the log.",
    503: "Kafka or MongoDB is away; Retry-After says when to try again.",
}

#: The errors that a route can answer, for the OpenAPI document.
ERRORS: dict[int | str, dict[str, Any]] = {
    **{code: {"model": Envelope[None], "description": meaning} for code, meaning in _MEANINGS.items()},
    422: {"model": Envelope[list[FieldError]], "description": "A field is wrong; data names it."},
}
