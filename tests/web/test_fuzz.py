"""Whatever the OpenAPI document allows, and whatever it does not, is answered as the document says."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.web.calling import calling, key
from tests.web.test_isolation import ATTEMPTS
from tests.web.world import World, world_of

SECRET = "key-of-an-administrator"
EXAMPLES = 50

load_all_checks()
_CHECKS: Any = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
    ]
)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """A loop that Hypothesis' examples, which are no coroutines, run on."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        yield runner


@pytest.fixture
def world(runner: asyncio.Runner, services: Services, names: Names) -> Iterator[World]:
    context = world_of(services, names)
    yield runner.run(context.__aenter__())
    runner.run(context.__aexit__(None, None, None))


def without_keys(app: FastAPI) -> dict[str, Any]:
    """The document of operations that take no key, for the caller has one."""
    document = app.openapi()
    for operation in (one for methods in document["paths"].values() for one in methods.values()):
        operation.pop("security")
    return document


async def seeded(world: World) -> Mapping[str, Mapping[str, str]]:
    """One user's everything, and what of it each parameter may name."""
    await world.talked("u", turns=3)
    feature = await world.knows("u", "milk", "oat")
    path = {"feature_id": feature, "question_id": "u-talk-q1"}
    return {"path": path, "query": {"session_id": "u-talk", "user_id": "u"}, "headers": {"If-Match": "*"}}


def with_seeds(case: Case[Any], seeds: Mapping[str, Mapping[str, str]]) -> None:
    """Name what is there in the place of what was made up."""
    known = {parameter.name for parameter in case.operation.iter_parameters()}
    for given_ones, names in ((case.path_parameters, "path"), (case.query, "query"), (case.headers, "headers")):
        given_ones.update({name: value for name, value in seeds[names].items() if name in known})
    for cursor in ("before", "before_id", "before_user", "after"):
        case.query.pop(cursor, None)
    if case.operation.path == "/api/questions" and isinstance(case.body, dict):
        case.body |= {"text": "hello", "userId": "u"}


async def called(client: httpx.AsyncClient, case: Case[Any]) -> httpx.Response:
    sent: dict[str, Any] = case.as_transport_kwargs(base_url=str(client.base_url))
    sent = {name: sent[name] for name in ("method", "url", "params", "headers", "json", "data") if sent.get(name)}
    content = sent.pop("data", None)
    return await client.request(**sent, content=content)


@pytest.mark.parametrize("route", ATTEMPTS, ids=" ".join)
def test_every_answer_is_in_the_document(runner: asyncio.Runner, world: World, route: tuple[str, str]) -> None:
    """No 5xx, no status, header or body outside of it, nothing wrong accepted; and every operation succeeds."""
    app = world.app(key(SECRET, "admin"))
    seeds = runner.run(seeded(world))
    operation: Any = schemathesis.openapi.from_dict(without_keys(app))[route[1]][route[0]]
    codes = set[int]()
    is_stream = route[1] == "/api/events"

    @seed(7)
    @settings(
        max_examples=3 if is_stream else EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def examples(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
        case = data.draw(operation.as_strategy(generation_mode=mode))
        if mode == GenerationMode.POSITIVE and data.draw(st.booleans()):
            with_seeds(case, seeds)
        if is_stream and mode == GenerationMode.POSITIVE:
            case.query["within"] = 1

        async def call() -> httpx.Response:
            async with calling(app, bearer=SECRET) as client:
                return await called(client, case)

        answer = runner.run(call())
        codes.add(answer.status_code)
        case.validate_response(answer, checks=_CHECKS)

    examples()
    assert any(200 <= code < 300 for code in codes), codes
