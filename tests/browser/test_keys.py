"""The page where keys are set."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.browser.stage import ADA, BO, Stage
from tests.browser.visiting import Visit, visiting


@pytest_asyncio.fixture(loop_scope="session")
async def keyed(browser: Browser, stage: Stage) -> AsyncIterator[Visit]:
    async with visiting(browser, stage.keyed_address) as visit:
        visit.foreseen.add("status of 401")
        yield visit


async def use(visit: Visit, key: str) -> None:
    await visit.of("key-dialog", "key-input").fill(key)
    await visit.of("key-dialog", "submit").click()


async def test_a_key_is_asked_for_and_a_wrong_one_refused(keyed: Visit) -> None:
    """Nothing is shown without one; a wrong one is asked for again; it is kept for this tab and in no address."""
    await keyed.go()
    await expect(keyed["key-dialog"].get_by_role("heading")).to_have_text("Key needed")
    await expect(keyed["conversation"]).to_have_count(0)
    for wrong in ("no-header-carries-密钥", "not-one-of-the-keys"):
        await use(keyed, wrong)
        await expect(keyed["key-dialog"]).to_contain_text("This key is not known.")
    await use(keyed, ADA)
    await expect(keyed.page.locator("[data-id=ward]")).to_be_visible()
    await keyed.page.reload()
    await expect(keyed.page.locator("[data-id=ward]")).to_be_visible()
    assert ADA not in keyed.page.url
    assert await keyed.page.evaluate("[JSON.stringify(localStorage), document.cookie]") == ["{}", ""]


async def test_a_key_bound_to_one_user_sees_no_other(keyed: Visit) -> None:
    """No list, no address and no choice shows another's conversation; it looks as one that does not exist.

    Nothing is offered to be done with it, be it by a question as somebody else.
    """
    keyed.foreseen.add("status of 404")
    await keyed.page.goto(keyed.address)
    await use(keyed, BO)
    await expect(keyed.page.locator("[data-id=kitchen]")).to_be_visible()
    await expect(keyed.page.locator("[data-id=ward]")).to_have_count(0)
    assert await keyed["user"].locator("option").all_text_contents() == ["bo"]
    looks = []
    for session in ("ward", "there-is-none"):
        await keyed.go(session, "ada")
        await expect(keyed["talk"].get_by_test_id("empty")).to_contain_text("No such user or conversation")
        await expect(keyed["point"]).to_have_count(0)
        for offer in ("ask-text", "forget", "correct", "add-feature"):
            await expect(keyed[offer]).not_to_be_visible()
        body = await keyed.page.locator("body").inner_text()
        assert "nurse" not in body
        looks.append(body)
    assert looks[0] == looks[1]
    await keyed["new-conversation"].click()
    await keyed.of("new-dialog", "new-user").fill("ada")
    await keyed.of("new-dialog", "submit").click()
    await expect(keyed["new-dialog"]).to_contain_text("no such user")


async def test_a_key_without_admin_cannot_forget_a_user(keyed: Visit) -> None:
    """The choice is barred and says which scope it needs; another key starts afresh, with its own list."""
    await keyed.page.goto(f"{keyed.address}?session_id=ward")
    await use(keyed, ADA)
    await keyed["forget"].click()
    await expect(keyed.of("forget-dialog", "forget-user")).to_be_disabled()
    await expect(keyed["forget-dialog"]).to_contain_text("admin")
    await keyed.of("forget-dialog", "cancel").click()
    await keyed["key-button"].click()
    await expect(keyed["key-dialog"].get_by_role("heading")).to_have_text("Change the key")
    await use(keyed, BO)
    await expect(keyed["where"]).to_have_text("kitchen · bo")
    await expect(keyed.page.locator("[data-id=kitchen]")).to_be_visible()
    await expect(keyed.page.locator("[data-id=ward]")).to_have_count(0)


async def test_a_name_that_another_user_has_is_one_to_talk_under(keyed: Visit, stage: Stage) -> None:
    """It looks as any new conversation, is answered, listed under its name and forgotten; the other's stays."""
    keyed.foreseen.add("status of 404")
    await keyed.page.goto(f"{keyed.address}?session_id=ward&user_id=bo")
    await use(keyed, BO)
    await keyed["ask-text"].fill("I am a baker. Why is my crumb gummy?")
    await keyed["ask-send"].click()
    await expect(keyed["stage-answered"]).to_have_attribute("data-state", "reached")
    await expect(keyed["turn"]).to_have_count(1)
    await expect(keyed["point"]).to_have_count(1)
    await expect(keyed["where"]).to_have_text("ward · bo")
    await expect(keyed.page.locator("[data-id=ward]")).to_contain_text("Why is my crumb gummy?")
    await keyed["forget"].click()
    await keyed.of("forget-dialog", "forget-conversation").check()
    await keyed.of("forget-dialog", "confirm-id").fill("ward")
    await keyed.of("forget-dialog", "submit").click()
    await expect(keyed["removed"]).to_be_visible()
    await keyed.of("receipt", "receipt-close").click()
    await expect(keyed.page.locator("[data-id=ward]")).to_have_count(0)
    track = await stage.client.get("/api/user/memory/track", params={"session_id": "ward", "user_id": "ada"})
    assert len(track.json()["data"]) >= 8
