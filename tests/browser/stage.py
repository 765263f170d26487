"""What the page is driven on: the HTTP API without and with keys, a worker, and conversations that have been held."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx

from pipeline import bootstrap
from pipeline.adapters.embedded import Services
from pipeline.api import serve_api
from pipeline.settings import Settings
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working
from tests.integration.test_forgetting import drained

ADA, BO = "the-key-of-ada-1", "the-key-of-bob-1"
KEYS = json.dumps(
    [
        {"key": ADA, "scopes": ["read", "write"], "users": ["ada"]},
        {"key": BO, "scopes": ["read", "write"], "users": ["bo"]},
    ]
)
#: A role that comes, is interrupted for one turn, and gives way to another.
WARD = [
    "I am a nurse on a night ward. How do I write a handover note?",
    "In more detail please: which doses do I put into the handover for the ward round?",
    "Hello!",
    "Different thing, just this once and keep it short: my sourdough crumb is gummy, is the dough underbaked?",
    "Back to the ward. How do I write down the vital signs of a patient at shift change? Show me an example.",
    "I always prefer metric units, and I take my coffee without milk. How do I convert a dose?",
    "News: from Monday I am a maths teacher, I left nursing for good. How do I plan the first lesson for year 8?",
    "Compare two ways of classroom management for my new class: a seating chart and a points system.",
]
KITCHEN = ["我是厨师，开了一家小餐馆。红烧肉怎么做才不腻？", "我喜欢低糖的菜。请简短一点：麻婆豆腐怎么调味？"]


@dataclass(frozen=True)
class Stage:
    """The addresses without and with keys; `talk` holds a conversation."""

    address: str
    keyed_address: str
    client: httpx.AsyncClient

    async def talk(self, conversation: str, user: str, *questions: str) -> None:
        """Ask in order, and wait until each has been answered, so that the turns are in this order."""
        for text in questions:
            wish = {"conversationId": conversation, "userId": user, "text": text}
            asked = await self.client.post("/api/questions", json=wish)
            assert asked.status_code == 202, asked.text
            path = f"/api/answers/{asked.json()['data']['questionId']}"
            async with asyncio.timeout(60):
                while (await self.client.get(path, params={"session_id": conversation})).status_code != 200:
                    await asyncio.sleep(0.02)

    async def add(self, user: str, slot: str, value: str) -> None:
        added = await self.client.post(
            "/api/user/memory/add", params={"user_id": user}, json={"slot": slot, "value": value}
        )
        assert added.status_code == 201, added.text

    async def edit(self, user: str, slot: str, value: str) -> None:
        """Another client's edit, of the version that is there."""
        feature = (await self.features(user))[slot]
        version = {"If-Match": f'"{feature["version"]}"'}
        path = f"/api/user/memory/{feature['featureId']}"
        edited = await self.client.put(path, params={"user_id": user}, json={"value": value}, headers=version)
        assert edited.status_code == 200, edited.text

    async def features(self, user: str) -> dict[str, dict[str, object]]:
        """What is kept about a user, by slot."""
        listed = await self.client.get("/api/user/memory/list", params={"user_id": user})
        return {feature["slot"]: feature for feature in listed.json()["data"]}


@asynccontextmanager
async def staged(services: Services, names: Names) -> AsyncIterator[Stage]:
    """A stage on which ada's ward and bo's kitchen have been talked about."""
    settings = settings_for(services, names, api={"port": 0, "requests_a_minute": 100_000})
    keyed = settings_for(services, names, api={"port": 0, "requests_a_minute": 100_000, "keys": KEYS})
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(deployed(settings))
        await stack.enter_async_context(working(settings))
        address = await stack.enter_async_context(_serving(settings))
        keyed_address = await stack.enter_async_context(_serving(keyed))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60))
        stage = Stage(address, keyed_address, client)
        await asyncio.gather(stage.talk("ward", "ada", *WARD), stage.talk("kitchen", "bo", *KITCHEN))
        await stage.add("ada", "tea", "green, in the morning")
        await drained(settings)  # what lasts and the summaries are kept beside the answers, maybe later
        yield stage


@asynccontextmanager
async def _serving(settings: Settings) -> AsyncIterator[str]:
    """The HTTP API in this process; its address."""
    stop, address = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_api(settings, stop.wait, address.set_result))
    try:
        await bootstrap.first_of(address, asyncio.shield(serving))
        yield address.result()
    finally:
        stop.set()
        await serving
