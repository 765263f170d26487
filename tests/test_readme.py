"""The README says what is so: every setting is in its table, with its default and its meaning, and every metric."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, SecretStr

from pipeline.adapters.health import observe
from pipeline.limits import Permits, Stage
from pipeline.metrics import Metrics
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


def test_the_list_of_metrics_is_complete() -> None:
    """It names what a worker serves, and nothing else."""
    metrics = Metrics()
    observe([], Permits(1, get_args(Stage)), metrics)
    served = {
        family.name.removeprefix("rolestream_") + ("_total" if family.type == "counter" else "")
        for family in metrics.registry.collect()
    }
    (told,) = re.findall(r"`rolestream_…`: (.*?)\. A W3C", README.read_text(encoding="utf-8"), re.S)
    assert set(re.findall(r"`(\w+)`", told)) == served
