"""Correcting the role and forgetting, on the page."""

from playwright.async_api import expect

from tests.browser.stage import Stage
from tests.browser.visiting import PATIENCE, Visit

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
    await expect(visit["belief"].locator(".belief-name")).to_contain_text("midwife", timeout=PATIENCE)
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
    await expect(removed.get_by_role("row").filter(has_text="messages")).to_contain_text("2", timeout=PATIENCE)
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
    await expect(visit["receipt"]).to_be_visible(timeout=PATIENCE)
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
    await expect(visit["receipt"]).to_be_visible(timeout=PATIENCE)
    assert await stage.features("erin") == {}
    assert (await stage.client.get("/api/conversations?user_id=erin")).json()["data"] == []
