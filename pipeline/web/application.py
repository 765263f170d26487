"""The application: routes, what stands before them, and the envelope of whatever goes wrong."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from pipeline.errors import BadEvent, Outage
from pipeline.web import conversations, forgetting, memory, questions
from pipeline.web.access import Access, Anyone, Scope
from pipeline.web.envelope import ERRORS, ApiError, Envelope, FieldError, ok, wrong_fields
from pipeline.web.limits import DOCUMENT, Buckets, Gate
from pipeline.web.parts import WebParts

PAGE = Path(__file__).parent / "page"
_IS_NO_ID = "an id has no control characters, and no blanks at its ends"
_IS_NO_VERSION = 'it is a version with its quotes, such as "3", or *'
#: Seconds after which a caller may look whether a service is back.
_OUTAGE_RETRY = 5


def application(parts: WebParts, access: Access, *, requests_a_minute: int) -> FastAPI:
    app = FastAPI(
        title="Rolestream",
        version=version("rolestream"),
        openapi_url=DOCUMENT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.parts, app.state.access = parts, access
    for routes in (conversations, memory, forgetting, questions):
        app.include_router(routes.router, responses=ERRORS, dependencies=[Depends(_says_only_what_is_known)])
    app.get("/api/me", responses=ERRORS, operation_id="read_me", summary="Read what this key may")(me)
    _serve_page(app)
    app.add_middleware(Gate, access=access, buckets=Buckets(requests_a_minute))
    for error, become in _ERRORS.items():
        app.add_exception_handler(error, _handler(become))
    return app


async def _says_only_what_is_known(request: Request) -> None:
    """What changes something is refused with a parameter misspelt or twice: without it, it would change more."""
    if request.method == "GET":
        return
    operation = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = {parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"}
    names = [name for name, _ in request.query_params.multi_items()]
    wrong = {name: "there is no such parameter" for name in names if name not in known}
    wrong |= {name: "it is there twice" for name in names if names.count(name) > 1}
    if wrong:
        raise wrong_fields(*(FieldError(field=f"query.{name}", message=why) for name, why in wrong.items()))


class Me(BaseModel):
    """What the caller may."""

    scopes: list[Scope]
    users: list[str] | None
    """None: every user."""
    anonymous: bool


async def me(caller: Anyone) -> Envelope[Me]:
    users = None if caller.users is None else sorted(caller.users)
    return ok(Me(scopes=sorted(caller.scopes), users=users, anonymous=caller.is_anonymous))


def _serve_page(app: FastAPI) -> None:
    files = StaticFiles(directory=PAGE)

    async def index(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    app.add_route("/", index, methods=["GET"], include_in_schema=False)
    app.mount("/page", files)


def _of_http(exc: HTTPException) -> ApiError:
    """An error of the framework's: no such path, the wrong method, a body that is no JSON or too large."""
    headers = dict(exc.headers or {})
    if exc.status_code == 400 and isinstance(exc.__cause__, (ValueError, RecursionError)):
        return ApiError(400, _unreadable(exc.__cause__), headers=headers)
    if exc.status_code == 404:
        return ApiError(404, "there is nothing under this path", headers=headers)
    if exc.status_code == 405:
        return ApiError(405, "this path does not take that method", headers={"Allow": "GET, HEAD"} | headers)
    return ApiError(exc.status_code, exc.detail, headers=headers)


def _unreadable(cause: Exception) -> str:
    """Why a body cannot be read as JSON, beside wrong grammar."""
    if isinstance(cause, UnicodeDecodeError):
        return "the body is not UTF-8: send it as UTF-8"
    if isinstance(cause, RecursionError):
        return "the body is nested too deeply: send fewer lists and objects in one another"
    return "the body holds a number of too many digits: send it as a text"


def _of_validation(exc: RequestValidationError) -> ApiError:
    return wrong_fields(*(_field_error(error) for error in exc.errors()))


def _field_error(error: dict[str, Any]) -> FieldError:
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "string_pattern_mismatch":
        message = _IS_NO_VERSION if error["loc"][0] == "header" else _IS_NO_ID
    if error["type"] == "json_invalid":
        return FieldError(field="body", message=f"this is no JSON, at character {error['loc'][-1]}")
    return FieldError(field=".".join(map(str, error["loc"])), message=message)


def _of_outage(exc: Outage) -> ApiError:
    return ApiError(503, "Kafka or MongoDB is away: try again later", headers={"Retry-After": str(_OUTAGE_RETRY)})


def _of_bad_event(exc: BadEvent) -> ApiError:
    return wrong_fields(FieldError(field="body", message=str(exc)))


_ERRORS: dict[type[Exception], Callable[[Any], ApiError]] = {
    ApiError: lambda exc: exc,
    HTTPException: _of_http,
    RequestValidationError: _of_validation,
    Outage: _of_outage,
    BadEvent: _of_bad_event,
}


def _handler(become: Callable[[Any], ApiError]) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    async def handle(request: Request, exc: Exception) -> JSONResponse:
        return become(exc).response()

    return handle
