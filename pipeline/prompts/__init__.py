"""What models are told: one Markdown file a call, a fixed part and, after a line `---`, a part filled per request."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SEAM = "\n---\n"


@dataclass(frozen=True)
class Prompt:
    """The fixed part comes first in every request, so that servers can keep it in their cache."""

    fixed: str
    filled: str = ""

    def text(self, value: str = "") -> str:
        """The fixed part, followed by the filled one where there is something to fill in."""
        return f"{self.fixed}\n\n{self.filled.replace('{value}', value)}" if value else self.fixed


@cache
def prompt(name: str) -> Prompt:
    """The prompt in `<name>.md` in this folder."""
    text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    fixed, _, filled = text.partition(_SEAM)
    return Prompt(fixed.strip(), filled.strip())
