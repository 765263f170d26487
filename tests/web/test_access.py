"""Who may do what."""

import hmac
from typing import Any

import pytest

from pipeline.web import Access, Key
from pipeline.web.access import Caller
from pipeline.web.envelope import ApiError
from tests.web.calling import calling, key, without_services

OPEN = Access([])
READER, ADMIN, WRITER = key("reader-of-ada-and-bo", users=["ada", "bo"]), key("admin-of-all", "admin"), "writes-for-ada"
KEYED = Access([READER, ADMIN, key(WRITER, "write", users=["ada"])])


def refused(ask: Any) -> ApiError:
    with pytest.raises(ApiError) as refusal:
        ask()
    return refusal.value


def test_without_keys_the_caller_may_everything() -> None:
    """Nobody is asked for a key where none is set, and a key that is sent all the same does not matter."""
    for header in (None, "Bearer whatever"):
        caller = OPEN.caller(header)
        assert caller == Caller(frozenset({"read", "write", "admin"}), None, is_anonymous=True)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic admin-of-all", "admin-of-all"]
)
def test_without_a_known_key_the_answer_is_401(header: str | None) -> None:
    """A key that is missing, unknown, or sent in another way opens nothing, and the answer says how to send one."""
    refusal = refused(lambda: KEYED.caller(header))
    assert (refusal.code, refusal.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "wrong" not in refusal.message


def test_a_key_is_bound_to_its_scopes_and_users() -> None:
    """A caller has what the key was given, and an administrator reads and writes as well."""
    reader, admin = KEYED.caller("Bearer reader-of-ada-and-bo"), KEYED.caller("bearer  admin-of-all")
    assert reader == Caller(frozenset({"read"}), frozenset({"ada", "bo"}), is_anonymous=False)
    assert admin == Caller(frozenset({"read", "write", "admin"}), None, is_anonymous=False)
    assert reader.may_see("ada")
    assert not reader.may_see("Ada")
    assert admin.may_see("anybody")


def test_every_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever key is sent, as many digests are compared, so that the time tells nothing."""
    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def count(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", count)
    counts = []
    for secret in ("reader-of-ada-and-bo", WRITER, "none of them"):
        compared.clear()
        KEYED.key(f"Bearer {secret}")
        counts.append(len(compared))
        assert all(len(one) == len(other) == 32 for one, other in compared)
    assert counts == [3, 3, 3]


def test_a_secret_is_not_kept() -> None:
    """What is in memory, and in a repr, is the digest alone."""
    assert "reader-of-ada-and-bo" not in repr(vars(KEYED)) + repr(READER)
    assert Key.of("x" * 16, ["read"], None).digest != b"x" * 16


def test_the_user_is_the_one_named_or_the_only_one() -> None:
    """A key of one user need not name it; others must; another's user is none at all."""
    one, two = Caller(frozenset(), frozenset({"ada"}), False), Caller(frozenset(), frozenset({"ada", "bo"}), False)
    anyone = Caller(frozenset(), None, True)
    assert one.user(None) == one.user("ada") == two.user("ada") == anyone.user("ada") == "ada"
    for caller in (two, anyone):
        unnamed = refused(lambda caller=caller: caller.user(None))
        assert (unnamed.code, unnamed.data[0]["field"]) == (422, "query.user_id")
    other = refused(lambda: two.user("eve"))
    assert (other.code, other.message, other.data) == (404, "there is no such user", None)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("127.0.0.1:8080", True),
        ("127.0.0.1", True),
        ("localhost:1", True),
        ("LOCALHOST", True),
        ("[::1]:8080", True),
        ("evil.example:8080", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("192.168.0.7:8080", False),
        ("[::1", False),
        ("evil.com@localhost", False),
        ("localhost/evil.com", False),
        ("localhost:8080:1", False),
        ("", False),
    ],
)
def test_without_keys_the_host_is_a_name_of_this_machine(host: str, is_ours: bool) -> None:
    """A name that an attacker lets point at this machine is refused; with keys any name serves."""
    assert OPEN.accepts_host(host) is is_ours
    assert KEYED.accepts_host(host)


@pytest.mark.parametrize(
    ("origin", "is_ours"),
    [
        ("http://127.0.0.1:8080", True),
        ("https://127.0.0.1:8080", True),
        ("https://desk.example", True),
        ("https://desk.example:444", False),
        ("http://127.0.0.1:9090", False),
        ("http://localhost:8080", False),
        ("https://evil.example", False),
        ("evil://127.0.0.1:8080", False),
        ("127.0.0.1:8080", False),
        ("null", False),
        ("", False),
    ],
)
def test_what_changes_something_comes_from_our_page_or_an_allowed_one(origin: str, is_ours: bool) -> None:
    """Our page is the one under the name by which we are called; others are those that were allowed."""
    access = Access([], origins=["https://desk.example"])
    assert access.accepts_origin(origin, "127.0.0.1:8080") is is_ours
    assert not access.accepts_origin("null", "")


async def test_a_route_asks_for_its_scope_and_any_key_may_ask_what_it_may() -> None:
    """401 without a key and 403 where the scope is missing, before anything is looked up."""
    app = without_services(KEYED)
    async with calling(app) as client:
        answer = await client.get("/api/me")
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    async with calling(app, bearer=WRITER) as client:
        answer = await client.get("/api/me")
        assert answer.json()["data"] == {"scopes": ["write"], "users": ["ada"], "anonymous": False}
        answer = await client.get("/api/user/memory/list")
        assert (answer.status_code, answer.json()["message"]) == (403, "this key has no scope read")
    async with calling(app, bearer="reader-of-ada-and-bo") as client:
        answer = await client.post("/api/questions", json={"text": "hello", "userId": "ada"})
        assert (answer.status_code, answer.json()["message"]) == (403, "this key has no scope write")
