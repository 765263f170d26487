"""What the routes work with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from pipeline.ports import Clock, FeatureStore, Publisher, Store
from pipeline.web.hub import Hub


@dataclass(frozen=True)
class WebParts:
    store: Store
    features: FeatureStore
    publisher: Publisher
    hub: Hub
    clock: Clock


async def _parts(request: Request) -> WebParts:
    parts: WebParts = request.app.state.parts
    return parts


PartsOf = Annotated[WebParts, Depends(_parts)]
