"""Correcting the role and forgetting, on the page."""

import re

from playwright.async_api import expect

from tests.browser.stage import Stage
from tests.browser.visiting import Visit

NURSE = "I am a nurse. How do I write a handover note?"


async def forget(visit: Visit, what: str, typed: str) -> None:
    await visit["forget"].click()
    await visit.of("forget-dialog", f"forget-{what}").check()
    await visit.of("forget-dialog", "confirm-id").fill(typed)
    await visit.of("forget-dialog", "submit").click()


async def test_the_role_is_corrected(visit: Visit, stage: Stage) -> None:
    """Who the user is, and is not, as said by hand, is what is believed from then on."""
    await stage.talk("corrected", "dora", NURSE)
    await visit.go("corrected", "dora")
    await expect(visit["belief"]).to_contain_text("nurse")
    await visit["correct"].click()
    await visit.of("correct-dialog", "is").fill("midwife")
    await visit.of("correct-dialog", "is-not").fill("nurse")
    await visit.of("correct-dialog", "submit").click()
    await expect(visit["belief"].locator(".belief-name")).to_contain_text("midwife")
    await expect(visit["belief"].locator("s")).to_have_text("nurse")
    await expect(visit["correct"]).to_be_focused()
    latest = (await stage.client.get("/api/user/memory/latest?session_id=corrected")).json()["data"]
    assert '"midwife"' in latest["text"]


async def test_a_conversation_is_forgotten_with_a_receipt(visit: Visit, stage: Stage) -> None:
    """It takes the conversation's id to confirm; the receipt counts what was removed, and nothing of it is left."""
    await stage.talk("forgotten", "dora", NURSE)
    await visit.go("forgotten", "dora")
    await forget(visit, "conversation", "forgotten?")
    await expect(visit.of("forget-dialog", "confirm-id")).to_have_attribute("aria-invalid", "true")
    assert (await stage.client.get("/api/user/memory/track?session_id=forgotten")).status_code == 200
    await visit.of("forget-dialog", "confirm-id").fill("forgotten")
    await visit.of("forget-dialog", "submit").click()
    removed = visit.of("receipt", "removed")
    await expect(removed.get_by_role("row").filter(has_text="messages")).to_contain_text("2")
    await expect(removed.get_by_role("row").filter(has_text="Total")).not_to_contain_text("Total0")
    await visit["receipt-close"].click()
    await expect(visit["receipt"]).to_have_count(0)
    await expect(visit.page.locator("[data-id=forgotten]")).to_have_count(0)
    assert (await stage.client.get("/api/user/memory/conversation?session_id=forgotten")).status_code == 404


async def test_a_role_alone_is_forgotten(visit: Visit, stage: Stage) -> None:
    """The talk stays; nothing is believed any more."""
    await stage.talk("unlearnt", "dora", NURSE)
    await visit.go("unlearnt", "dora")
    await forget(visit, "role", "unlearnt")
    await expect(visit["receipt"]).to_be_visible()
    await visit["receipt-close"].click()
    await expect(visit["role"].get_by_test_id("empty")).to_be_visible()
    await expect(visit["question"]).to_contain_text(NURSE)
    await expect(visit["point"]).to_have_count(0)


async def test_a_user_is_forgotten(visit: Visit, stage: Stage) -> None:
    """It takes the user's id; no conversation and no fact of theirs is left."""
    await stage.talk("all-of-it", "erin", NURSE)
    await stage.add("erin", "milk", "oat")
    await visit.go("all-of-it", "erin")
    await forget(visit, "user", "erin")
    await expect(visit["receipt"]).to_be_visible()
    assert await stage.features("erin") == {}
    assert (await stage.client.get("/api/conversations?user_id=erin")).json()["data"] == []


async def test_names_that_cannot_be_are_said_at_their_field(visit: Visit, stage: Stage) -> None:
    """Too many, too long, in both fields, and none: each is said once, in words of the page, and nothing is sent."""
    await stage.talk("miscorrected", "dora", NURSE)
    await visit.go("miscorrected", "dora")
    await visit["correct"].click()
    submit, alert = visit.of("correct-dialog", "submit"), visit["correct-dialog"].get_by_role("alert")
    for field, names, fault in [
        ("is", "", "Say who the user is, or is not."),
        ("is", "a, b, c, d, e, f", "At most 5, separated by commas."),
        ("is", "x" * 81, f"“{'x' * 39}…” is too long: at most 80 letters."),
        ("is-not", ", ".join("abcdefghijk"), "At most 10, separated by commas."),
        ("is-not", "nurse, A", "“A” is in both fields."),
    ]:
        await visit.of("correct-dialog", "is").fill("a")
        await visit.of("correct-dialog", field).fill(names)
        await submit.click()
        await expect(visit.of("correct-dialog", field)).to_have_accessible_description(fault)
        await expect(visit.of("correct-dialog", field)).to_be_focused()
        await expect(alert).to_be_hidden()
    await visit.of("correct-dialog", "is-not").fill("")
    await expect(visit["correct-dialog"].locator(".wrong")).to_have_count(0)


async def test_what_was_forgotten_elsewhere_is_not_shown_any_more(visit: Visit, stage: Stage) -> None:
    """First the role, then the talk; what is said anew under its name is shown alone."""
    await stage.talk("elsewhere", "dora", NURSE, "Hello!")
    await visit.go("elsewhere", "dora")
    await expect(visit["point"]).to_have_count(2)
    look_again = "document.dispatchEvent(new Event('visibilitychange'))"
    assert (await stage.client.post("/api/user/memory/delete?session_id=elsewhere")).status_code == 200
    await visit.page.evaluate(look_again)
    await expect(visit["point"]).to_have_count(0)
    await expect(visit["question"]).to_have_count(2)
    path = "/api/user/memory/forget?user_id=dora&session_id=elsewhere"
    assert (await stage.client.post(path)).status_code == 200
    visit.foreseen.add("status of 404")
    await visit.page.evaluate(look_again)
    await expect(visit["talk"].get_by_test_id("empty")).to_be_visible()
    await expect(visit["question"]).to_have_count(0)
    await expect(visit["correct"]).to_be_hidden()
    await expect(visit.page.locator("[data-id=elsewhere]")).to_have_count(0)
    await stage.talk("elsewhere", "dora", "I am a plumber.")
    await expect(visit["turn"]).to_have_count(1)
    await expect(visit["question"]).to_have_text(re.compile("I am a plumber."))


async def test_what_takes_the_place_of_a_forgotten_talk_replaces_it(visit: Visit, stage: Stage) -> None:
    """Though nobody looked in between, no message and no point of the talk before stays."""
    visit.foreseen.add("status of 404")
    await stage.talk("replaced", "dora", NURSE, "Hello!", "Which gloves?")
    await visit.go("replaced", "dora")
    await expect(visit["point"]).to_have_count(3)
    await stage.client.post("/api/user/memory/forget?user_id=dora&session_id=replaced")
    await stage.talk("replaced", "dora", "I am a plumber.", "And gas?")
    await expect(visit["question"]).to_have_text([re.compile("I am a plumber."), re.compile("And gas?")])
    await expect(visit["point"]).to_have_count(2)
