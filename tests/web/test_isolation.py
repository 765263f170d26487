"""One user's key against all that is another's: every route of the OpenAPI document is walked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from schemas.events import QuestionAsked
from tests.web.calling import calling, key
from tests.web.world import World

M = "/api/user/memory"
OWN, READING = "key-of-user-a-alone", "key-that-only-reads"
#: What is the other user's, and what is nobody's.
THEIRS = {"user": "b", "session": "b-talk", "question": "b-talk-q1"}
NOBODYS = {"user": "nobody", "session": "nowhere", "question": "never-asked", "feature": "no-such-feature"}


@dataclass(frozen=True)
class Attempt:
    """A request in whose query, path and body the names in braces stand for ids."""

    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    code: int = 404


_SESSION, _USER = {"session_id": "{session}"}, {"user_id": "{user}"}
_OF_A_SESSION = [Attempt(_SESSION), Attempt(_SESSION | {"user_id": "a"}), Attempt(_SESSION | _USER), Attempt(_USER)]
_ANY = {"If-Match": "*"}
_CHANGE = {"value": "stolen"}
#: Every operation, and what of another's it could be asked for.
ATTEMPTS: dict[tuple[str, str], list[Attempt]] = {
    ("GET", "/api/conversations"): [
        Attempt(_USER),
        Attempt({"before": "2027-01-01T00:00:00Z", "before_id": "{session}"}, code=200),
        Attempt({"before": "2027-01-01T00:00:00Z", "before_id": "{session}", "before_user": "{user}"}),
    ],
    ("GET", f"{M}/conversation"): _OF_A_SESSION,
    ("GET", f"{M}/track"): _OF_A_SESSION,
    ("GET", f"{M}/latest"): _OF_A_SESSION,
    ("GET", f"{M}/guidance"): _OF_A_SESSION,
    ("GET", f"{M}/summary"): _OF_A_SESSION,
    ("GET", f"{M}/list"): [Attempt(_USER), Attempt({"after": "{feature}"}, code=422)],
    ("POST", f"{M}/add"): [Attempt(_USER, {"slot": "milk", **_CHANGE})],
    ("PUT", M + "/{feature_id}"): [
        Attempt({}, _CHANGE, _ANY),
        Attempt({}, _CHANGE, {"If-Match": '"1"'}),
        Attempt(_USER, _CHANGE, _ANY),
        Attempt({}, _CHANGE, code=428),
    ],
    ("DELETE", M + "/delete/{feature_id}"): [Attempt(), Attempt(_USER), Attempt({}, None, {"If-Match": '"7"'})],
    ("GET", f"{M}/profile"): [Attempt(_USER)],
    ("POST", f"{M}/correct"): [
        Attempt(_SESSION, {"identities": ["thief"]}),
        Attempt(_SESSION | _USER, {"identities": ["thief"]}),
    ],
    ("POST", f"{M}/delete"): [Attempt(_SESSION), Attempt(_SESSION | _USER)],
    ("POST", f"{M}/forget"): [
        Attempt(_SESSION),
        Attempt(_SESSION | {"user_id": "a"}),
        Attempt(_SESSION | _USER),
        Attempt(_USER, code=403),
    ],
    ("POST", "/api/questions"): [
        Attempt({}, {"text": "hello", "conversationId": "{session}"}, code=202),
        Attempt({}, {"text": "hello", "conversationId": "{session}", "questionId": "{question}"}, code=202),
        Attempt({}, {"text": "hello", "userId": "{user}"}),
    ],
    ("GET", "/api/answers/{question_id}"): [Attempt(), Attempt(_SESSION), Attempt(_SESSION | _USER)],
    ("GET", "/api/events"): [Attempt(_SESSION | {"within": "1"}, code=200), Attempt(_SESSION | _USER)],
    ("GET", "/api/me"): [Attempt(code=200)],
}


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    """The same with ids in the place of their names."""
    if isinstance(value, Mapping):
        return {name: filled(one, ids) for name, one in value.items()}
    return value.format_map(ids) if isinstance(value, str) else value


async def tried(client: httpx.AsyncClient, route: tuple[str, str], attempt: Attempt, ids: Mapping[str, str]) -> Any:
    """The status, the body without the ids that were sent, and which headers an attempt is answered with."""
    method, path = route
    url = path.format(feature_id=ids["feature"], question_id=ids["question"])
    query, body = filled(attempt.query, ids), filled(attempt.body, ids)
    answer = await client.request(method, url, params=query, json=body, headers=attempt.headers)
    said = answer.text
    if route == ("POST", "/api/questions") and answer.status_code == 202:
        said = str(answer.json()["data"].keys()) + answer.json()["message"]
    return answer.status_code, said, sorted(answer.headers)


@pytest.fixture
async def theirs(world: World) -> Mapping[str, str]:
    """The ids of all that user b has; user a has as much."""
    for user in ("a", "b"):
        await world.talked(user)
        feature = await world.knows(user, "milk", f"milk of {user}")
    return THEIRS | {"feature": feature}


def app_of(world: World) -> Any:
    return world.app(key(OWN, "read", "write", users=["a"]), key(READING, "read"))


def test_every_route_is_known_here(world: World) -> None:
    """A route that is added has to say what of another's it could be asked for."""
    paths = app_of(world).openapi()["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == set(ATTEMPTS)


@pytest.mark.parametrize("route", ATTEMPTS, ids=" ".join)
async def test_what_is_anothers_answers_as_what_does_not_exist(
    world: World, theirs: Mapping[str, str], route: tuple[str, str]
) -> None:
    """The same status and body, byte for byte, and nothing of theirs is published, told or changed."""
    names = ("conversations", "messages", "role_tracks", "user_features", "user_profiles")
    before = [await world.here.documents(name) for name in names]
    async with calling(app_of(world), bearer=OWN) as client:
        for attempt in ATTEMPTS[route]:
            found = await tried(client, route, attempt, theirs)
            assert found == await tried(client, route, attempt, NOBODYS)
            assert found[0] == attempt.code
            assert "milk of b" not in found[1]
            assert "b-talk" not in found[1]
    assert world.worker.commands == []
    assert {event.user_id for event in world.worker.published if isinstance(event, QuestionAsked)} <= {"a"}
    assert [await world.here.documents(name) for name in names] == before


@pytest.mark.parametrize("route", [route for route in ATTEMPTS if route[0] != "GET"], ids=" ".join)
async def test_a_key_that_only_reads_changes_nothing(
    world: World, theirs: Mapping[str, str], route: tuple[str, str]
) -> None:
    """403, be the thing there or not, and nothing is published."""
    async with calling(app_of(world), bearer=READING) as client:
        for attempt in ATTEMPTS[route]:
            for ids in (theirs, NOBODYS):
                assert (await tried(client, route, attempt, ids))[0] == 403
    assert world.worker.published == []


@pytest.mark.parametrize("route", ATTEMPTS, ids=" ".join)
@pytest.mark.parametrize("secret", ["", "a-key-that-nobody-has"])
async def test_without_a_key_nothing_is_told(
    world: World, theirs: Mapping[str, str], route: tuple[str, str], secret: str
) -> None:
    """401, be the thing there or not."""
    async with calling(app_of(world), bearer=secret) as client:
        for attempt in ATTEMPTS[route]:
            found = await tried(client, route, attempt, theirs)
            assert found == await tried(client, route, attempt, NOBODYS)
            assert found[0] == 401


async def test_a_list_holds_the_callers_own_alone(world: World, theirs: Mapping[str, str]) -> None:
    """The conversations that a key's lists name are those of its users."""
    async with calling(app_of(world), bearer=OWN) as client:
        listed = (await client.get("/api/conversations")).json()["data"]
    assert [one["conversationId"] for one in listed] == ["a-talk"]
