"""What every test may use: a broker and a database for the whole run, and names that no other test has."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from pipeline.adapters.embedded import Services, embedded_services

RUNNING_BROKER = os.environ.get("ROLESTREAM_TEST_BROKER", "")
RUNNING_MONGO = os.environ.get("ROLESTREAM_TEST_MONGO", "")


@dataclass(frozen=True)
class Names:
    """A topic prefix and a database that are one test's own; make another one where a test needs two."""

    unique: str = field(default_factory=lambda: uuid4().hex[:12])

    @property
    def topic_prefix(self) -> str:
        return f"test-{self.unique}."

    @property
    def database(self) -> str:
        return f"test-{self.unique}"


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    """The embedded services, or the running ones that ROLESTREAM_TEST_BROKER and ROLESTREAM_TEST_MONGO name."""
    if RUNNING_BROKER and RUNNING_MONGO:
        yield Services(RUNNING_BROKER, RUNNING_MONGO, ())
        return
    # A loop of its own, so that it outlives those of the tests and is nobody's current one.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        context = embedded_services()
        embedded = runner.run(context.__aenter__())
        try:
            yield Services(RUNNING_BROKER or embedded.brokers, RUNNING_MONGO or embedded.mongo_url, embedded.children)
        finally:
            runner.run(context.__aexit__(None, None, None))


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set on the developer's machine, a model's key above all, is not what the tests mean."""
    for name in [name for name in os.environ if name.startswith(("ROLESTREAM_", "OPENAI_"))]:
        monkeypatch.delenv(name)
