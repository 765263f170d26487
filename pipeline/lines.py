"""The lines of a file that whoever runs a command names."""

from pathlib import Path

from pipeline.errors import SettingsInvalid


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Those that are not blank, each with its number from 1; raises SettingsInvalid."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as exc:
        raise SettingsInvalid(f"the file {path} cannot be read: {exc}") from exc
    except UnicodeDecodeError as exc:
        number = exc.object.count(b"\n", 0, exc.start) + 1
        raise SettingsInvalid(f"the file {path} cannot be read: line {number} is not UTF-8; convert the file") from exc
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
