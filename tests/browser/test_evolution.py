"""The picture of the role's evolution, and what its points open."""

import re

from playwright.async_api import Browser, expect

from tests.browser.stage import Stage
from tests.browser.visiting import PHONE, Visit, visiting

#: Of each label that is seen: where it begins within the picture's window, and how much of its words is cut off.
LABELS = """(scroller) => [...scroller.querySelectorAll(".label > span")]
  .filter((label) => label.checkVisibility({ visibilityProperty: true }) && label.clientWidth > 0)
  .map((label) => ({
    name: label.textContent,
    left: label.getBoundingClientRect().left - scroller.getBoundingClientRect().left,
    cut: label.scrollWidth - label.clientWidth,
  }))"""


async def test_each_turn_is_a_point_that_says_what_it_shows(visit: Visit, stage: Stage) -> None:
    """There is a point a turn with its decision and its confidence in words; the picture names the identities."""
    await visit.go("ward", "ada")
    tracked = (await stage.client.get("/api/user/memory/track?session_id=ward")).json()["data"]
    await expect(visit["point"]).to_have_count(len(tracked))
    for item in tracked:
        point = visit.point(item["metadata"]["turn"])
        await expect(point).to_have_attribute("data-decision", item["metadata"]["decision"])
        await expect(point).to_have_attribute("aria-label", re.compile(r"confidence \d+%"))
    for name in ("nurse", "maths teacher"):
        await expect(visit["picture"]).to_contain_text(name)


async def test_a_point_opened_by_mouse_shows_quotes_decision_and_cost(visit: Visit) -> None:
    """The quoted words are marked in the question; the decision has its reason, the cost its model."""
    await visit.go("ward", "ada")
    await visit.point(1).click()
    dialog = visit["point-dialog"]
    await expect(dialog.locator("mark").first).to_contain_text("nurse")
    await expect(dialog.locator(".quoted")).to_contain_text("How do I write a handover note?")
    await expect(dialog.locator(".verdict")).to_contain_text("CREATE")
    await expect(visit["reason"]).not_to_be_empty()
    await expect(dialog.get_by_role("group", name="What the model cost")).to_contain_text("rules")
    await visit.of("point-dialog", "next").click()
    await expect(dialog.get_by_role("heading", level=2)).to_have_text("Turn 2")


async def test_points_are_walked_and_opened_by_keyboard(visit: Visit) -> None:
    """Arrows, Home and End move, Enter opens, Escape closes and gives the focus back to the point."""
    await visit.go("ward", "ada")
    await visit.point(1).focus()
    for key, turn in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 8), ("Home", 1), ("End", 8)):
        await visit.page.keyboard.press(key)
        await expect(visit.point(turn)).to_be_focused()
    await visit.page.keyboard.press("ArrowLeft")
    await visit.page.keyboard.press("Enter")
    dialog = visit["point-dialog"]
    await expect(dialog.get_by_role("heading", level=2)).to_have_text("Turn 7")
    await expect(dialog.locator("mark").first).to_contain_text("maths teacher")
    await visit.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(visit.point(7)).to_be_focused()


async def test_a_turn_of_the_talk_opens_what_it_taught(visit: Visit) -> None:
    """The same dialog is behind the decision that stands beside a turn."""
    await visit.go("ward", "ada")
    await visit.page.locator("[data-testid=turn][data-turn='3']").get_by_test_id("taught").click()
    await expect(visit["point-dialog"].get_by_role("heading", level=2)).to_have_text("Turn 3")


async def test_a_name_is_whole_where_there_is_room(visit: Visit, stage: Stage) -> None:
    """Also a wide one over a stay of one turn, and a long one at the end."""
    await stage.talk("names", "finn", "I am a wwwmmm cook.", "I am a senior geotechnical slope stability engineer.")
    await visit.go("names", "finn")
    names = {each["name"]: each for each in await visit.page.locator(".scroller").evaluate(LABELS)}
    assert {"wwwmmm cook", "senior geotechnical slope stability engineer"} <= set(names)
    assert {each["cut"] for each in names.values()} == {0}


async def test_no_name_hangs_out_of_a_picture_that_is_scrolled(browser: Browser, stage: Stage) -> None:
    """What is left of a name's place shortens it from its end, so that its tail meets no other name."""
    async with visiting(browser, stage.address, viewport=PHONE, has_touch=True) as visit:
        await visit.go("ward", "ada")
        await visit.show("role")
        scroller = visit.page.locator(".scroller")
        await expect(visit["point"]).to_have_count(8)
        for place in range(0, 200, 10):
            labels = await scroller.evaluate(
                f"async (it) => {{ it.scrollLeft = {place}; await new Promise(requestAnimationFrame);"
                f" await new Promise(requestAnimationFrame); return ({LABELS})(it); }}"
            )
            assert labels
            assert all(label["left"] >= 0 for label in labels), (place, labels)
