"""How conversations look on a desktop and a phone, light and dark."""

from playwright.async_api import Browser, expect

from tests.browser.looking import in_each_size, looking
from tests.browser.stage import KITCHEN, Stage

LONG = "I am a nurse. " + "What does this very long paragraph about the ward say? " * 60
UNBROKEN = "I am a plumber. https://example.org/" + "a" * 600


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
        await expect(visit["stage-answered"]).to_have_attribute("data-state", "reached")
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
