"""A world of its own for each test."""

from collections.abc import AsyncIterator

import pytest

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.web.world import World, world_of


@pytest.fixture
async def world(services: Services, names: Names) -> AsyncIterator[World]:
    async with world_of(services, names) as world:
        yield world
