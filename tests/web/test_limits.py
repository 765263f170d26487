"""What stands before the routes: rate, size, origin, and the headers of every answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from pipeline.web import Access
from pipeline.web.limits import MAX_BODY, MAX_BUCKETS, Buckets, Gate
from tests.web.calling import calling, key

KEYED = Access([key("the-key-of-ada"), key("the-key-of-bo")], origins=["https://desk.example"])


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how long the body was, and that it was there."""
    body = await Request(scope, receive).body()
    await JSONResponse({"bytes": len(body)})(scope, receive, send)


def gate(access: Access = KEYED, requests_a_minute: float = 600, clock: Callable[[], float] = lambda: 0.0) -> Gate:
    return Gate(echo, access, Buckets(requests_a_minute, clock))


@given(st.integers(1, 60), st.lists(st.floats(0, 30), max_size=300))
def test_no_more_than_a_full_bucket_and_its_refill_pass(size: int, pauses: list[float]) -> None:
    """However requests come, those let through are never more than the bucket and what time has filled in."""
    now = 0.0
    buckets, passed = Buckets(size, lambda: now), 0
    for pause in pauses:
        now += pause
        passed += buckets.wait("ada") == 0
    assert passed <= size + now * size / 60 + 1e-6


def test_after_the_wait_a_request_passes() -> None:
    """The seconds that a refusal tells are enough, and half of them are not."""
    now = 0.0
    buckets = Buckets(6, lambda: now)
    assert [buckets.wait("ada") for _ in range(6)] == [0] * 6
    wait = buckets.wait("ada")
    assert wait == pytest.approx(10)
    now += wait / 2
    assert buckets.wait("ada") == pytest.approx(5)
    now += wait / 2
    assert buckets.wait("ada") == 0


def test_buckets_are_bounded() -> None:
    """However many addresses come, memory stays; who came last is remembered."""
    buckets = Buckets(1, lambda: 0.0)
    for number in range(MAX_BUCKETS + 50):
        buckets.wait(number)
    assert len(buckets._buckets) == MAX_BUCKETS
    assert buckets.wait(MAX_BUCKETS + 49) > 0


async def test_each_key_has_its_rate_and_unknown_ones_that_of_their_address() -> None:
    """One key's requests take nothing from another's, and made-up keys share one bucket."""
    app = gate(requests_a_minute=2)
    codes = []
    for bearer in (
        "the-key-of-ada",
        "the-key-of-ada",
        "the-key-of-ada",
        "the-key-of-bo",
        "guess-1",
        "guess-2",
        "guess-3",
    ):
        async with calling(app, bearer=bearer) as client:
            codes.append((await client.get("/api/me")).status_code)
    assert codes == [200, 200, 429, 200, 401, 401, 429]
    async with calling(app, address="10.0.0.9") as client:
        assert (await client.get("/api/me")).status_code == 401


async def test_one_network_of_ipv6_is_one_caller() -> None:
    """Whoever has a /64 has no more than one bucket."""
    app, codes = gate(requests_a_minute=1), []
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"):
        async with calling(app, address=address) as client:
            codes.append((await client.get("/api/me")).status_code)
    assert codes == [401, 429, 401]


async def test_too_many_requests_are_told_when_to_go_on() -> None:
    """429 in the envelope with Retry-After; the page's files are not counted."""
    async with calling(gate(requests_a_minute=1), bearer="the-key-of-ada") as client:
        await client.get("/api/me")
        answer = await client.get("/api/me")
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
        assert answer.json() == {
            "code": 429,
            "status": "error",
            "message": "too many requests: slow down",
            "data": None,
        }
        assert (await client.get("/page/style.css")).status_code == 200


async def chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 1000):
        yield b"x" * 1000


async def test_a_body_is_bounded_however_it_is_sent() -> None:
    """One megabyte passes; more is 413, whether its length is told or it comes in chunks."""
    async with calling(gate(), **{"bearer": "the-key-of-ada", "Content-Type": "application/json"}) as client:
        assert (await client.post("/api/x", content=b"x" * MAX_BODY)).json() == {"bytes": MAX_BODY}
        assert (await client.post("/api/x", content=chunks(MAX_BODY))).json() == {"bytes": MAX_BODY}
        told = await client.post("/api/x", content=b"x" * (MAX_BODY + 1))
        chunked = await client.post("/api/x", content=chunks(MAX_BODY + 1000))
    for answer in (told, chunked):
        assert (answer.status_code, answer.json()["code"]) == (413, 413)
        assert answer.headers["Connection"] == "close"


async def answer_to(app: Gate, *messages: Message) -> list[Message]:
    """What is sent to a client that sends these messages and then nothing, and has not hung up."""
    sent: list[Message] = []
    coming = iter(messages)

    async def receive() -> Message:
        for message in coming:
            return message
        await asyncio.Event().wait()
        raise AssertionError("nothing more comes")

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-length", b"900000"), (b"content-type", b"application/json"), (b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/api/x", "headers": headers, "query_string": b""}
    await app(scope, receive, send)
    return sent


async def test_a_body_that_stops_coming_is_408() -> None:
    """In the envelope, and the connection is closed."""
    app = Gate(echo, Access([]), Buckets(600), body_patience=0.01)
    for messages in ((), ({"type": "http.request", "body": b"{", "more_body": True},)):
        start, body = await answer_to(app, *messages)
        assert (start["status"], (b"connection", b"close") in start["headers"]) == (408, True)
        assert json.loads(body["body"])["code"] == 408


async def test_a_body_that_nobody_reads_keeps_no_connection() -> None:
    """The connection is closed with the answer, a refusal or not; that of a body that was read stays."""

    async def unread(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({})(scope, receive, send)

    whole: Message = {"type": "http.request", "body": b"{}", "more_body": False}
    closes = []
    for app in (gate(), Gate(unread, Access([]), Buckets(600)), Gate(echo, Access([]), Buckets(600))):
        start, _ = await answer_to(app, whole)
        closes.append((start["status"], (b"connection", b"close") in start["headers"]))
    assert closes == [(401, True), (200, True), (200, False)]


async def test_whoever_has_sent_its_body_may_wait() -> None:
    """A route that takes longer than a body may still hears of nothing but a client that hangs up."""

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await receive()
        await JSONResponse({})(scope, receive, send)

    app = Gate(slow, Access([]), Buckets(600), body_patience=0.01)
    start, _ = await answer_to(app, {"type": "http.request", "body": b"{}", "more_body": False})
    assert start["status"] == 200


async def test_the_key_is_looked_at_before_the_body() -> None:
    """401 whatever the body is, and none of it is read; the document takes no key."""

    async def body() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    async with calling(gate()) as client:
        answers = [
            await client.post("/api/questions", content=body()),
            await client.post("/api/questions", content="{", headers={"Authorization": "Bearer wrong"}),
            await client.get("/api/nowhere"),
        ]
        assert (await client.get("/api/openapi.json")).status_code == 200
    assert [answer.status_code for answer in answers] == [401] * 3
    assert answers[0].headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/merge-patch+json", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        ("text/plain; application/json", 415),
        (None, 415),
    ],
)
async def test_a_body_is_json_by_its_content_type(kind: str | None, code: int) -> None:
    """Another, or none, is 415, which says what to send; without a body it does not matter."""
    headers = {"Content-Type": kind} if kind else {}
    async with calling(gate(), bearer="the-key-of-ada") as client:
        assert (await client.post("/api/x", content=b"{}", headers=headers)).status_code == code
        assert (await client.post("/api/x", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("method", "origin", "code"),
    [
        ("POST", None, 200),
        ("POST", "http://127.0.0.1:8080", 200),
        ("POST", "https://desk.example", 200),
        ("POST", "https://evil.example", 403),
        ("DELETE", "null", 403),
        ("PUT", "http://127.0.0.1:9090", 403),
        ("GET", "https://evil.example", 200),
    ],
)
async def test_other_sites_change_nothing(method: str, origin: str | None, code: int) -> None:
    """A request that changes something is refused where a page of another site sends it."""
    async with calling(gate(), bearer="the-key-of-ada") as client:
        answer = await client.request(method, "/api/x", headers={"Origin": origin} if origin else {})
    assert answer.status_code == code
    assert ("Access-Control-Allow-Origin" in answer.headers) == (origin == "https://desk.example")


async def test_a_preflight_is_answered_for_allowed_origins_only() -> None:
    """An allowed page is told methods and headers, another one nothing; CORS is closed where none is allowed."""
    ask = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization, if-match"}
    async with calling(gate()) as client:
        allowed = await client.options("/api/x", headers=ask | {"Origin": "https://desk.example"})
        other = await client.options("/api/x", headers=ask | {"Origin": "https://evil.example"})
    async with calling(gate(Access([]))) as client:
        closed = await client.options("/api/x", headers=ask | {"Origin": "http://localhost:3000"})
    assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (204, "https://desk.example")
    assert "If-Match" in allowed.headers["Access-Control-Allow-Headers"]
    for answer in (other, closed):
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_without_keys_another_host_name_is_refused() -> None:
    """A site whose name is made to point at this machine reads and changes nothing."""
    async with calling(gate(Access([]))) as client:
        assert (await client.get("/api/x")).status_code == 200
        for path in ("/", "/api/x", "/page/style.css"):
            answer = await client.get(path, headers={"Host": "evil.example:8080"})
            assert (answer.status_code, answer.json()["status"]) == (403, "error")


async def test_every_answer_has_the_security_headers() -> None:
    """Answers, refusals and what breaks alike; the API is stored nowhere."""

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("very-secret")

    ada = {"bearer": "the-key-of-ada"}
    async with calling(gate(), **ada) as client, calling(Gate(broken, KEYED, Buckets(600)), **ada) as breaking:
        answers = [
            await client.get("/api/x"),
            await client.post("/api/x", headers={"Origin": "https://evil.example"}),
            await client.get("/page/style.css"),
            await breaking.get("/api/x"),
        ]
    assert [answer.status_code for answer in answers] == [200, 403, 200, 500]
    for answer in answers:
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Permissions-Policy" in answer.headers
    assert [answer.headers["Cache-Control"] for answer in answers] == ["no-store", "no-store", "no-cache", "no-store"]
