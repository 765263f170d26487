"""Calling an application without a network."""

from collections.abc import Sequence
from typing import Any, cast

import httpx
from fastapi import FastAPI

from pipeline.web import Access, Hub, Key, WebParts, application
from pipeline.web.access import Scope

HOST = "127.0.0.1:8080"


def key(secret: str, *scopes: Scope, users: Sequence[str] | None = None) -> Key:
    return Key.of(secret, scopes or ("read",), users)


def without_services(access: Access, *, requests_a_minute: int = 600) -> FastAPI:
    """An application whose services nothing may ask."""
    nothing = cast(Any, None)
    return application(WebParts(nothing, nothing, nothing, Hub(), nothing), access, requests_a_minute=requests_a_minute)


def calling(app: Any, *, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client at an address; `bearer` is its key."""
    if secret := headers.pop("bearer", None):
        headers["Authorization"] = f"Bearer {secret}"
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=(address, 1)), base_url=f"http://{HOST}", headers=headers
    )
