"""The ways between conversations, and what is shown where the server or a part of it does not answer."""

import json

from playwright.async_api import Browser, expect

from tests.browser.stage import Stage
from tests.browser.visiting import PHONE, Visit, visiting


async def test_back_and_forward_go_between_conversations(visit: Visit) -> None:
    """Each choice is a step that the title names; a dialog that was open belongs to the place that was left."""
    await visit.go("ward", "ada")
    await visit.page.goto(visit.address)
    await expect(visit["conversation"].first).to_have_attribute("aria-current", "true")
    first = await visit["where"].inner_text()
    for name in ("kitchen", "ward"):
        await visit.page.locator(f"[data-id={name}]").click()
        await expect(visit["where"]).to_contain_text(name)
    await expect(visit.page).to_have_title("\u2068ward\u2069 · Rolestream")
    await visit.page.locator("[data-id=ward]").click()  # which is no step
    await visit["correct"].click()
    await visit.page.go_back()
    await expect(visit["correct-dialog"]).to_have_count(0)
    await expect(visit["where"]).to_have_text("kitchen · bo")
    await expect(visit.page).to_have_title("\u2068kitchen\u2069 · Rolestream")
    await expect(visit["question"].first).to_contain_text("红烧肉")
    await expect(visit.page.locator("[data-id=kitchen]")).to_have_attribute("aria-current", "true")
    await visit.page.go_back()
    await expect(visit["where"]).to_have_text(first)
    await visit.page.go_forward()
    await expect(visit["where"]).to_have_text("kitchen · bo")


async def test_the_choice_of_a_user_is_a_step_too(visit: Visit) -> None:
    """Back shows the list that was there before, and what of it was shown."""
    await visit.go("ward")
    await visit["user"].fill("bo")
    await visit["user-show"].click()
    await expect(visit["where"]).to_have_text("kitchen · bo")
    await expect(visit.page.locator("[data-id=ward]")).to_have_count(0)
    await visit.page.go_back()
    await expect(visit["where"]).to_have_text("ward · ada")
    await expect(visit["user"]).to_have_value("")


async def test_on_a_phone_back_leads_to_the_list(browser: Browser, stage: Stage) -> None:
    """The view that was left is the one that is come back to."""
    async with visiting(browser, stage.address, viewport=PHONE, has_touch=True) as visit:
        await visit.go("ward")
        await visit.show("list")
        await visit.page.locator("[data-id=kitchen]").tap()
        await expect(visit["talk"]).to_be_visible()
        await visit.page.go_back()
        await expect(visit["list"]).to_be_visible()
        await expect(visit["where"]).to_have_text("ward · ada")


async def test_a_conversation_that_is_not_on_the_first_page_is_on_top_of_the_list(visit: Visit, stage: Stage) -> None:
    """It is marked as the one shown, and is there once, also when its page is loaded."""
    await stage.talk("the-oldest", "talker", "I am a nurse. What now?")
    for number in range(31):
        await stage.talk(f"newer-{number}", "talker", "Hello!")
    await visit.go("the-oldest", "talker")
    shown = visit.page.locator("[data-id=the-oldest]")
    await expect(visit["conversation"]).to_have_count(31)
    await expect(visit["conversation"].first).to_have_attribute("data-id", "the-oldest")
    await expect(shown).to_have_attribute("aria-current", "true")
    await expect(shown).to_contain_text("I am a nurse. What now?")
    await visit["more-conversations"].click()
    await expect(visit["conversation"]).to_have_count(32)
    await expect(shown).to_have_count(1)
    await expect(shown).to_have_attribute("aria-current", "true")
    await stage.client.post("/api/user/memory/forget?user_id=talker")


async def test_where_nothing_was_said_nothing_of_it_is_offered(visit: Visit, stage: Stage) -> None:
    """There is nothing to correct in a conversation that has not begun; its user alone can be forgotten."""
    visit.foreseen.add("status of 404")
    await visit.go("not-begun", "ada")
    await expect(visit["talk"].get_by_test_id("empty")).to_contain_text("Nothing has been said yet")
    await expect(visit["correct"]).to_be_hidden()
    await visit["forget"].click()
    await expect(visit["forget-dialog"].get_by_role("radio")).to_have_count(1)


async def test_a_server_that_is_away_is_said_to_be_until_it_is_back(visit: Visit) -> None:
    """One quiet line after some eight seconds without a stream, which goes by itself; not for a short break."""
    visit.foreseen.add("ERR_")
    await visit.page.clock.install()
    await visit.page.route("**/api/events?*", lambda route: route.abort())
    await visit.go("ward", "ada")
    await expect(visit["question"].first).to_be_visible()
    await visit.page.clock.run_for(5000)
    await expect(visit["away"]).to_be_hidden()
    await visit.page.clock.run_for(5000)
    await expect(visit["away"]).to_have_text("The server cannot be reached; trying again…")
    await visit["language"].click()
    await expect(visit["away"]).to_have_text("无法连接服务器，正在重试…")
    await visit.page.unroute_all()
    await visit.page.clock.run_for(6000)
    await expect(visit["away"]).to_be_hidden()


async def test_what_was_said_while_the_stream_was_away_is_shown(visit: Visit, stage: Stage) -> None:
    """Its events are not to be heard any more; the talk is read again."""
    visit.foreseen.add("ERR_")
    await stage.talk("missed", "cleo", "I am a plumber.")
    await visit.page.route("**/api/events?*", lambda route: route.abort())
    await visit.go("missed", "cleo")
    await expect(visit["turn"]).to_have_count(1)
    await stage.talk("missed", "cleo", "And gas?")
    await visit.page.unroute_all()
    await expect(visit["turn"]).to_have_count(2)


async def test_a_track_that_cannot_be_read_leaves_the_talk(visit: Visit) -> None:
    """The role says that it failed, with a way to try again; the talk is there."""
    visit.foreseen.update({"status of 503", "ERR_"})
    away = json.dumps({"code": 503, "status": "error", "message": "MongoDB is away: try again later", "data": None})
    await visit.page.route("**/track?*", lambda route: route.fulfill(status=503, body=away))
    await visit.page.route("**/api/events?*", lambda route: route.abort())
    await visit.go("ward", "ada")
    await expect(visit["question"].first).to_be_visible()
    await expect(visit["role"].get_by_test_id("failed")).to_contain_text("try again later")
    await expect(visit["belief"]).to_have_count(0)
    await visit.page.unroute("**/track?*")
    await visit["role"].get_by_test_id("retry").click()
    await expect(visit["point"]).to_have_count(8)
    await expect(visit["role"].get_by_test_id("failed")).to_have_count(0)


async def test_a_long_id_leaves_room_for_whose_it_is(visit: Visit, stage: Stage) -> None:
    """The conversation's id is cut in the head and on the list, its user is not."""
    name = "c" * 200
    await stage.talk(name, "cleo", "Hello!")
    await visit.go(name, "cleo")
    ends_within = "(it) => it.scrollWidth <= it.clientWidth"
    for place in (visit["where"], visit.page.locator(f"[data-id={name}] .conversation-id")):
        user = place.locator("bdi").last
        await expect(user).to_have_text("cleo")
        assert await user.evaluate(ends_within)
        assert await place.evaluate(ends_within)


async def test_a_phone_on_its_side_can_ask(browser: Browser, stage: Stage) -> None:
    """The page scrolls to a talk of some height, and to the button that asks."""
    async with visiting(browser, stage.address, viewport={"width": 844, "height": 390}, has_touch=True) as visit:
        await stage.talk("sideways", "cleo", "I am a plumber. Which pipe for hot water?")
        await visit.go("sideways", "cleo")
        talk = await visit.page.locator("#talk-body").bounding_box()
        assert talk is not None
        assert talk["height"] > 140
        await visit["ask-text"].fill("And which one for gas?")
        await visit["ask-send"].tap()
        await expect(visit["question"]).to_have_count(2)
        wide, window = await visit.widths()
        assert wide <= window
        for view in ("list", "role", "memory"):
            await visit.show(view)
            await expect(visit[view]).to_be_visible()
