"""The measure of JSON reading tells exact, refused and silently different apart."""

import base64
import json
from pathlib import Path

from tests.measures.json_reading import outcomes


def test_each_line_has_one_outcome(tmp_path: Path) -> None:
    """What is meant is compared with types; of invalid JSON it only counts whether it is read."""
    damaged = [
        {"id": "fence", "input": '```json\n{"a": 1}\n```', "expected": {"a": 1}},
        {"id": "guess", "input": '{"a": "b', "expected": {"a": "c"}},
        {"id": "type", "input": '{"a": true}', "expected": {"a": 1}},
        {"id": "none", "input": "no object", "expected": {}},
    ]
    strict = [("y", b'{"a": 1.0}'), ("y", b"[1e1]"), ("n", b'{"a" 1'), ("n", b"\xff"), ("i", b'["\\ud800"]')]
    lines = [{"id": kind, "kind": kind, "b64": base64.b64encode(text).decode()} for kind, text in strict]
    for name, of in (("json_repair_dev", damaged), ("jsonrepair_dev", []), ("jsontestsuite", lines)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in of))
    found = [(data, name, outcome) for data, name, outcome, _ in outcomes(tmp_path)]
    assert found == [
        ("json_repair_dev", "fence", "exact"),
        ("json_repair_dev", "guess", "different"),
        ("json_repair_dev", "type", "different"),
        ("json_repair_dev", "none", "refused"),
        ("jsontestsuite, valid", "y", "exact"),
        ("jsontestsuite, valid", "y", "exact"),
        ("jsontestsuite, invalid", "n", "refused"),
        ("jsontestsuite, invalid", "n", "refused"),
        ("jsontestsuite, either", "i", "read"),
    ]
