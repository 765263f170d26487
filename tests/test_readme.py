"""The README says what is so: every setting is in its table, with its default and its meaning."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, SecretStr

from pipeline.settings import Settings

README = Path(__file__).parent.parent / "README.md"


def rows(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, about in model.model_fields.items():
        if about.exclude:
            continue
        if isinstance(about.default, BaseModel):
            yield from rows(type(about.default), f"{prefix}{name.upper()}__")
            continue
        default = about.default
        if isinstance(default, SecretStr):
            default = default.get_secret_value()
        shown = "" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        yield f"| `{prefix}{name.upper()}` | {shown} | {about.description} |"


def test_the_table_of_settings_is_complete() -> None:
    """Each setting has its row, no row is left over."""
    table = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    first = table.index(next(rows(Settings)))
    wanted = list(rows(Settings))
    assert table[first : first + len(wanted)] == wanted
