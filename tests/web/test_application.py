"""The envelope of whatever goes wrong, the page's files, and the OpenAPI document."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated

import pytest
from fastapi import FastAPI, Query
from pydantic import Field

from pipeline.errors import BadEvent, Outage
from pipeline.web import Access
from pipeline.web.envelope import ApiError
from schemas.wire import Wire
from tests.web.calling import calling, key, without_services


class Wish(Wire):
    daily_sugar: int = Field(ge=0)


@pytest.fixture
def app() -> FastAPI:
    """An application with routes that fail in every way."""
    app = without_services(Access([]))

    @app.post("/api/wish")
    async def wish(body: Wish, limit: Annotated[int, Query(le=1000)] = 100) -> int:
        return body.daily_sugar

    @app.get("/api/outage")
    async def outage() -> None:
        raise Outage("no broker at secret-host:9092 answers")

    @app.get("/api/bad")
    async def bad() -> None:
        raise BadEvent("the event is larger than any broker takes")

    @app.get("/api/moved")
    async def moved() -> None:
        raise ApiError(412, "it has changed: read it again", headers={"ETag": '"4"'})

    @app.get("/api/broken")
    async def broken() -> None:
        raise RuntimeError("a detail that nobody outside is told")

    return app


@pytest.mark.parametrize(
    ("content", "query", "field", "says"),
    [
        ('{"dailySugar": -1}', "", "body.dailySugar", "greater than or equal to 0"),
        ("{}", "", "body.dailySugar", "required"),
        ('{"dailySugar": 1, "more": 1}', "", "body.more", "not permitted"),
        ('{"dailySugar": 1}', "?limit=1001", "query.limit", "less than or equal to 1000"),
        ('{"dailySugar": ', "", "body", "no JSON"),
        ("", "", "body", "required"),
    ],
)
async def test_a_validation_error_names_the_field_on_the_wire(
    app: FastAPI, content: str, query: str, field: str, says: str
) -> None:
    """422 in the envelope: each field as its sender calls it, with what is wrong with it."""
    async with calling(app) as client:
        answer = await client.post(f"/api/wish{query}", content=content, headers={"Content-Type": "application/json"})
    body = answer.json()
    assert (answer.status_code, body["code"], body["status"]) == (422, 422, "error")
    assert [error["field"] for error in body["data"]] == [field]
    assert says in body["data"][0]["message"]
    assert field in body["message"]


@pytest.mark.parametrize(
    ("method", "path", "code", "message"),
    [
        ("GET", "/api/outage", 503, "Kafka or MongoDB is away: try again later"),
        ("GET", "/api/moved", 412, "it has changed: read it again"),
        ("GET", "/api/nowhere", 404, "there is nothing under this path"),
        ("GET", "/nowhere", 404, "there is nothing under this path"),
        ("GET", "/api/me/", 404, "there is nothing under this path"),
        ("GET", "/page/nowhere.js", 404, "there is nothing under this path"),
        ("GET", "/page/%2e%2e/application.py", 404, "there is nothing under this path"),
        ("GET", "/docs", 404, "there is nothing under this path"),
        ("POST", "/api/me", 405, "this path does not take that method"),
        ("PUT", "/", 405, "this path does not take that method"),
        ("POST", "/page/index.html", 405, "this path does not take that method"),
    ],
)
async def test_errors_come_in_the_envelope(app: FastAPI, method: str, path: str, code: int, message: str) -> None:
    """Whatever is wrong, the status is the envelope's code and the message says what and what to do."""
    async with calling(app) as client:
        answer = await client.request(method, path)
    assert answer.status_code == code
    assert answer.json() == {"code": code, "status": "error", "message": message, "data": None}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"dailySugar": "\xff"}', "the body is not UTF-8"),
        (b'{"dailySugar": ' + b"1" * 5000 + b"}", "the body holds a number of too many digits"),
        (b'{"dailySugar": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "the body is nested too deeply"),
    ],
)
async def test_a_body_that_cannot_be_read_is_told_why(app: FastAPI, content: bytes, says: str) -> None:
    """400, with what to send instead."""
    async with calling(app) as client:
        answer = await client.post("/api/wish", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"{says}: send ")


async def test_an_error_brings_the_headers_that_say_how_to_go_on(app: FastAPI) -> None:
    """Which methods a path takes, when a service may be back, which version is there now."""
    async with calling(app) as client:
        assert (await client.get("/api/outage")).headers["Retry-After"] == "5"
        assert (await client.get("/api/moved")).headers["ETag"] == '"4"'
        assert (await client.post("/api/me")).headers["Allow"] == "GET"
        for path in ("/", "/page/index.html"):
            allowed = (await client.put(path)).headers["Allow"]
            assert set(allowed.split(", ")) == {"GET", "HEAD"}


async def test_an_event_that_no_broker_takes_is_the_senders_error(app: FastAPI) -> None:
    """It is told as what is wrong with the body."""
    async with calling(app) as client:
        answer = await client.get("/api/bad")
    assert (answer.status_code, answer.json()["data"][0]["field"]) == (422, "body")


async def test_what_nobody_expected_is_logged_and_not_told(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    """500 without detail outside; the log has the path and the traceback, and no key."""
    async with calling(app, bearer="a-key-that-is-secret") as client:
        answer = await client.get("/api/broken?session_id=private")
    assert answer.status_code == 500
    assert answer.json() == {"code": 500, "status": "error", "message": "internal error", "data": None}
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == "GET '/api/broken' failed"
    assert "nobody outside is told" in caplog.text
    assert "a-key-that-is-secret" not in caplog.text


async def chunks() -> AsyncIterator[bytes]:
    yield b'{"dailySugar": 1, "more": "'
    for _ in range(1001):
        yield b"x" * 1000


async def test_a_body_in_chunks_that_grows_too_large_is_413_to_a_route(app: FastAPI) -> None:
    """The framework, which reads the body, passes the refusal on."""
    async with calling(app) as client:
        answer = await client.post("/api/wish", content=chunks(), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, 413)
    assert answer.headers["Cache-Control"] == "no-store"


async def test_the_page_is_served_to_whoever_has_no_key() -> None:
    """At / and beside it, by GET and HEAD, asked for again by its ETag: the key is asked for by the page itself."""
    async with calling(without_services(Access([key("the-key-of-ada")]))) as client:
        page = await client.get("/")
        assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert page.headers["Cache-Control"] == "no-cache"
        head = await client.head("/")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["Content-Length"] == str(len(page.content))
        again = await client.get("/", headers={"If-None-Match": page.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        style = await client.get("/page/style.css")
        assert (style.status_code, style.headers["Content-Type"]) == (200, "text/css; charset=utf-8")


async def test_the_document_is_public_and_names_every_error() -> None:
    """No key is needed to read how to use the API; each operation tells the errors it can answer, in the envelope."""
    async with calling(without_services(Access([key("the-key-of-ada")]))) as client:
        document = (await client.get("/api/openapi.json")).json()
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert "/api/me" in document["paths"]
    for operation in operations:
        assert {"401", "403", "404", "422", "429", "503"} <= set(operation["responses"])
        for code, response in operation["responses"].items():
            if code >= "400":
                [content] = response["content"].values()
                assert "Envelope" in content["schema"]["$ref"]
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert "the-key-of-ada" not in str(document)
