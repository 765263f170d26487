"""The page without a mouse."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.visiting import Visit

#: Counts what gets the focus, and what of it does not show that it has it.
WATCH = """() => {
  window.focusedOnes = new Set();
  window.unmarked = [];
  addEventListener("focusin", ({ target }) => {
    window.focusedOnes.add(target);
    if (getComputedStyle(target).outlineStyle === "none") window.unmarked.push(target.outerHTML.slice(0, 200));
  });
}"""
CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]"
MISSED = f"""() => [...document.querySelectorAll("{CONTROLS}")]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && node.checkVisibility({{ visibilityProperty: true }}))
  .filter((node) => !window.focusedOnes.has(node))
  .map((node) => node.outerHTML.slice(0, 200))"""


async def walk(page: Page) -> None:
    """Press Tab until the focus has left the page."""
    for _ in range(200):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement === document.body"):
            return
    raise AssertionError("the focus does not leave the page")


async def test_tab_reaches_every_control_and_shows_where_it_is(visit: Visit) -> None:
    """Nothing that can be used is left out, and whatever has the focus is marked."""
    await visit.go("ward", "ada")
    await expect(visit.feature("tea")).to_be_visible()
    await visit.page.evaluate(WATCH)
    await walk(visit.page)
    assert await visit.page.evaluate(MISSED) == []
    assert await visit.page.evaluate("window.unmarked") == []


async def test_the_first_stop_skips_to_the_talk(visit: Visit) -> None:
    """Whoever comes by keyboard need not walk through the list of conversations."""
    await visit.go("ward", "ada")
    await visit.page.keyboard.press("Tab")
    await expect(visit.page.locator("#skip")).to_be_focused()
    await visit.page.keyboard.press("Enter")
    await expect(visit["talk"]).to_be_focused()


@pytest.mark.parametrize(
    ("opener", "dialog"),
    [
        ("new-conversation", "new-dialog"),
        ("correct", "correct-dialog"),
        ("forget", "forget-dialog"),
        ("add-feature", "add-dialog"),
        ("edit-feature", "edit-dialog"),
        ("remove-feature", "confirm"),
        ("taught", "point-dialog"),
    ],
)
async def test_a_dialog_takes_the_focus_and_gives_it_back(visit: Visit, opener: str, dialog: str) -> None:
    """Enter opens it with the focus in it, Tab stays in it, and Escape gives the focus back to what opened it."""
    await visit.go("ward", "ada")
    button = visit[opener].first
    await button.focus()
    await visit.page.keyboard.press("Enter")
    await expect(visit[dialog].locator(":focus")).to_have_count(1)
    for _ in range(12):
        await visit.page.keyboard.press("Tab")
        assert await visit[dialog].evaluate(
            "(it) => it.contains(document.activeElement) || document.activeElement === document.body"
        )
    await visit.page.keyboard.press("Escape")
    await expect(visit[dialog]).to_have_count(0)
    await expect(button).to_be_focused()


async def test_a_fact_is_added_without_a_mouse(visit: Visit) -> None:
    """Tab and Enter suffice for a form."""
    await visit.go("kitchen", "bo")
    await visit["add-feature"].press("Enter")
    await visit.page.keyboard.type("pan")
    await visit.page.keyboard.press("Tab")
    await visit.page.keyboard.type("iron")
    await visit.page.keyboard.press("Enter")
    await expect(visit.feature("pan")).to_contain_text("iron")
    await expect(visit["add-feature"]).to_be_focused()
