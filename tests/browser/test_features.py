"""The facts about a user on the page: added, edited against a version, deleted."""

import asyncio

from playwright.async_api import expect

from tests.browser.stage import Stage
from tests.browser.visiting import Visit


async def facts_of(visit: Visit, stage: Stage, user: str) -> None:
    """A visit to a user with a conversation and one fact set by hand."""
    await stage.talk(f"{user}-talks", user, "Hello!")
    await stage.add(user, "milk", "whole")
    await visit.go(f"{user}-talks", user)
    await expect(visit.feature("milk")).to_contain_text("whole")


async def test_a_fact_is_added(visit: Visit, stage: Stage) -> None:
    """What is typed is kept and on the list, as set by hand; the focus is back at the button."""
    await facts_of(visit, stage, "adds")
    await visit["add-feature"].click()
    await visit.of("add-dialog", "slot").fill("bread")
    await visit.of("add-dialog", "value").fill("rye")
    await visit.page.keyboard.press("Enter")
    await expect(visit.feature("bread")).to_contain_text("rye")
    await expect(visit.feature("bread")).to_contain_text("By hand")
    await expect(visit["add-dialog"]).to_have_count(0)
    await expect(visit["add-feature"]).to_be_focused()
    await expect(visit["toasts"]).to_contain_text("bread")
    assert (await stage.features("adds"))["bread"]["value"] == "rye"


async def test_what_is_missing_is_said_at_its_field(visit: Visit, stage: Stage) -> None:
    """An empty field is marked and focused; nothing is sent."""
    await facts_of(visit, stage, "misses")
    await visit["add-feature"].click()
    await visit.of("add-dialog", "slot").fill("bread")
    await visit.of("add-dialog", "submit").click()
    value = visit.of("add-dialog", "value")
    await expect(value).to_be_focused()
    await expect(value).to_have_attribute("aria-invalid", "true")
    await expect(value).to_have_accessible_description("This is needed.")
    await visit.of("add-dialog", "cancel").click()
    assert set(await stage.features("misses")) == {"milk"}


async def test_a_fact_is_edited_and_its_earlier_value_kept(visit: Visit, stage: Stage) -> None:
    """The new value takes the place of the old one, which is in the history."""
    await facts_of(visit, stage, "edits")
    await visit.feature("milk").get_by_test_id("edit-feature").click()
    await visit.of("edit-dialog", "value").fill("oat")
    await visit.of("edit-dialog", "submit").click()
    await expect(visit["edit-dialog"]).to_have_count(0)
    await expect(visit.feature("milk").locator(".feature-value")).to_have_text("oat")
    await visit.feature("milk").get_by_test_id("history").locator("summary").click()
    await expect(visit.feature("milk").get_by_test_id("history")).to_contain_text("whole")


async def test_an_edit_of_what_has_moved_on_is_stopped(visit: Visit, stage: Stage) -> None:
    """Another client's edit stands and is shown, what was typed stays, and only a second yes replaces theirs."""
    await facts_of(visit, stage, "conflicts")
    visit.foreseen.add("status of 412")
    await visit.feature("milk").get_by_test_id("edit-feature").click()
    await visit.of("edit-dialog", "value").fill("oat")
    await stage.edit("conflicts", "milk", "soy")
    await visit.of("edit-dialog", "submit").click()
    await expect(visit["edit-dialog"].get_by_role("alert")).to_contain_text("Somebody else changed this to “soy”")
    await expect(visit.of("edit-dialog", "value")).to_have_value("oat")
    await expect(visit.feature("milk").locator(".feature-value")).to_have_text("soy")
    assert (await stage.features("conflicts"))["milk"]["value"] == "soy"
    await visit.of("edit-dialog", "submit").click()
    await expect(visit.feature("milk").locator(".feature-value")).to_have_text("oat")


async def test_a_fact_is_deleted_after_a_yes(visit: Visit, stage: Stage) -> None:
    """Cancel leaves it; yes deletes it, and it is shown among the deleted ones, without its value."""
    await facts_of(visit, stage, "deletes")
    await visit.feature("milk").get_by_test_id("remove-feature").click()
    await expect(visit["confirm"]).to_contain_text("whole")
    await visit.of("confirm", "cancel").click()
    await expect(visit["confirm"]).to_have_count(0)
    assert set(await stage.features("deletes")) == {"milk"}
    await visit.feature("milk").get_by_test_id("remove-feature").click()
    await visit.of("confirm", "submit").click()
    await expect(visit.feature("milk")).to_have_count(0)
    assert await stage.features("deletes") == {}
    await visit["show-deleted"].check()
    await expect(visit.feature("milk")).to_contain_text("Deleted")
    await expect(visit.feature("milk")).not_to_contain_text("whole")


async def test_a_fact_that_has_moved_on_is_not_deleted(visit: Visit, stage: Stage) -> None:
    """What another client wrote meanwhile is not what was agreed to be deleted; it stays and is shown."""
    await facts_of(visit, stage, "keeps")
    visit.foreseen.add("status of 412")
    await visit.feature("milk").get_by_test_id("remove-feature").click()
    await stage.edit("keeps", "milk", "soy")
    await visit.of("confirm", "submit").click()
    await expect(visit["toasts"]).to_contain_text("it was not deleted")
    await expect(visit.feature("milk").locator(".feature-value")).to_have_text("soy")


async def test_a_fact_under_a_slot_that_is_taken_is_replaced_after_a_yes(visit: Visit, stage: Stage) -> None:
    """The value that is kept is shown; cancel leaves it and what was typed, yes replaces it."""
    await facts_of(visit, stage, "replaces")
    visit.foreseen.add("status of 412")
    await visit["add-feature"].click()
    await visit.of("add-dialog", "slot").fill("Milk")
    await visit.of("add-dialog", "value").fill("oat")
    await visit.of("add-dialog", "submit").click()
    await expect(visit["confirm"]).to_contain_text("“whole” is kept there. It gives way to “oat”.")
    await visit.of("confirm", "cancel").click()
    await expect(visit["confirm"]).to_have_count(0)
    await expect(visit.of("add-dialog", "value")).to_have_value("oat")
    assert (await stage.features("replaces"))["milk"]["value"] == "whole"
    await visit.of("add-dialog", "submit").click()
    await visit.of("confirm", "submit").click()
    await expect(visit["add-dialog"]).to_have_count(0)
    await expect(visit.feature("milk").locator(".feature-value")).to_have_text("oat")


async def test_facts_beyond_the_first_page_are_kept_up(visit: Visit, stage: Stage) -> None:
    """As many as were shown are shown after an edit, and what is deleted is gone, wherever it stood."""
    await stage.talk("hoard", "hoards", "Hello!")
    for first in range(0, 60, 20):
        await asyncio.gather(*(stage.add("hoards", f"fact {at:02}", "so") for at in range(first, first + 20)))
    await visit.go("hoard", "hoards")
    await expect(visit["feature"]).to_have_count(50)
    await visit["more-features"].click()
    await expect(visit["feature"]).to_have_count(60)
    await visit.feature("fact 55").get_by_test_id("history").locator("summary").click()
    await visit.feature("fact 58").get_by_test_id("remove-feature").click()
    await visit.of("confirm", "submit").click()
    await expect(visit["feature"]).to_have_count(59)
    await expect(visit.feature("fact 58")).to_have_count(0)
    await visit.feature("fact 57").get_by_test_id("edit-feature").click()
    await visit.of("edit-dialog", "value").fill("other")
    await visit.of("edit-dialog", "submit").click()
    await expect(visit.feature("fact 57").locator(".feature-value")).to_have_text("other")
    await expect(visit["feature"]).to_have_count(59)
    await expect(visit.feature("fact 55").get_by_test_id("history")).to_have_attribute("open", "")


async def test_the_facts_are_shown_whatever_is_selected_next(visit: Visit, stage: Stage) -> None:
    """Another conversation of the same user, the user again, the other language: the facts do not stay behind."""
    await stage.talk("one-of-two", "same", "Hello!")
    await stage.talk("two-of-two", "same", "Hello!")
    await stage.add("same", "milk", "oat")
    await visit.go("one-of-two", "same")

    async def are_shown() -> None:
        await visit.settle()
        await expect(visit.feature("milk")).to_contain_text("oat")

    await are_shown()
    await visit.page.locator("[data-id=two-of-two]").click()
    await are_shown()
    await visit["user-show"].click()
    await are_shown()
    await visit["language"].click()
    await are_shown()


async def test_an_error_goes_as_soon_as_its_field_is_edited(visit: Visit, stage: Stage) -> None:
    """The hint is there again, the mark is gone, and the alert about the field with them."""
    await facts_of(visit, stage, "mends")
    visit.foreseen.add("status of 422")
    await visit["add-feature"].click()
    slot = visit.of("add-dialog", "slot")
    await slot.evaluate("(field) => field.removeAttribute('maxlength')")
    await slot.fill("x" * 81)
    await visit.of("add-dialog", "value").fill("y")
    await visit.of("add-dialog", "submit").click()
    await expect(slot).to_have_accessible_description("At most 80 letters.")
    await expect(visit["add-dialog"].get_by_role("alert")).to_have_text("Look again at: What it is about.")
    await slot.fill("bread")
    await expect(slot).to_have_accessible_description("Such as “milk”.")
    await expect(slot).not_to_have_attribute("aria-invalid", "true")
    await expect(visit["add-dialog"].get_by_role("alert")).to_be_hidden()


async def test_a_toast_covers_nothing_that_can_be_pressed(visit: Visit, stage: Stage) -> None:
    """A long slot is shortened in it, it is in the head of the page, and what is under it takes the click."""
    await facts_of(visit, stage, "toasts")
    await visit["add-feature"].click()
    await visit.of("add-dialog", "slot").fill("W" * 80)
    await visit.of("add-dialog", "value").fill("y")
    await visit.of("add-dialog", "submit").click()
    await expect(visit["toasts"]).to_have_text(f"Added “{'W' * 39}…”.")
    await expect(visit["add-dialog"]).to_have_count(0)
    toast, head = await visit["toasts"].bounding_box(), await visit.page.get_by_role("banner").bounding_box()
    assert toast
    assert head
    assert toast["y"] + toast["height"] <= head["height"]
    middle = [toast["x"] + toast["width"] / 2, toast["y"] + toast["height"] / 2]
    assert await visit.page.evaluate("([x, y]) => !document.elementFromPoint(x, y).closest('.toasts')", middle)
