"""Report generation: what the answering model is told, under each guide scope, and the context it reads."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from pipeline.adapters.embedded import Services
from pipeline.ports import Said
from pipeline.processors import update_arbitration
from pipeline.processors.report_generation import handle
from schemas.events import AnswerReady, GuidanceIssued, RoleExtracted
from schemas.features import KnownFeature, Summary
from schemas.role import GuideScope
from tests.conftest import Names
from tests.domain.factories import heard, preferring
from tests.domain.features import kept
from tests.processors.factories import (
    FAILS,
    NOW,
    C,
    Crash,
    Here,
    crash,
    database_of,
    guidance,
    meddled,
    only,
    record,
    turn,
)

GUIDANCE, TURNS = record("guidance"), record("turns")


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


async def learnt(here: Here, number: int) -> None:
    """A track entry that knows a nurse who wants step-by-step answers."""
    extraction = preferring("conversation", heard(states=["nurse"]), content_depth="PRACTICAL")
    event = RoleExtracted(**turn(number).turn_fields(), text="I am a nurse", mode="answer", extraction=extraction)
    await update_arbitration.handle(event, record("extractions"), here.worker())


async def guided_turn(here: Here) -> int | None:
    conversation = await here.store.conversation(C)
    assert conversation is not None
    return conversation.guided_turn


@pytest.mark.parametrize(
    ("scope", "told", "guided"),
    [
        ("NONE", ["", "", ""], [None, None, None]),
        ("ONCE", ["guidance 1", "", ""], [1, None, None]),
        ("EVERY", ["guidance 1", "guidance 2", "guidance 3"], [1, 2, 3]),
    ],
)
async def test_the_scope_decides_which_answers_are_guided(
    here: Here, scope: GuideScope, told: list[str], guided: list[int | None]
) -> None:
    """And the answer names the turn whose guidance it used; only ONCE is noted on the conversation."""
    here.model.script = ["Answer."] * 3
    answers = []
    for number in (1, 2, 3):
        await here.logged(number)
        event = guidance(number, f"guidance {number}", rules=["likes tea"], guideScope=scope)
        answers.append(only(await handle(event, GUIDANCE, here.worker()), AnswerReady))
    assert [request.guidance for request in here.model.requests] == told
    assert [list(request.rules) for request in here.model.requests] == [["likes tea"] if text else [] for text in told]
    assert [answer.guidance_turn for answer in answers] == guided
    assert await guided_turn(here) == (1 if scope == "ONCE" else None)


async def test_once_waits_for_an_answer_that_used_guidance_and_succeeded(here: Here) -> None:
    """Empty guidance and a failed answer do not count; the third answer is guided, the fourth is not."""
    here.model.script = ["Answer.", FAILS, "Answer.", "Answer."]
    for number, text in enumerate(("", "A nurse.", "A nurse.", "A nurse."), 1):
        await here.logged(number)
        await handle(guidance(number, text, guideScope="ONCE"), GUIDANCE, here.worker())
    assert [request.guidance for request in here.model.requests] == ["", "A nurse.", "A nurse.", ""]
    assert await guided_turn(here) == 3


async def test_a_crash_before_the_guided_turn_is_noted(here: Here) -> None:
    """The redelivery notes it with the stored answer, so that under ONCE the next answer is not guided too."""
    here.model.script = ["Answer.", "Answer."]
    for number in (1, 2):
        await here.logged(number)
    first = guidance(1, "A nurse.", guideScope="ONCE")
    with pytest.raises(Crash):
        await handle(first, GUIDANCE, here.worker(meddled(here.store, note_guided=crash)))
    assert await guided_turn(here) is None
    assert only(await handle(first, GUIDANCE, here.worker()), AnswerReady).guidance_turn == 1
    assert await guided_turn(here) == 1
    await handle(guidance(2, "A nurse.", guideScope="ONCE"), GUIDANCE, here.worker())
    assert [request.guidance for request in here.model.requests] == ["A nurse.", ""]


async def test_the_same_crash_where_guidance_is_latest(here: Here) -> None:
    """The scope is then the worker's own, in the redelivery as well."""
    await here.logged(1)
    await learnt(here, 1)
    event = await here.logged(2)
    here.model.script = ["Answer."]
    with pytest.raises(Crash):
        await handle(event, TURNS, here.worker(meddled(here.store, note_guided=crash), guide_scope="ONCE"))
    assert await guided_turn(here) is None
    await handle(event, TURNS, here.worker(guide_scope="ONCE"))
    assert await guided_turn(here) == 2


async def test_latest_guidance_is_what_was_known_before(here: Here) -> None:
    """Nothing at first; then the newest entry before the turn, though the turn's own and later ones are there."""
    here.model.script = ["Answer."] * 2
    first, _, third = [await here.logged(number, "hello") for number in (1, 2, 3)]
    answers = [await handle(first, TURNS, here.worker())]
    for number in (1, 3):
        await learnt(here, number)
    answers.append(await handle(third, TURNS, here.worker()))
    assert [only(answer, AnswerReady).guidance_turn for answer in answers] == [None, 1]
    assert ["nurse" in request.guidance for request in here.model.requests] == [False, True]
    assert here.model.requests[1].rules == ["prefers step-by-step practical answers"]


async def test_latest_guidance_heeds_what_the_question_plainly_asks_for(here: Here) -> None:
    """For this turn alone, over what is stored, and also where nothing is known yet."""
    here.model.script = ["Answer."] * 2
    wish = "Just this once, keep it short: what is a fever?"
    first, second = [await here.logged(number, wish) for number in (1, 2)]
    answer = only(await handle(first, TURNS, here.worker()), AnswerReady)
    await learnt(here, 1)
    await handle(second, TURNS, here.worker())
    short = "prefers short answers that come to the point"
    assert here.model.requests[0].rules == [short]
    assert f"\nFor this answer alone, the user {short}.\n" in here.model.requests[0].guidance
    assert here.model.requests[1].rules == [short, "prefers step-by-step practical answers"]
    assert answer.guidance_turn == 1


@pytest.mark.parametrize("scope", ["NONE", "ONCE", "EVERY"])
async def test_latest_guidance_keeps_to_the_scope(here: Here, scope: GuideScope) -> None:
    """As fresh guidance does."""
    here.model.script = ["Answer."] * 2
    await here.logged(1)
    await learnt(here, 1)
    for number in (2, 3):
        await handle(await here.logged(number, "hello"), TURNS, here.worker(guide_scope=scope))
    told = ["nurse" in request.guidance for request in here.model.requests]
    assert told == {"NONE": [False, False], "ONCE": [True, False], "EVERY": [True, True]}[scope]


async def test_without_memory_nothing_is_told(here: Here) -> None:
    """Neither what a track says nor what the question asks for, and the answer names no turn."""
    await here.logged(1)
    await learnt(here, 1)
    here.model.script = ["Answer."]
    event = await here.logged(2, "Keep it short: what is a fever?")
    answer = only(await handle(event, TURNS, here.worker(memory=False)), AnswerReady)
    (request,) = here.model.requests
    assert (request.guidance, list(request.rules), answer.guidance_turn) == ("", [], None)
    assert [message.text for message in request.context] == ["I am a nurse"]


async def test_the_context_is_the_last_messages_before_the_question(here: Here) -> None:
    """Oldest first, `context` of them, without later ones, without other conversations'."""
    for number in range(1, 6):
        await here.logged(number, f"question {number}")
        if number != 4:
            await here.answered(number, f"answer {number}")
    here.model.script = ["Answer 4."]
    await handle(guidance(4), GUIDANCE, here.worker(context=3))
    assert here.model.requests[0].context == [
        Said("assistant", "answer 2"),
        Said("user", "question 3"),
        Said("assistant", "answer 3"),
    ]


async def test_failed_answers_are_no_part_of_the_context(here: Here) -> None:
    """Their questions are."""
    for number, status in ((1, "ok"), (2, "failed")):
        await here.logged(number, f"question {number}")
        await here.answered(number, "answer 1" if status == "ok" else "", status=status)
    await here.logged(3)
    here.model.script = ["Answer 3."]
    await handle(guidance(3), GUIDANCE, here.worker())
    context = [Said("user", "question 1"), Said("assistant", "answer 1"), Said("user", "question 2")]
    assert here.model.requests[0].context == context


async def test_failed_answers_take_no_room_in_the_context(here: Here) -> None:
    """After the model was away for some turns, an answer still reads the last `context` messages there are."""
    for number in range(1, 6):
        await here.logged(number, f"question {number}")
        await here.answered(number, "answer 1" if number == 1 else "", status="ok" if number == 1 else "failed")
    await here.logged(6)
    here.model.script = ["Answer 6."]
    await handle(guidance(6), GUIDANCE, here.worker(context=5))
    texts = [message.text for message in here.model.requests[0].context]
    assert texts == ["answer 1", *(f"question {number}" for number in range(2, 6))]


async def test_a_long_pause_ends_the_context(here: Here) -> None:
    """After half an hour an answer reads nothing of what was before, and the log still holds it."""
    for number in (1, 2):
        await here.logged(number, f"question {number}")
    for number, pause in ((3, 40), (4, 1)):
        await here.logged(number, f"question {number}", loggedAt=NOW + timedelta(minutes=40 + pause))
    here.model.script = ["Answer."] * 3
    for number in (2, 3, 4):
        await here.database["messages"].update_one(
            {"turn": number}, {"$set": {"createTime": NOW + timedelta(minutes=number if number < 3 else 80 + number)}}
        )
        await handle(guidance(number), GUIDANCE, here.worker())
    read = [[message.text for message in request.context] for request in here.model.requests]
    assert read == [["question 1"], [], ["question 3", "Answer."]]
    assert len(await here.store.messages(C, 4, 99)) == 7


FEATURE = KnownFeature(slot="apples", value="not sour", category="PREFERENCE")


@pytest.mark.parametrize("scope", ["NONE", "ONCE", "EVERY"])
async def test_an_answer_is_told_the_typed_parts_of_its_guidance(here: Here, scope: GuideScope) -> None:
    """Features, summary and skill, under the guide scope as the text is."""
    await here.logged(1)
    here.model.script = ["Answer."]
    summary = Summary(target="A stall")
    parts = {"features": [FEATURE], "summary": summary, "skill": "beginner", "guideScope": scope}
    await handle(guidance(1, "text", **parts), GUIDANCE, here.worker())
    (request,) = here.model.requests
    told = (list(request.features), request.summary, request.skill)
    assert told == (([], None, "") if scope == "NONE" else ([FEATURE], summary, "beginner"))


async def test_latest_guidance_holds_what_is_kept_of_the_user(here: Here) -> None:
    """In a conversation of which nothing is known yet as well; without user memory none of it."""
    for feature in (kept("apples", "not sour", category="PREFERENCE"), kept("skill", "beginner")):
        await here.features.add_feature(feature)
    await here.features.add_feature(kept("contentdepth", "PRACTICAL"))
    await here.logged(1)
    await here.store.put_summary(C, Summary(target="A stall", turn=1), after=0)
    event = await here.logged(2, "which apples?")
    here.model.script = ["Answer."]
    await handle(event, TURNS, here.worker())
    (request,) = here.model.requests
    assert (list(request.features), request.skill) == ([FEATURE], "beginner")
    assert request.summary == Summary(target="A stall", turn=1)
    assert list(request.rules) == ["prefers step-by-step practical answers"]
    assert "- apples: not sour" in request.guidance


async def test_latest_guidance_without_user_memory_is_the_role_alone(here: Here) -> None:
    """What is kept beyond it is not read."""
    await here.features.add_feature(kept("apples", "not sour"))
    await here.logged(1)
    await learnt(here, 1)
    event = await here.logged(2, "which apples?")
    here.model.script = ["Answer."]
    await handle(event, TURNS, here.worker(user_memory=False))
    (request,) = here.model.requests
    assert (list(request.features), "nurse" in request.guidance) == ([], True)


async def test_latest_guidance_knows_nothing_of_an_erased_role(here: Here) -> None:
    """An entry that was added after the erasure by a turn before it does not count."""
    for number in (1, 2):
        await here.logged(number, "hello")
    await learnt(here, 1)
    (entry,) = await here.store.track(C, 1, 1)
    await here.store.erase_role(C, 1)
    await here.store.add_entry(entry)
    here.model.script = ["Answer."]
    answer = only(await handle(await here.logged(3, "hello"), TURNS, here.worker()), AnswerReady)
    assert (here.model.requests[0].guidance, answer.guidance_turn) == ("", None)


async def test_what_one_conversation_teaches_shapes_the_answer_in_another(here: Here) -> None:
    """A level stated for good in a conversation of one turn is what the next one's first answer explains at."""
    await here.features.add_feature(kept("skill", "beginner", sourceConversationId="another"))
    event = RoleExtracted(**turn(1).turn_fields(), text="what is a queue", mode="answer", extraction=heard())
    issued = only(await update_arbitration.handle(event, record("extractions"), here.worker()), GuidanceIssued)
    await here.logged(1, "what is a queue")
    here.model.script = ["Answer."]
    await handle(issued, GUIDANCE, here.worker())
    (request,) = here.model.requests
    assert request.skill == "beginner"
    assert "Explain at the level of this user: beginner." in request.guidance
