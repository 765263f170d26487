"""Asking a question on the page."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.stage import Stage
from tests.browser.visiting import PATIENCE, Visit

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
        await expect(visit[f"stage-{name}"]).to_have_attribute("data-state", "reached", timeout=PATIENCE)
        await expect(visit[f"stage-{name}"]).to_contain_text(re.compile(r"\d m?s$"))
    await expect(visit["question"]).to_contain_text("How do I write a handover note?")
    await expect(visit["answer"]).to_contain_text("offline rules model")
    await expect(visit["belief"]).to_contain_text("nurse")
    await expect(visit["point"]).to_have_count(1)
    await expect(visit["ask-text"]).to_have_value("")
    await expect(visit.page.locator("[data-id=asked-here]")).to_contain_text("How do I write a handover note?")


async def test_a_question_that_is_only_learnt_from_has_no_answer(visit: Visit, stage: Stage) -> None:
    """It is over once it is arbitrated, and what it taught is shown; the last stage stays ahead."""
    await stage.talk("only-learnt", "cleo", "Hello!")
    await visit.go("only-learnt")
    await visit["ask-text"].fill("I am a plumber.")
    await visit["ask-mode"].select_option("log")
    await visit["ask-text"].press("Control+Enter")
    await expect(visit["stage-arbitrated"]).to_have_attribute("data-state", "reached", timeout=PATIENCE)
    await expect(visit["belief"]).to_contain_text("plumber")
    await expect(visit["stage-answered"]).to_have_attribute("data-state", "ahead")


async def test_what_another_client_asks_appears_by_itself(visit: Visit, stage: Stage) -> None:
    """Whoever looks at a conversation sees its next turn without doing anything, and its stages are not theirs."""
    await stage.talk("watched", "cleo", "I am a plumber. Which pipe for hot water?")
    await visit.go("watched")
    await expect(visit["turn"]).to_have_count(1)
    await stage.talk("watched", "cleo", "And which one for gas?")
    await expect(visit["turn"]).to_have_count(2, timeout=PATIENCE)
    await expect(visit["stages"]).to_have_count(0)


async def test_a_question_that_takes_long_says_so(visit: Visit) -> None:
    """Eight seconds after it was asked, where no stage comes; the stage that it waits for stays marked."""
    asked = '{"code": 202, "status": "success", "message": "", "data": null}'
    await visit.page.route("**/api/questions", lambda route: route.fulfill(status=202, body=asked))
    await visit.page.route("**/api/answers/*", lambda route: route.fulfill(status=202, body=asked))
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
