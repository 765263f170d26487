"""What stands before the routes: whose page is asking, how often, how much, and the headers of every answer."""

import asyncio
import logging
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.web.access import Access
from pipeline.web.envelope import ApiError

log = logging.getLogger(__name__)

#: The largest body, in bytes.
MAX_BODY = 1_000_000
#: Seconds in which some of a body has to come.
BODY_PATIENCE = 30
#: How many callers' buckets are kept, those that were used last.
MAX_BUCKETS = 10_000

#: Where the OpenAPI document is, which everybody may read.
DOCUMENT = "/api/openapi.json"
_JSON = re.compile(r"\s*application/([\w.-]+\+)?json\s*(;.*)?", re.IGNORECASE)
_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, If-None-Match",
    "Access-Control-Max-Age": "600",
}
#: Of every answer.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Buckets:
    """A token bucket for each caller, that fills up in a minute; `clock` is in seconds."""

    def __init__(self, requests_a_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = requests_a_minute, clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, caller: Hashable) -> float:
        """Take a token: 0, or the seconds until there is one."""
        now = self._clock()
        tokens, then = self._buckets.get(caller, (self._size, now))
        tokens = min(self._size, tokens + (now - then) * self._size / 60)
        enough = tokens >= 1
        self._buckets[caller] = (tokens - enough, now)
        self._buckets.move_to_end(caller)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0 if enough else (1 - tokens) * 60 / self._size


class TooLarge(HTTPException):
    """Raised while a route reads its body, through which the framework lets no other error pass unchanged."""

    def __init__(self) -> None:
        super().__init__(413, f"the body is larger than {MAX_BODY} bytes")


class TooSlow(HTTPException):
    """Raised as TooLarge is."""

    def __init__(self) -> None:
        super().__init__(408, "the body stopped coming: send it at once")


class _Body:
    """A request's body, which fails once it is too large, however it is sent, and where no more of it comes."""

    def __init__(self, receive: Receive, is_there: bool, patience: float | None) -> None:
        self._receive, self._patience, self._size = receive, patience, 0
        self.is_read = not is_there

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(None if self.is_read else self._patience):
                message = await self._receive()
        except TimeoutError as exc:
            raise TooSlow from exc
        self.is_read = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        if self._size > MAX_BODY:
            raise TooLarge
        return message


class Gate:
    """Lets a request through to the routes, or answers it with what is wrong; sets the headers of both."""

    def __init__(self, app: ASGIApp, access: Access, buckets: Buckets, *, body_patience: float = BODY_PATIENCE) -> None:
        self._app, self._access, self._buckets = app, access, buckets
        self._body_patience = body_patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begun = Headers(scope=scope), False
        origin = headers.get("Origin", "")
        patience = None if scope["method"] in _CHANGES_NOTHING else self._body_patience  # no route waits for it
        body = _Body(receive, _has_body(headers), patience)

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, told = True, MutableHeaders(scope=message)
                self._dress(told, scope["path"], origin)
                if not body.is_read:  # nobody will
                    told["Connection"] = "close"
            await send(message)

        try:
            if (early := self._preflight(scope["method"], headers)) is not None:
                await early(scope, receive, dressed)
                return
            self._refuse(scope, headers)
            await self._app(scope, body.receive, dressed)
        except ApiError as exc:
            await exc.response()(scope, receive, dressed)
        except (TooLarge, TooSlow) as exc:
            await ApiError(exc.status_code, exc.detail).response()(scope, receive, dressed)
        except Exception:
            log.exception("%s %r failed", scope["method"], scope["path"], extra={"action": "request_failed"})
            if not begun:  # else the server sees an answer without an end, and hangs up
                await ApiError(500, "internal error").response()(scope, receive, dressed)

    def _preflight(self, method: str, headers: Headers) -> Response | None:
        if method != "OPTIONS" or "Access-Control-Request-Method" not in headers:
            return None
        if not self._access.allows_origin(headers.get("Origin", "")):
            raise ApiError(403, "pages of this origin may not use the API: name it in ROLESTREAM_API__CORS_ORIGINS")
        return Response(status_code=204, headers=_PREFLIGHT)

    def _refuse(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("Host", "")
        if not self._access.accepts_host(host):
            raise ApiError(403, "this is not a name of this server: without keys it answers as localhost alone")
        if scope["path"].startswith("/api/") and (seconds := self._buckets.wait(self._who(scope, headers))):
            raise ApiError(
                429, "too many requests: slow down", headers={"Retry-After": str(max(1, math.ceil(seconds)))}
            )
        origin = headers.get("Origin")
        if scope["method"] not in _CHANGES_NOTHING and origin and not self._access.accepts_origin(origin, host):
            raise ApiError(403, "pages of this origin may change nothing: name it in ROLESTREAM_API__CORS_ORIGINS")
        if scope["path"].startswith("/api/") and scope["path"] != DOCUMENT:
            self._access.caller(headers.get("Authorization"))
        length = headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > MAX_BODY:
            raise TooLarge
        if _has_body(headers) and not _JSON.fullmatch(headers.get("Content-Type", "")):
            raise ApiError(415, "the body is taken as JSON alone: send Content-Type: application/json")

    def _who(self, scope: Scope, headers: Headers) -> Hashable:
        """The key, where it is one; else the address, so that made-up keys get no buckets of their own."""
        key = self._access.key(headers.get("Authorization"))
        return key.digest if key else _neighbourhood((scope.get("client") or ("", 0))[0])

    def _dress(self, headers: MutableHeaders, path: str, origin: str) -> None:
        for name, value in HEADERS.items():
            headers[name] = value
        headers["Cache-Control"] = "no-store" if path.startswith("/api/") else "no-cache"
        if self._access.allows_origin(origin):
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "ETag, Link, Retry-After"
        headers.add_vary_header("Origin")


def _has_body(headers: Headers) -> bool:
    return headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in headers


def _neighbourhood(address: str) -> str:
    """The address, of IPv6 the /64 that one caller has to itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else address
