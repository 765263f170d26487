"""How each state of the page looks on a desktop and a phone, light and dark; look at build/screenshots, too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Route, expect

from tests.browser.stage import KITCHEN, Stage
from tests.browser.visiting import DESKTOP, PATIENCE, PHONE, SCREENSHOTS, THEMES, Visit, colours, visiting

SIZES = {"desktop": DESKTOP, "phone": PHONE}
LONG = "I am a nurse. " + "What does this very long paragraph about the ward say? " * 60
UNBROKEN = "I am a plumber. https://example.org/" + "a" * 600
in_each_size = pytest.mark.parametrize("size", SIZES)


@dataclass
class Look:
    """Looks at a visit's states, each under a name and in both themes."""

    visit: Visit
    size: str

    async def show(self, view: str) -> None:
        """On a phone the view; on a desktop all are shown."""
        if self.size == "phone":
            await self.visit.show(view)

    async def at(self, state: str) -> None:
        """It is not blank, in its theme, no wider than its window, and axe finds nothing serious."""
        wide, window = await self.visit.widths()
        assert wide <= window, f"{state} is {wide} pixels wide in a window of {window}"
        for theme in THEMES:
            await self.visit.page.emulate_media(color_scheme=theme)
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            path = SCREENSHOTS / f"{self.size}-{state}-{theme}.png"
            count, brightness = await colours(self.visit, await self.visit.page.screenshot(path=path))
            assert count > 50, f"{path.name} is blank"
            assert await self.visit.page.get_by_role("dialog").count() or (brightness < 80) is (theme == "dark")
            # What else axe finds is the same in both themes.
            violations = await self.visit.violations(*(["color-contrast"] if theme == "dark" else []))
            assert not violations, f"{path.name}: {violations}"


@asynccontextmanager
async def looking(browser: Browser, address: str, size: str, locale: str = "en-GB") -> AsyncIterator[Look]:
    options = {"viewport": SIZES[size], "locale": locale, "has_touch": size == "phone"}
    async with visiting(browser, address, **options) as visit:
        yield Look(visit, size)


@in_each_size
async def test_a_conversation(browser: Browser, stage: Stage, size: str) -> None:
    """The talk, the role with its evolution, the facts, the list, and a point of the evolution."""
    async with looking(browser, stage.address, size) as look:
        visit = look.visit
        await visit.go("ward", "ada")
        await expect(visit["point"]).to_have_count(8)
        for view in ("talk", "list", "role", "memory") if size == "phone" else ("talk",):
            await look.show(view)
            await look.at(view)
        await look.show("role")
        await visit.point(7).click()
        await expect(visit["point-dialog"]).to_be_visible()
        await look.at("point")


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
        await expect(visit["receipt"]).to_be_visible(timeout=PATIENCE)
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
async def test_long_texts_and_stages(browser: Browser, stage: Stage, size: str) -> None:
    """Long and unbroken words stay inside; a long text can be shown whole; the stages while a question is followed."""
    session = f"long-{size}-" + "x" * 60
    await stage.talk(session, "lena", LONG, UNBROKEN)
    await stage.add("lena", "y" * 80, "z" * 200)
    async with looking(browser, stage.address, size) as look:
        visit = look.visit
        await visit.go(session, "lena")
        await visit["show-all"].first.click()
        await visit["ask-text"].fill("How do I bleed a radiator?")
        await visit["ask-send"].click()
        await expect(visit["stage-answered"]).to_have_attribute("data-state", "reached", timeout=PATIENCE)
        await expect(visit["turn"]).to_have_count(3)
        await look.at("long")
        await look.show("memory")
        await look.at("long-facts")
        await look.show("role")
        await look.at("long-role")


@in_each_size
async def test_in_chinese(browser: Browser, stage: Stage, size: str) -> None:
    """A browser that prefers Chinese shows the page in it; no word of the page stays in English."""
    async with looking(browser, stage.address, size, locale="zh-CN") as look:
        visit = look.visit
        await visit.go("kitchen", "bo")
        await expect(visit["question"].first).to_contain_text(KITCHEN[0])
        await expect(visit.page.locator("html")).to_have_attribute("lang", "zh-CN")
        await look.show("role")
        await look.at("chinese")
        await visit.point(1).click()
        await expect(visit["point-dialog"].locator("mark").first).to_contain_text("厨师")
        await look.at("chinese-point")


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
