"""How damaged JSON is read: `python -m tests.measures.json_reading FOLDER`.

The folder holds the public test data of json_repair and jsonrepair (`input`, `expected`) and of JSONTestSuite (`kind`
y, n or i, `b64`) as JSON lines. A value that is not the one meant, given without a word, is worse than a refusal.
"""

import argparse
import base64
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.adapters.openai.json_reading import read_json

DAMAGED = ("json_repair_dev.jsonl", "jsonrepair_dev.jsonl")
STRICT = "jsontestsuite.jsonl"
_OUTCOMES = ("exact", "refused", "different", "read")

Line = dict[str, Any]
#: Of a line of the data: which set it belongs to, its id, what became of it, and what was read.
Outcome = tuple[str, str, str, object]


def outcomes(folder: Path) -> Iterator[Outcome]:
    """What becomes of every line; raises OSError where a file is missing."""
    for name in DAMAGED:
        for line in _lines(folder / name):
            yield name.removesuffix(".jsonl"), line["id"], *_read(line["input"], line["expected"])
    for line in _lines(folder / STRICT):
        kind = {"y": "valid", "n": "invalid", "i": "either"}[line["kind"]]
        yield f"jsontestsuite, {kind}", line["id"], *_read_bytes(base64.b64decode(line["b64"]), valid=kind == "valid")


def _lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _read(text: str, meant: object) -> tuple[str, object]:
    try:
        value = read_json(text)
    except ValueError as exc:
        return "refused", str(exc)
    return ("exact" if _same(value, meant) else "different"), value


def _read_bytes(data: bytes, *, valid: bool) -> tuple[str, object]:
    """Of what is not valid nobody says what it means: it is read or refused."""
    try:
        text = data.decode()
    except UnicodeDecodeError as exc:
        return "refused", str(exc)
    if valid:
        return _read(text, json.loads(text))
    try:
        return "read", read_json(text)
    except ValueError as exc:
        return "refused", str(exc)


def _same(one: object, other: object) -> bool:
    """Equal with types: 1 is not true, and 1.0 is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def main() -> int:
    """Print how many are read exactly, refused, or read as something else."""
    parser = argparse.ArgumentParser(prog="python -m tests.measures.json_reading", description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="also each that is read as something else")
    arguments = parser.parse_args()
    try:
        found = list(outcomes(arguments.folder))
    except OSError as exc:
        print(f"the data cannot be read: {exc}", file=sys.stderr)
        return 2
    print(f"{'':<26}{'texts':>6}" + "".join(f"{outcome:>11}" for outcome in _OUTCOMES))
    for data in dict.fromkeys(data for data, *_ in found):
        counts = Counter(outcome for of, _, outcome, _ in found if of == data)
        print(f"{data:<26}{counts.total():>6}" + "".join(f"{counts[outcome]:>11}" for outcome in _OUTCOMES))
    if arguments.show:
        for data, name, outcome, value in found:
            if outcome == "different":
                print(f"{data} {name}: {value!r:.200}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
