"""How dialogs and the states between look on a desktop and a phone, light and dark."""

import asyncio

from playwright.async_api import Browser, Route, expect

from tests.browser.looking import in_each_size, looking
from tests.browser.stage import Stage


@in_each_size
async def test_dialogs(browser: Browser, stage: Stage, size: str) -> None:
    """Each form, with something wrong in it where there can be, and the receipt."""
    user = f"of-a-{size}"
    await stage.talk(f"talk-{user}", user, "I am a nurse. How do I write a handover note?")
    await stage.add(user, "milk", "oat")
    async with looking(browser, stage.address, size) as look:
        visit = look.visit
        visit.foreseen.add("status of 412")
        await visit.go(f"talk-{user}", user)
        await look.show("memory")
        await visit["add-feature"].click()
        await visit.of("add-dialog", "submit").click()
        await look.at("add")
        await visit.page.keyboard.press("Escape")
        await visit.feature("milk").get_by_test_id("edit-feature").click()
        await stage.edit(user, "milk", "soy")
        await visit.of("edit-dialog", "submit").click()
        await expect(visit["edit-dialog"].get_by_role("alert")).to_be_visible()
        await look.at("edit")
        await visit.of("edit-dialog", "cancel").click()
        await visit.feature("milk").get_by_test_id("remove-feature").click()
        await look.at("delete")
        await visit.of("confirm", "cancel").click()
        await visit.feature("milk").get_by_test_id("history").locator("summary").click()
        await visit["guidance"].locator("summary").click()
        await visit.settle()
        await visit["guidance"].scroll_into_view_if_needed()
        await look.at("guidance")
        await look.show("role")
        await visit["correct"].click()
        await look.at("correct")
        await visit.page.keyboard.press("Escape")
        await look.show("talk")
        await visit["forget"].click()
        await look.at("forget")
        await visit.of("forget-dialog", "forget-conversation").check()
        await visit.of("forget-dialog", "confirm-id").fill(f"talk-{user}")
        await visit.of("forget-dialog", "submit").click()
        await expect(visit["receipt"]).to_be_visible()
        await look.at("receipt")


@in_each_size
async def test_nothing_loading_and_failed(browser: Browser, stage: Stage, size: str) -> None:
    """Nothing chosen, waiting for an answer that does not come, and answers that fail, with a way to try again."""
    async with looking(browser, stage.address, size) as look:
        visit, held = look.visit, asyncio.Event()
        visit.foreseen.add("status of 503")

        async def hold(route: Route) -> None:
            await held.wait()
            await route.continue_()

        await visit.go(user="nobody")
        await look.show("list")
        await expect(visit["list"].get_by_test_id("empty")).to_be_visible()
        await look.at("nothing")
        await visit.page.route("**/conversation?*", hold)
        await visit.page.goto(f"{stage.address}?session_id=ward&user_id=ada")
        await expect(visit["talk"].get_by_test_id("loading")).to_be_visible()
        await look.at("loading")
        held.set()
        await visit.page.unroute_all(behavior="wait")
        await visit.settle()
        away = '{"code": 503, "status": "error", "message": "Kafka or MongoDB is away: try again later", "data": null}'
        await visit.page.route("**/api/user/memory/**", lambda route: route.fulfill(status=503, body=away))
        await visit.page.reload()
        await expect(visit["talk"].get_by_test_id("failed")).to_contain_text("try again later")
        await look.at("failed")
        await visit.page.unroute_all(behavior="wait")
        await visit["talk"].get_by_test_id("retry").click()
        await expect(visit["question"].first).to_be_visible()


@in_each_size
async def test_the_key_dialog(browser: Browser, stage: Stage, size: str) -> None:
    """What is asked where keys are set, and that a key was wrong."""
    async with looking(browser, stage.keyed_address, size) as look:
        visit = look.visit
        visit.foreseen.add("status of 401")
        await visit.go()
        await visit.of("key-dialog", "key-input").fill("not-one-of-the-keys")
        await visit.of("key-dialog", "submit").click()
        await expect(visit["key-dialog"]).to_contain_text("This key is not known.")
        await look.at("key")
