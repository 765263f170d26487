"""A clock that stands still but for those who move it, and for who sleeps by it."""

import asyncio
from dataclasses import dataclass


@dataclass
class Now:
    at: float = 1000.0

    def __call__(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await settled()
        self.at += seconds
        await asyncio.sleep(0)


async def settled() -> None:
    """Let all others do what they can at this moment of the clock."""
    for _ in range(20):
        await asyncio.sleep(0)
