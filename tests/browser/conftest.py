"""One browser and one stage for all tests here, and a visit of its own for each."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from pipeline.adapters.embedded import Services
from tests.browser.stage import Stage, staged
from tests.browser.visiting import Visit, chromium, visiting
from tests.conftest import Names


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here run in the loop of the browser and of the stage."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage(services: Services) -> AsyncIterator[Stage]:
    with pytest.MonkeyPatch.context() as outside:
        for name in [name for name in os.environ if name.startswith(("ROLESTREAM_", "OPENAI_"))]:
            outside.delenv(name)
        async with staged(services, Names()) as stage:
            yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, stage: Stage) -> AsyncIterator[Visit]:
    async with visiting(browser, stage.address) as visit:
        yield visit
