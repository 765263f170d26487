"""A visit to the page: a browser's tab that remembers every fault, and what a visitor does there."""

import os
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, ConsoleMessage, Locator, Page, ViewportSize, async_playwright, expect

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
CHROMIUM = os.environ.get("ROLESTREAM_TEST_CHROMIUM", "/usr/bin/chromium")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
#: Milliseconds for what is expected; generous, for the machine may be busy.
PATIENCE = 20_000

expect.set_options(timeout=PATIENCE)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    if not Path(CHROMIUM).exists():
        raise FileNotFoundError(f"there is no {CHROMIUM}: apt-get install chromium, or set ROLESTREAM_TEST_CHROMIUM")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Visit:
    page: Page
    address: str
    faults: list[str] = field(default_factory=list)
    foreseen: set[str] = field(default_factory=set)
    """What the browser is to say of answers that a test provokes, such as "status of 412"."""

    def __getitem__(self, hook: str) -> Locator:
        """What the page shows under this data-testid."""
        return self.page.get_by_test_id(hook)

    def of(self, dialog: str, hook: str) -> Locator:
        return self[dialog].get_by_test_id(hook)

    async def go(self, session: str | None = None, user: str | None = None) -> None:
        """Open the page at a conversation; where one is named, wait until it is there."""
        query = {name: value for name, value in (("session_id", session), ("user_id", user)) if value}
        await self.page.goto(f"{self.address}?{urlencode(query)}")
        if session:
            await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is loading any more."""
        await expect(self["loading"]).to_have_count(0)

    async def show(self, view: str) -> None:
        """On a phone: one of the four views."""
        await self.page.locator(f"[data-show={view}]").click()

    def feature(self, slot: str) -> Locator:
        return self.page.locator(f'[data-testid=feature][data-slot="{slot}"]')

    def point(self, turn: int) -> Locator:
        return self.page.locator(f"[data-testid=point][data-turn='{turn}']")

    async def widths(self) -> tuple[int, int]:
        """How wide the page is, and how wide its window."""
        wide, window = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        return wide, window

    async def violations(self, *rules: str) -> list[str]:
        """What axe finds serious or critical, of these rules or of all, each with where."""
        options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
        found = await Axe().run(self.page, options=options)
        return [
            f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')}"
            for one in found.response["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]

    def unforeseen(self) -> list[str]:
        return [fault for fault in self.faults if not any(words in fault for words in self.foreseen)]

    def _say(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(message.text)


@asynccontextmanager
async def visiting(browser: Browser, address: str, **options: Any) -> AsyncIterator[Visit]:
    """A visit by somebody who has never been here; it fails where the console has an error, be it of the CSP."""
    context = await browser.new_context(
        **{"viewport": DESKTOP, "locale": "en-GB", "reduced_motion": "reduce"} | options
    )
    try:
        page = await context.new_page()
        visit = Visit(page, address)
        page.on("console", visit._say)
        page.on("pageerror", lambda error: visit.faults.append(str(error)))
        yield visit
        assert not visit.unforeseen(), visit.unforeseen()
    finally:
        await context.close()


async def colours(visit: Visit, png: bytes) -> Sequence[int]:
    """How many colours every fourth pixel of a screenshot has, and the brightness of the commonest, from 0 to 255."""
    counted: list[int] = await visit.page.evaluate(_COUNT_COLOURS, b64encode(png).decode())
    return counted


_COUNT_COLOURS = """async (png) => {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0))]));
  const [width, height] = [Math.round(image.width / 4), Math.round(image.height / 4)];
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.imageSmoothingEnabled = false;
  canvas.drawImage(image, 0, 0, width, height);
  const counts = new Map();
  for (const pixel of new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer))
    counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const [commonest] = [...counts].reduce((one, other) => (one[1] >= other[1] ? one : other));
  return [counts.size, ((commonest & 255) + ((commonest >> 8) & 255) + ((commonest >> 16) & 255)) / 3];
}"""
