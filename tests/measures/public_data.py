"""The public data that the labels speak of, found under its public file names."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

#: A text to measure with: the questions of one conversation, oldest first.
Questions = list[str]
#: By data set, every text under the id that the labels know it by.
Texts = dict[str, dict[str, Questions]]


class Missing(Exception):
    """A data set that is not in the folder, and where it is to be had."""


def texts(folder: Path) -> Texts:
    """All three data sets; raises Missing where one is not in the folder or below it."""
    mtbench101 = _lines(folder, "mtbench101*.jsonl", "MT-Bench-101, github.com/mtbench101/mt-bench-101")
    kvpi = _lines(folder, "KvPI*.txt", "KvPI, github.com/songhaoyu/KvPI")
    dulemon = _lines(folder, "samples.jsonl", "the sample of DuLeMon, github.com/PaddlePaddle/Research")
    return {"mtbench101": dict(_mtbench101(mtbench101)), "kvpi": dict(_kvpi(kvpi)), "dulemon": dict(_dulemon(dulemon))}


def stated_in_cases(file: Path) -> dict[str, Questions]:
    """The turns of a file of cases whose extraction holds a stated identity, each by itself."""
    return {
        f"{case['id']}:{number}": [turn["q"]]
        for case in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for number, turn in enumerate(case["turns"], 1)
        if isinstance(turn.get("x"), dict) and turn["x"].get("states")
    }


def _lines(folder: Path, name: str, whence: str) -> list[str]:
    found = sorted(folder.rglob(name))
    if not found:
        raise Missing(f"no {name} in {folder}: get {whence}")
    return found[0].read_text(encoding="utf-8").split("\n")


def _mtbench101(lines: list[str]) -> Iterator[tuple[str, Questions]]:
    """A dialogue under its `id`."""
    for dialogue in map(json.loads, filter(None, lines)):
        yield str(dialogue["id"]), [said["user"] for said in dialogue["history"]]


def _kvpi(lines: list[str]) -> Iterator[tuple[str, Questions]]:
    """A post under the first twelve digits of its SHA-256: the files of the data set are cut in many ways."""
    for line in lines:
        _, separator, post = line.split("\t")[0].partition("<SEP>")
        if separator:
            yield sha256(post.strip().encode()).hexdigest()[:12], [post.strip()]


def _dulemon(lines: list[str]) -> Iterator[tuple[str, Questions]]:
    """Session and persona line ("7:U1"), or session and number of the user's turn ("7:3"); its words stand apart."""
    for session, dialogue in enumerate(map(json.loads, filter(None, lines)), 1):
        for part in ("bot_persona", "user_said_persona", "user_no_said_persona"):
            for persona in dialogue[part]:
                name, _, text = persona.partition(":")
                yield f"{session}:{name}", [text.replace(" ", "")]
        turns = [turn.split("\t")[0] for turn in dialogue["conversation"] if turn.startswith("Usr:")]
        for number, turn in enumerate(turns, 1):
            yield f"{session}:{number}", [turn.removeprefix("Usr:").replace(" ", "")]
