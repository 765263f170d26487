"""The lines of a file that whoever runs a command names."""

from pathlib import Path

from pipeline.errors import SettingsInvalid


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Those that are not blank, each with its number from 1; raises SettingsInvalid."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsInvalid(f"the file {path} cannot be read: {exc}") from exc
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
