"""Text that would like to be more than text."""

from playwright.async_api import expect

from tests.browser.stage import Stage
from tests.browser.visiting import Visit

IMAGE = "<img src=x onerror=\"document.title='owned'\">"


async def test_hostile_text_stays_text(visit: Visit, stage: Stage) -> None:
    """Markup in a question, an identity and a fact is shown as it was written, and runs nowhere."""
    await stage.talk("hostile", "<b>eve</b>", f"I am a nurse {IMAGE}. How do I write <script>alert(1)</script>?")
    await stage.add("<b>eve</b>", "<i>milk</i>", IMAGE)
    await visit.go("hostile", "<b>eve</b>")
    await expect(visit["question"]).to_contain_text(IMAGE)
    await expect(visit["where"]).to_contain_text("<b>eve</b>")
    await expect(visit.feature("<i>milk</i>")).to_contain_text(IMAGE)
    await expect(visit.page.locator("[data-id=hostile]")).to_contain_text("<img src=x")
    await visit.point(1).click()
    await expect(visit["point-dialog"]).to_contain_text(IMAGE)
    await visit.page.keyboard.press("Escape")
    await visit["correct"].click()
    await visit.of("correct-dialog", "is").fill("<u>spy</u>")
    await visit.of("correct-dialog", "submit").click()
    await expect(visit["belief"]).to_contain_text("<u>spy</u>")
    await expect(visit.page.locator("img[src=x], main b, main i, main u, main script")).to_have_count(0)
    await expect(visit.page).to_have_title("\u2068hostile\u2069 · Rolestream")


async def test_letters_that_turn_the_direction_turn_their_own_words_alone(visit: Visit, stage: Stage) -> None:
    """What follows an id with an override of the direction still follows it, in the head and in the list."""
    await stage.talk("\u202eevil", "u\u202eser", "I am a plumber.")
    await visit.go("\u202eevil", "u\u202eser")
    for place in (visit["where"], visit.page.locator("[data-id='\u202eevil'] .conversation-id")):
        conversation, user = [await name.bounding_box() for name in await place.locator("bdi").all()]
        assert conversation is not None
        assert user is not None
        assert conversation["x"] + conversation["width"] < user["x"]


async def test_a_conversation_of_any_name_can_be_opened(visit: Visit, stage: Stage) -> None:
    """Ids with signs that mean something in an address or in markup are ids."""
    name = 'a/b?c=d&e#f "g" %20<h>'
    await stage.talk(name, "ada & co", "I am a plumber.")
    await visit.go(name, "ada & co")
    await expect(visit["question"]).to_contain_text("I am a plumber.")
    await visit.page.reload()
    await expect(visit["where"]).to_have_text(f"{name} · ada & co")
    await expect(visit["belief"]).to_contain_text("plumber")
