"""The word lists that rules read: one TOML file a subject, loaded once and never changed."""

import tomllib
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@cache
def words(subject: str) -> MappingProxyType[str, Any]:
    """The tables of `<subject>.toml` in this folder."""
    return MappingProxyType(tomllib.loads(files(__package__).joinpath(f"{subject}.toml").read_text(encoding="utf-8")))
