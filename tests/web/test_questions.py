"""Questions asked over HTTP, their answers, and the events of a conversation as they are told."""

import asyncio
import json
from typing import Any

import pytest

from pipeline.errors import Outage
from pipeline.web.access import Caller
from pipeline.web.hub import Stream
from pipeline.web.streaming import EventStream, told
from schemas.events import AnswerReady, QuestionAsked, ReportReady
from schemas.wire import Wire
from tests.processors.factories import guidance, turn
from tests.web.calling import calling, key
from tests.web.world import NOW, World, is_heard, of, refused

OWN, MANY = "own-key-of-the-user", "key-of-two-users"
ANYBODY = Caller(frozenset({"read"}), None, is_anonymous=True)


def app_of(world: World) -> Any:
    return world.app(key(OWN, "read", "write", users=["u"]), key(MANY, "read", "write", users=["u", "v"]))


def events_in(text: str) -> list[dict[str, str]]:
    """The events of a stream, without its comments."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


async def test_a_question_is_published_under_the_ids_that_are_told(world: World) -> None:
    """The conversation, user, id and time that it does not name are filled in; 202, for no more is known."""
    async with calling(app_of(world), bearer=OWN) as client:
        told = await client.post("/api/questions", json={"text": "hello", "mode": "report", "metadata": {"a": [1]}})
    (question,) = world.worker.published
    assert isinstance(question, QuestionAsked)
    assert (told.status_code, of(told)) == (
        202,
        {"questionId": question.question_id, "conversationId": "__default__", "userId": "u"},
    )
    assert (question.mode, question.asked_at, question.metadata) == ("report", NOW, {"a": [1]})


async def test_a_question_that_kafka_does_not_confirm_can_be_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with the id that makes it the same question, for it may be taken all the same, and so it is known."""

    async def publish(event: Wire, headers: object) -> None:
        raise Outage("Kafka did not confirm")

    monkeypatch.setattr(world.worker, "publish", publish)
    async with calling(app_of(world), bearer=OWN) as client:
        answer = await client.post("/api/questions", json={"text": "hello", "questionId": "q"})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "ask again with questionId q" in answer.json()["message"]
        assert (await client.get("/api/answers/q")).status_code == 202


async def test_a_question_keeps_the_ids_that_it_names(world: World) -> None:
    """Asked again under its own id it is the same question."""
    body = {"text": "hello", "questionId": "q", "conversationId": "c", "userId": "v", "askedAt": "2026-01-01T00:00:00Z"}
    async with calling(app_of(world), bearer=MANY) as client:
        assert of(await client.post("/api/questions", json=body)) == {
            "questionId": "q",
            "conversationId": "c",
            "userId": "v",
        }


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ('{"text": ""}', "body.text"),
        ('{"text": "a\\u0000b"}', "body.text"),
        ('{"text": "\\ud800"}', "body.text"),
        ('{"text": "hello", "conversationId": "a\\nb"}', "body.conversationId"),
        ('{"text": "hello", "conversationId": "' + "x" * 10_000 + '"}', "body.conversationId"),
        ('{"text": "hello", "questionId": "\\ud800"}', "body.questionId"),
        ('{"text": "hello", "userId": 5}', "body.userId"),
        ('{"text": "hello", "conversationid": "c"}', "body.conversationid"),
        ('{"text": "hello", "metadata": {"a": "\\ud800"}}', "body.metadata"),
        ('{"text": "hello", "metadata": {"\\ud800": 1}}', "body.metadata"),
        ('{"text": "hello", "metadata": {"a": NaN}}', "body.metadata"),
        ('{"text": "hello", "metadata": {"a": 1e999}}', "body.metadata"),
        ('{"text": "hello", "metadata": {"a": ' + "[" * 500 + "]" * 500 + "}}", "body.metadata"),
        ('{"text": "hello", "askedAt": 1777636800}', "body.askedAt"),
        ('{"text": "hello", "askedAt": "1777636800"}', "body.askedAt"),
        ('{"text": "hello", "askedAt": "9999-12-31T23:59:59-12:00"}', "body.askedAt"),
    ],
)
async def test_an_odd_question_is_told_by_its_field(world: World, content: str, field: str) -> None:
    """422 with the field's name on the wire, and nothing is published."""
    async with calling(app_of(world), bearer=OWN) as client:
        answer = await client.post("/api/questions", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert [wrong["field"] for wrong in answer.json()["data"]] == [field]
    assert world.worker.published == []


async def test_a_key_of_several_users_has_to_say_whose(world: World) -> None:
    """422 names the field of the body; a user that the key is not bound to does not exist."""
    async with calling(app_of(world), bearer=MANY) as client:
        unnamed = await client.post("/api/questions", json={"text": "hello"})
        anothers = await client.post("/api/questions", json={"text": "hello", "userId": "w"})
    assert [wrong["field"] for wrong in unnamed.json()["data"]] == ["body.userId"]
    assert (anothers.status_code, anothers.json()["message"]) == (404, "there is no such user")
    assert world.worker.published == []


async def test_an_answer_is_awaited_and_read(world: World) -> None:
    """404 before it is asked, 202 from then on, before and after it is a turn, and 200 once there is an answer."""
    url = "/api/answers/c-q1?session_id=c"
    async with calling(app_of(world), bearer=OWN) as client:
        assert (await client.get(url)).status_code == 404
        await client.post("/api/questions", json={"text": "hello", "questionId": "c-q1", "conversationId": "c"})
        pending = await client.get(url)
        assert (pending.status_code, of(pending)) == (202, None)
        await world.asked("u", "c", 1)
        assert (await client.get(url)).status_code == 202
        event = await world.answered("u", "c", 1)
        assert of(await client.get(url)) == json.loads(event.to_json())


async def test_a_question_that_is_only_learnt_from_has_no_answer(world: World) -> None:
    """200 with nothing once it is a turn, for nobody will answer it; what its asker took in as its answer is read."""
    await world.asked("u", "c", 1, event=turn(1, mode="log").to_json().decode())
    async with calling(app_of(world), bearer=OWN) as client:
        answer = await client.get("/api/answers/c-q1?session_id=c")
        assert (answer.status_code, of(answer)) == (200, None)
        assert answer.json()["message"] == "it was only learnt from: no answer is written"
        await world.answered("u", "c", 1)
        assert of(await client.get("/api/answers/c-q1?session_id=c"))["text"] == "Wash your hands."


async def test_a_question_that_another_process_published_is_known_as_a_turn(world: World) -> None:
    """What was not asked here is 202 once it is stored, and 200 once it is answered."""
    await world.asked("u", "c", 1)
    async with calling(app_of(world), bearer=OWN) as client:
        assert (await client.get("/api/answers/c-q1?session_id=c")).status_code == 202
        assert (await client.get("/api/answers/c-q1?session_id=other")).status_code == 404


async def test_reports_and_failures_are_answers_too(world: World) -> None:
    """A report comes with its parts, a failed answer with its reason; the answer of a client's own model as text."""
    await world.asked("u", "c", 1)
    await world.answered("u", "c", 1, text="", status="failed", reason="the model is away")
    fields = {"conversationId": "d", "userId": "u", "questionId": "d-q1", "text": "# R", "title": "R", "overview": "o"}
    report = ReportReady.model_validate(fields)
    await world.asked("u", "d", 1)
    await world.answered("u", "d", 1)
    change = {"$set": {"event": report.to_json().decode()}}
    await world.here.database["messages"].update_one({"_id": "d:1:ASSISTANT"}, change)
    await world.asked("u", "e", 1)
    await world.answered("u", "e", 1)
    await world.here.database["messages"].update_one({"_id": "e:1:ASSISTANT"}, {"$set": {"event": None}})
    async with calling(app_of(world), bearer=OWN) as client:
        failed = of(await client.get("/api/answers/c-q1?session_id=c"))
        reported = of(await client.get("/api/answers/d-q1?session_id=d"))
        own = of(await client.get("/api/answers/e-q1?session_id=e"))
    assert (failed["status"], failed["reason"]) == ("failed", "the model is away")
    assert reported == json.loads(report.to_json())
    assert (own["text"], own["turn"], own["cost"]["calls"]) == ("Wash your hands.", 1, 0)


async def test_an_id_with_slashes_is_found(world: World) -> None:
    """An id may hold whatever a path may hold when it is quoted."""
    await world.asked("u", "c", 1, questionId="a/b?c", messageId="a/b?c")
    async with calling(app_of(world), bearer=OWN) as client:
        assert (await client.get("/api/answers/a%2Fb%3Fc?session_id=c")).status_code == 202


async def test_a_refused_question_is_told_with_its_reason(world: World) -> None:
    """409 for who asked it; that a conversation is another's is told as little as that it is there."""
    world.hub.note_asked("q", "c", "u")
    world.hub.note_asked("q", "theirs", "u")
    world.hub.hear(refused("u", "c", "q", "sources and metadata: send less"))
    world.hub.hear(refused("u", "theirs", "q", "conversationId: it belongs to another user"))
    app = world.app(key(OWN, "read", users=["u"]), key("o" * 16, "read", users=["v"]))
    async with calling(app, bearer=OWN) as client:
        answer = await client.get("/api/answers/q?session_id=c")
        assert (answer.status_code, answer.json()["message"]) == (
            409,
            "the question was refused: sources and metadata: send less",
        )
        hidden = await client.get("/api/answers/q?session_id=theirs")
        assert "another" not in hidden.json()["message"]
    async with calling(app, bearer="o" * 16) as client:
        assert (await client.get("/api/answers/q?session_id=c")).status_code == 404


async def test_a_stored_question_is_not_refused_by_somebody_elses_attempt_at_its_id(world: World) -> None:
    """A refusal of another user's question of the same id in the same conversation changes nothing."""
    await world.asked("u", "c", 1)
    world.hub.note_asked("c-q1", "c", "u")
    world.hub.note_asked("c-q1", "c", "v")
    world.hub.hear(refused("v", "c", "c-q1", "conversationId: it belongs to another user"))
    async with calling(app_of(world), bearer=OWN) as client:
        assert (await client.get("/api/answers/c-q1?session_id=c")).status_code == 202


async def listening(world: World, url: str, *events: Wire) -> str:
    """The text of a stream that hears some events and is then ended from our side."""

    async def read() -> str:
        async with calling(app_of(world), bearer=OWN) as client:
            answer = await client.get(url)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
        return answer.text

    reading = asyncio.create_task(read())
    while not is_heard(world.hub):
        await asyncio.sleep(0)
    for event in events:
        world.hub.hear(event)
    world.hub.hear_no_more(Outage("the broker is gone"))
    return await reading


async def test_a_conversations_events_are_told_as_they_are_heard(world: World) -> None:
    """Each with its kind, the same id for every delivery, and itself as JSON on one line; then how it ended."""
    asked = turn(1, "one\ntwo\r\n\u2028three")
    answer = AnswerReady.model_validate({"conversationId": "c", "userId": "u", "questionId": "q1", "text": "ok"})
    report = ReportReady.model_validate(answer.model_dump())
    another = turn(1, conversationId="other")
    events = (asked, another, guidance(1), answer, report, refused("u", "c", "q2", "too much"))
    found = events_in(await listening(world, "/api/events?session_id=c", *events))
    assert [one["event"] for one in found] == ["turn", "guidance", "answer", "report", "refused", "ended"]
    assert (found[0]["id"], json.loads(found[0]["data"])) == (asked.event_id, json.loads(asked.to_json()))
    assert json.loads(found[4]["data"])["reason"] == "too much"
    assert not is_heard(world.hub)


async def test_only_the_callers_events_are_told(world: World) -> None:
    """Those of another user in the same conversation are not, be they questions, answers or refusals."""
    events = (turn(1, userId="thief"), guidance(2, user_id="thief"), refused("thief", "c", "q", "no"), turn(3))
    found = events_in(await listening(world, "/api/events?session_id=c", *events))
    assert [one["event"] for one in found] == ["turn", "ended"]
    assert json.loads(found[0]["data"])["turn"] == 3


async def test_a_stream_ends_in_its_time(world: World) -> None:
    """After `within` seconds, whatever was heard, without a word of an end."""
    async with calling(app_of(world), bearer=OWN) as client:
        answer = await client.get("/api/events?within=1")
    assert answer.text.startswith(": from here on\n\n")
    assert events_in(answer.text) == []
    assert not is_heard(world.hub)


async def test_a_client_that_leaves_is_listened_for_no_longer(world: World) -> None:
    """The stream is let go when the client disconnects, not at its end."""
    sent = list[Any]()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/events",
        "query_string": b"within=3600",
        "headers": [(b"authorization", f"Bearer {OWN}".encode())],
    }
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        if (message := next(messages, None)) is not None:
            return message
        while not is_heard(world.hub):
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async with asyncio.timeout(10):
        await app_of(world)(scope, receive, send)
    assert sent[0]["status"] == 200
    assert not is_heard(world.hub)


async def test_a_client_that_stops_reading_is_not_waited_for(world: World) -> None:
    """A write that never ends is given up soon after the stream's time."""
    never = asyncio.Event()

    async def wait(*_: Any) -> Any:
        await never.wait()

    stream = EventStream(world.hub, ["c"], ANYBODY, 0.01, grace=0.01)
    async with asyncio.timeout(10):
        await stream({"type": "http"}, wait, wait)
    assert not is_heard(world.hub)


async def test_a_silent_stream_says_that_it_is_there(world: World) -> None:
    """A comment comes at once, and another whenever nothing is heard for a while."""
    stream = Stream(lambda user: True)
    lines = told(stream, ANYBODY, 60, heartbeat=0.01)
    assert [await anext(lines) for _ in range(3)] == [": from here on\n\n", ": still here\n\n", ": still here\n\n"]
    stream.tell(turn(1))
    assert (await anext(lines)).startswith("event: turn\n")
    await lines.aclose()  # type: ignore[attr-defined]
