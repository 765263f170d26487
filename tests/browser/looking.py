"""Looks at states of the page on a desktop and a phone, light and dark; see build/screenshots, too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser

from tests.browser.visiting import DESKTOP, PHONE, SCREENSHOTS, THEMES, Visit, colours, visiting

SIZES = {"desktop": DESKTOP, "phone": PHONE}
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
