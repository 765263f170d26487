"""Asking a question on the page."""

import asyncio
import re

import pytest
from playwright.async_api import Route, expect

from tests.browser.stage import Stage
from tests.browser.visiting import Visit

TAKEN = '{"code": 202, "status": "success", "message": "", "data": null}'
STAGES = ["asked", "logged", "extracted", "arbitrated", "answered"]


async def test_a_question_lights_each_stage_up_and_joins_the_talk(visit: Visit, stage: Stage) -> None:
    """A new conversation begins; the stages are reached one by one, and question, answer and role are shown after."""
    visit.foreseen.add("status of 404")  # the conversation is none before its first question
    await visit.go()
    await visit["new-conversation"].click()
    await visit.of("new-dialog", "new-id").fill("asked-here")
    await visit.of("new-dialog", "new-user").fill("cleo")
    await visit.of("new-dialog", "submit").click()
    await expect(visit["where"]).to_have_text("asked-here · cleo")
    await visit["ask-text"].fill("I am a nurse. How do I write a handover note?")
    await visit["ask-send"].click()
    for name in STAGES:
        await expect(visit[f"stage-{name}"]).to_have_attribute("data-state", "reached")
        await expect(visit[f"stage-{name}"]).to_contain_text(re.compile(r"\d m?s$"))
    await expect(visit["question"]).to_contain_text("How do I write a handover note?")
    await expect(visit["answer"]).to_contain_text("offline rules model")
    await expect(visit["belief"]).to_contain_text("nurse")
    await expect(visit["point"]).to_have_count(1)
    await expect(visit["ask-text"]).to_have_value("")
    await expect(visit.page.locator("[data-id=asked-here]")).to_contain_text("How do I write a handover note?")


async def test_a_question_that_is_only_learnt_from_has_no_answer(visit: Visit, stage: Stage) -> None:
    """It is over once it is arbitrated, and what it taught is shown; there is no stage of an answer."""
    await stage.talk("only-learnt", "cleo", "Hello!")
    await visit.go("only-learnt")
    await visit["ask-text"].fill("I am a plumber.")
    await visit["ask-mode"].select_option("log")
    await visit["ask-text"].press("Control+Enter")
    await expect(visit["stage-arbitrated"]).to_have_attribute("data-state", "reached")
    await expect(visit["belief"]).to_contain_text("plumber")
    await expect(visit["stage-answered"]).to_have_count(0)
    await expect(visit["question"]).to_have_count(2)
    await expect(visit["pending"]).to_have_count(0)


async def test_a_question_is_followed_without_its_events(visit: Visit, stage: Stage) -> None:
    """Where there is no stream, what is read now and then tells how far it is, be it only learnt from."""
    visit.foreseen.add("ERR_")
    await stage.talk("unheard", "cleo", "Hello!")
    await visit.page.route("**/api/events?*", lambda route: route.abort())
    await visit.go("unheard", "cleo")
    for mode, last in (("log", "arbitrated"), ("auto", "answered")):
        await visit["ask-text"].fill("I am a plumber. Which pipe?")
        await visit["ask-mode"].select_option(mode)
        await visit["ask-send"].click()
        await expect(visit[f"stage-{last}"]).to_have_attribute("data-state", "reached")
        await expect(visit["pending"]).to_have_count(0)


async def test_what_another_client_asks_appears_by_itself(visit: Visit, stage: Stage) -> None:
    """Whoever looks at a conversation sees its next turn without doing anything, and its stages are not theirs."""
    await stage.talk("watched", "cleo", "I am a plumber. Which pipe for hot water?")
    await visit.go("watched")
    await expect(visit["turn"]).to_have_count(1)
    await stage.talk("watched", "cleo", "And which one for gas?")
    await expect(visit["turn"]).to_have_count(2)
    await expect(visit["stages"]).to_have_count(0)


async def test_a_question_that_takes_long_says_so(visit: Visit) -> None:
    """Eight seconds after it was asked, where no stage comes; the stage that it waits for stays marked."""
    await visit.page.route("**/api/questions", lambda route: route.fulfill(status=202, body=TAKEN))
    await visit.page.route("**/api/answers/*", lambda route: route.fulfill(status=202, body=TAKEN))
    await visit.page.clock.install()
    await visit.go("ward", "ada")
    await visit["ask-text"].fill("Is anybody there?")
    await visit["ask-send"].click()
    await expect(visit["stage-asked"]).to_have_attribute("data-state", "reached")
    await expect(visit["slow"]).to_have_count(0)
    await visit.page.clock.fast_forward(8000)
    await expect(visit["slow"]).to_contain_text("Still waiting")
    await expect(visit["stage-logged"]).to_have_attribute("data-state", "waiting")


@pytest.mark.parametrize("words", ["", "  "])
async def test_a_question_without_words_is_not_asked(visit: Visit, words: str) -> None:
    """Nothing is sent; the focus goes where the words belong."""
    await visit.go("ward", "ada")
    await visit["ask-text"].fill(words)
    await visit["ask-send"].click()
    await expect(visit["ask-text"]).to_be_focused()
    await expect(visit["stages"]).to_have_count(0)


async def test_a_refused_question_says_why_and_keeps_its_words(visit: Visit) -> None:
    """The API's sentence is shown, and what was typed can be sent again."""
    visit.foreseen.add("status of 422")
    await visit.go("ward", "ada")
    await visit["ask-text"].evaluate("(field) => field.removeAttribute('maxlength')")
    await visit["ask-text"].fill("x" * 40_000)
    await visit["ask-send"].click()
    await expect(visit["ask"].get_by_role("alert")).to_be_visible()
    await expect(visit["ask-text"]).to_have_value("x" * 40_000)
    await expect(visit["stages"]).to_have_count(0)


async def test_a_question_is_in_the_talk_before_it_is_logged(visit: Visit) -> None:
    """It is marked so; where it is refused it says that, and the words are in the empty box again."""
    visit.foreseen.update({"status of 404", "status of 409"})
    refused = '{"code": 409, "status": "error", "message": "the question was refused: too late", "data": null}'
    await visit.page.route("**/api/questions", lambda route: route.fulfill(status=202, body=TAKEN))
    await visit.page.route("**/api/answers/*", lambda route: route.fulfill(status=409, body=refused))
    await visit.go("not-yet", "ada")
    await expect(visit["talk"].get_by_test_id("empty")).to_be_visible()
    await visit["ask-text"].fill("Is anybody there?")
    await visit["ask-send"].click()
    await expect(visit["pending"]).to_contain_text("not logged yet")
    await expect(visit["pending"]).to_contain_text("Is anybody there?")
    await expect(visit["talk"].get_by_test_id("empty")).to_have_count(0)
    await expect(visit["refused"]).to_have_text("Refused: too late")
    await expect(visit["pending"]).to_contain_text("not taken")
    await expect(visit["ask-text"]).to_have_value("Is anybody there?")


async def test_words_that_were_typed_meanwhile_are_not_overwritten(visit: Visit) -> None:
    """A question that could not be sent stays in the talk, marked so, where the box has other words by then."""
    visit.foreseen.add("ERR_FAILED")
    held = asyncio.Event()

    async def fail(route: Route) -> None:
        await held.wait()
        await route.abort()

    await visit.page.route("**/api/questions", fail)
    await visit.go("ward", "ada")
    await visit["ask-text"].fill("The first?")
    await visit["ask-send"].click()
    await visit["ask-text"].fill("The second?")
    held.set()
    await expect(visit["pending"]).to_have_attribute("data-state", "refused")
    await expect(visit["pending"]).to_contain_text("The first?")
    await expect(visit["ask-text"]).to_have_value("The second?")
    await expect(visit["ask"].get_by_role("alert")).to_contain_text("cannot be reached")


async def test_a_draft_waits_in_its_conversation(visit: Visit, stage: Stage) -> None:
    """It outlasts a switch of the language and a look at another conversation, which has its own."""
    await stage.talk("undrafted", "ada", "Hello!")
    await visit.go("ward", "ada")
    await visit["ask-text"].fill("Half a quest")
    await visit["language"].click()
    await visit.settle()
    await expect(visit["ask-text"]).to_have_value("Half a quest")
    await visit.page.locator("[data-id=undrafted]").click()
    await expect(visit["where"]).to_contain_text("undrafted")
    await expect(visit["ask-text"]).to_have_value("")
    await visit.page.locator("[data-id=ward]").click()
    await expect(visit["ask-text"]).to_have_value("Half a quest")


async def test_a_question_survives_a_switch_of_the_language(visit: Visit) -> None:
    """What is pending and its stages are still there, in the other language."""
    await visit.page.route("**/api/questions", lambda route: route.fulfill(status=202, body=TAKEN))
    await visit.page.route("**/api/answers/*", lambda route: route.fulfill(status=202, body=TAKEN))
    await visit.go("ward", "ada")
    await visit["ask-text"].fill("Is anybody there?")
    await visit["ask-send"].click()
    await expect(visit["stage-logged"]).to_have_attribute("data-state", "waiting")
    await visit["language"].click()
    await expect(visit["stage-logged"]).to_contain_text("已记录")
    await expect(visit["pending"]).to_contain_text("尚未记录")


async def test_a_paste_that_is_cut_says_so(visit: Visit) -> None:
    """Of 33,000 letters 32,000 are in the box; the note goes with the next letter."""
    await visit.go("ward", "ada")
    await visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await visit.page.evaluate("navigator.clipboard.writeText('x'.repeat(16500))")
    await visit["ask-text"].press("Control+v")
    assert len(await visit["ask-text"].input_value()) == 16_500
    await expect(visit["ask"].get_by_role("alert")).to_be_hidden()
    await visit["ask-text"].press("Control+v")
    assert len(await visit["ask-text"].input_value()) == 32_000
    await expect(visit["ask"].get_by_role("alert")).to_contain_text("32,000")
    await visit["ask-text"].press("Backspace")
    await expect(visit["ask"].get_by_role("alert")).to_be_hidden()
