"""Feature extraction on a real database: what lasts about a user is observed once a turn, from their own words."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from pipeline.adapters.embedded import Services as Embedded
from pipeline.ports import Json, Said
from pipeline.processing import Failure
from pipeline.processors.feature_extraction import concerns, handle
from schemas.events import AnswerReady
from schemas.memory_events import FeaturesObserved
from tests.conftest import Names
from tests.processors.factories import COST, FAILS, NOW, Here, database_of, only, record, turn

ANSWERS, TURNS = record("answers"), record("turns")


@pytest.fixture
async def here(services: Embedded, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


def answer(number: int = 1, **changes: Any) -> AnswerReady:
    fields = {"conversationId": "c", "userId": "u", "questionId": f"q{number}", "turn": number, "text": "So it is."}
    return AnswerReady.model_validate(fields | changes)


def observes(slot: str, value: str, quote: str, **changes: Json) -> Json:
    return {"changes": [{"operation": "OBSERVE", "slot": slot, "value": value, "quote": quote, **changes}]}


CARROTS = observes("carrots", "likes them", "I like carrots", content="Likes carrots.", category="PREFERENCE")


async def test_an_answered_turn_is_observed(here: Here) -> None:
    """The change carries the user's words, and whose and when the question was."""
    await here.logged(1, "I like carrots. How do I roast them?")
    await here.answered(1, "At 200 degrees.")
    here.model.script = [CARROTS]
    observed = only(await handle(answer(), ANSWERS, here.worker()), FeaturesObserved)
    assert (observed.user_id, observed.conversation_id, observed.question_id, observed.turn) == ("u", "c", "q1", 1)
    assert (observed.source, observed.observed_by, observed.record_time) == ("CHAT_EXTRACT", "feature-extraction", NOW)
    (change,) = observed.changes
    assert (change.slot, change.value, change.quote) == ("carrots", "likes them", "I like carrots")
    assert (change.content, change.category, observed.cost) == ("Likes carrots.", "PREFERENCE", COST)
    ((messages, known),) = here.model.feature_reads
    assert messages == [Said("user", "I like carrots. How do I roast them?"), Said("assistant", "At 200 degrees.")]
    assert known == []


async def test_a_second_delivery_passes_on_the_same_and_asks_nobody(here: Here) -> None:
    """Whether it comes by the answer again or by a report, the turn is observed once."""
    await here.logged(1, "I like carrots")
    here.model.script = [CARROTS]
    first = await handle(answer(), ANSWERS, here.worker())
    assert await handle(answer(), ANSWERS, here.worker()) == first
    assert here.model.calls == 1


async def test_a_logged_question_tells_when_it_was_asked(here: Here) -> None:
    """However long ago; the time that a client gives to a question of today is no such thing."""
    long_ago = NOW - timedelta(days=2000)
    await here.logged(1, "I like carrots", mode="log", askedAt=long_ago)
    await here.logged(2, "I like carrots", askedAt=long_ago)
    here.model.script = [CARROTS, CARROTS]
    event = turn(1, "I like carrots", mode="log")
    logged = only(await handle(event, TURNS, here.worker()), FeaturesObserved)
    assert (logged.said_at, logged.record_time) == (long_ago, NOW)
    assert only(await handle(answer(2), ANSWERS, here.worker()), FeaturesObserved).said_at is None


async def test_what_the_assistant_said_is_no_fact(here: Here) -> None:
    """A quote from the answer is in no message of the user: the change is dropped."""
    await here.logged(1, "Suggest a hobby for my evenings.")
    await here.answered(1, "You could take up pottery; you would love it.")
    here.model.script = [observes("pottery", "loves it", "you would love it")]
    assert await handle(answer(), ANSWERS, here.worker()) == []


async def test_it_finds_its_it_in_the_messages_before(here: Here) -> None:
    """The model reads the last six messages, both roles, the user's own last."""
    for number in range(1, 5):
        await here.logged(number, f"question {number}")
        await here.answered(number, f"answer {number}")
    await here.logged(5, "I like it")
    await here.answered(5, "Good.")
    here.model.script = [observes("rowing", "likes it", "I like it")]
    await handle(answer(5), ANSWERS, here.worker())
    ((messages, _),) = here.model.feature_reads
    assert [said.text for said in messages] == [
        "question 3",
        "answer 3",
        "question 4",
        "answer 4",
        "I like it",
        "Good.",
    ]


@pytest.mark.parametrize("text", ["thanks!", "what is 17 times 6?", "你好", "How high is Mont Blanc?"])
async def test_what_can_hold_no_fact_costs_no_call(here: Here, text: str) -> None:
    """Chit-chat and what anybody may ask: nothing is published, and a second look costs nothing either."""
    await here.logged(1, text)
    assert await handle(answer(), ANSWERS, here.worker()) == []
    assert await handle(answer(), ANSWERS, here.worker()) == []
    assert here.model.calls == 0


async def test_a_logged_turn_is_observed_at_once_and_others_when_they_are_answered(here: Here) -> None:
    """Mode `log` has no answer to wait for; any other turn is none of `turns`."""
    await here.logged(1, "I like carrots", mode="log")
    here.model.script = [CARROTS]
    assert [concerns(turn(1), TURNS), concerns(turn(1, mode="log"), TURNS), concerns(answer(), ANSWERS)] == [
        False,
        True,
        True,
    ]
    only(await handle(turn(1, "I like carrots", mode="log"), TURNS, here.worker()), FeaturesObserved)


async def test_a_failed_answer_is_a_completed_turn(here: Here) -> None:
    """The question was asked, whatever became of its answer; a failed answer is no message that is read."""
    await here.logged(1, "I like carrots")
    await here.answered(1, "", status="failed")
    here.model.script = [CARROTS]
    only(
        await handle(answer(status="failed", text="", reason="out of order"), ANSWERS, here.worker()), FeaturesObserved
    )
    assert here.model.feature_reads[0][0] == [Said("user", "I like carrots")]


async def test_a_model_that_fails_is_a_dead_letter_and_is_asked_anew_by_its_replay(here: Here) -> None:
    """Nothing is kept of the failed try."""
    await here.logged(1, "I like carrots")
    here.model.script = [FAILS, CARROTS]
    (failure,) = await handle(answer(), ANSWERS, here.worker())
    assert isinstance(failure, Failure)
    only(await handle(answer(), record("answers", replay=True), here.worker()), FeaturesObserved)


async def test_a_reply_without_an_object_is_a_failure_and_an_empty_list_is_none(here: Here) -> None:
    """Bad content is told apart from nothing to learn."""
    await here.logged(1, "I wonder how my soup turned out")
    here.model.script = ["no idea", []]
    (failure,) = await handle(answer(), ANSWERS, here.worker())
    assert isinstance(failure, Failure)
    assert await handle(answer(), ANSWERS, here.worker()) == []


async def test_what_memory_injected_is_not_read(here: Here) -> None:
    """A question that carries our own tags teaches nothing of what is between them."""
    await here.logged(1, "<user-memory>\nI like carrots\n</user-memory> is my soup good?")
    here.model.script = [CARROTS]
    assert await handle(answer(), ANSWERS, here.worker()) == []
    assert here.model.feature_reads[0][0] == [Said("user", "is my soup good?")]
