"""Who may do what: keys, what they are bound to, and the dependencies by which routes ask."""

import hmac
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from typing import Annotated, Literal

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from pipeline.web.envelope import ApiError, FieldError, no_user, wrong_fields
from schemas.wire import UserId

Scope = Literal["read", "write", "admin"]
_ALL: frozenset[Scope] = frozenset({"read", "write", "admin"})
_HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(:[0-9]{1,5})?")


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


@dataclass(frozen=True)
class Key:
    """What a secret opens; the secret itself is not kept."""

    digest: bytes
    scopes: frozenset[Scope]
    users: frozenset[str] | None
    """None: every user."""

    @classmethod
    def of(cls, secret: str, scopes: Collection[Scope], users: Collection[str] | None) -> "Key":
        granted = _ALL if "admin" in scopes else frozenset(scopes)
        return cls(_digest(secret), granted, None if users is None else frozenset(users))


@dataclass(frozen=True)
class Caller:
    scopes: frozenset[Scope]
    users: frozenset[str] | None
    """None: every user."""
    is_anonymous: bool

    def may_see(self, user_id: str, wanted: str | None = None) -> bool:
        """Whether what is of a user may be shown, where only a wanted one's is asked for."""
        return (self.users is None or user_id in self.users) and wanted in (None, user_id)

    def user(self, user_id: str | None) -> UserId:
        """The user that is meant: the one that is named, else the caller's only one."""
        if user_id is None:
            if self.users is None or len(self.users) != 1:
                raise wrong_fields(FieldError(field="query.user_id", message="say whose: the key is not one user's"))
            return UserId(next(iter(self.users)))
        if not self.may_see(user_id):
            raise no_user()
        return UserId(user_id)


class Access:
    """Knows the keys. Without any, whoever calls from this machine, under one of our own names, may everything."""

    def __init__(self, keys: Sequence[Key], origins: Collection[str] = ()):
        self._keys, self._origins = tuple(keys), frozenset(origins)

    def key(self, authorization: str | None) -> Key | None:
        """The key of an Authorization header; every one is compared, so that the time taken tells nothing."""
        scheme, _, secret = (authorization or "").partition(" ")
        digest, found = _digest(secret.strip()), None
        for key in self._keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found if scheme.lower() == "bearer" else None

    def caller(self, authorization: str | None) -> Caller:
        if not self._keys:
            return Caller(_ALL, None, is_anonymous=True)
        if (key := self.key(authorization)) is None:
            what = "is not known" if authorization else "is missing"
            raise ApiError(
                401, f"the key {what}: send Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
            )
        return Caller(key.scopes, key.users, is_anonymous=False)

    def accepts_host(self, host: str) -> bool:
        """Whether a request under that Host header is meant for us, and no name that others let point here."""
        return bool(self._keys) or _name(host) == "localhost" or _is_loopback(_name(host))

    def accepts_origin(self, origin: str, host: str) -> bool:
        """Whether a page of that origin may change something: ours, as the Host header names us, or an allowed one."""
        scheme, _, name = origin.lower().partition("://")
        return self.allows_origin(origin) or (scheme in ("http", "https") and name == host.lower() != "")

    def allows_origin(self, origin: str) -> bool:
        """Whether a page of another origin may read our answers."""
        return origin in self._origins


def _name(host: str) -> str:
    """The name of a Host header, without its port."""
    found = _HOST.fullmatch(host.lower())
    return (found["address"] or found["name"]) if found else ""


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


_bearer = HTTPBearer(auto_error=False, description="One of the keys of ROLESTREAM_API__KEYS.")


def _with_scope(scope: Scope | None) -> Callable[..., Awaitable[Caller]]:
    async def caller(
        request: Request, documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
    ) -> Caller:
        access: Access = request.app.state.access
        found = access.caller(request.headers.get("Authorization"))
        if scope is not None and scope not in found.scopes:
            raise ApiError(403, f"this key has no scope {scope}")
        return found

    return caller


reads, writes = _with_scope("read"), _with_scope("write")
Anyone = Annotated[Caller, Depends(_with_scope(None))]
Reader = Annotated[Caller, Depends(reads)]
Writer = Annotated[Caller, Depends(writes)]
