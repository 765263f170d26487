"""Language, theme, and the views of a phone."""

import re

from playwright.async_api import Browser, expect

from tests.browser.stage import Stage
from tests.browser.visiting import PHONE, Visit, visiting


async def test_the_language_is_switched_and_remembered(visit: Visit) -> None:
    """Every fixed word changes at once, what the user said does not; the choice outlasts a reload, and goes back."""
    await visit.go("ward", "ada")
    words = visit.page.locator("[data-t]:visible")
    english = await words.all_inner_texts()
    await visit["language"].click()
    await expect(visit["correct"]).to_have_text("更正…")
    await visit.settle()
    chinese = await words.all_inner_texts()
    assert len(english) == len(chinese)
    assert [text for text in chinese if not re.search("[\u4e00-\u9fff]", text)] == []
    await expect(visit["question"].first).to_contain_text("I am a nurse")
    await visit.page.reload()
    await expect(visit["correct"]).to_have_text("更正…")
    await visit["language"].click()
    await expect(visit["correct"]).to_have_text("Correct…")
    await visit.settle()
    assert await words.all_inner_texts() == english


async def test_the_servers_english_sentences_are_marked_in_a_chinese_page(browser: Browser, stage: Stage) -> None:
    """A lead in Chinese comes before one, be it of a field; and a receipt names what was removed."""
    await stage.talk("chinese", "mei", "I am a nurse.")
    async with visiting(browser, stage.address, locale="zh-CN") as visit:
        visit.foreseen.add("status of 422")
        await visit.go("chinese", "mei")
        await visit["add-feature"].click()
        await visit.of("add-dialog", "slot").fill("牛奶")
        await visit.of("add-dialog", "value").fill("…")
        await visit.of("add-dialog", "submit").click()
        await expect(visit["add-dialog"].locator(".wrong")).to_contain_text("输入有误。")
        await expect(visit["add-dialog"].locator(".wrong [lang=en]")).not_to_be_empty()
        await expect(visit["add-dialog"].get_by_role("alert")).to_have_text("请检查：内容。")
        await visit.of("add-dialog", "cancel").click()
        await visit.point(1).click()
        await expect(visit["reason"]).to_contain_text("系统以英文说明：")
        await expect(visit["reason"].locator("[lang=en]")).not_to_be_empty()
        await visit.page.keyboard.press("Escape")
        await visit["forget"].click()
        await visit.of("forget-dialog", "confirm-id").fill("chinese")
        await visit.of("forget-dialog", "forget-conversation").check()
        await visit.of("forget-dialog", "submit").click()
        names = visit.of("receipt", "removed").locator("tbody th")
        await expect(names.filter(has_text="消息").first).to_be_visible()
        assert [name for name in await names.all_inner_texts() if not re.search("[\u4e00-\u9fff]", name)] == []


async def test_the_theme_follows_the_system_until_it_is_chosen(browser: Browser, stage: Stage) -> None:
    """A choice against the system's is kept over a reload."""
    ground = "getComputedStyle(document.body).backgroundColor"
    async with visiting(browser, stage.address, color_scheme="dark") as visit:
        await visit.go("ward", "ada")
        dark = await visit.page.evaluate(ground)
        await visit["theme"].click()
        light = await visit.page.evaluate(ground)
        assert light != dark
        await visit.page.reload()
        assert await visit.page.evaluate(ground) == light


async def test_a_phone_shows_one_view_at_a_time(browser: Browser, stage: Stage) -> None:
    """The chosen one alone is seen, and picking a conversation shows its talk."""
    panes = ["list", "talk", "role", "memory"]
    async with visiting(browser, stage.address, viewport=PHONE, has_touch=True) as visit:
        await visit.go("ward")
        for view in panes:
            await visit.show(view)
            await expect(visit.page.locator(f"[data-show={view}]")).to_have_attribute("aria-current", "true")
            assert [pane for pane in panes if await visit[pane].is_visible()] == [view]
        await visit.show("list")
        await visit.page.locator("[data-id=kitchen]").tap()
        await expect(visit["talk"]).to_be_visible()
        await expect(visit["question"].first).to_contain_text("红烧肉")


async def test_what_is_touched_is_large_enough(browser: Browser, stage: Stage) -> None:
    """On a phone no button is smaller than 24 pixels either way, which WCAG 2.2 asks for."""
    async with visiting(browser, stage.address, viewport=PHONE, has_touch=True) as visit:
        await visit.go("ward", "ada")
        for view in ("list", "talk", "role", "memory"):
            await visit.show(view)
            for button in await visit.page.locator("button:visible, summary:visible").all():
                box = await button.bounding_box()
                assert box is not None
                assert min(box["width"], box["height"]) >= 24, await button.evaluate("(node) => node.outerHTML")
