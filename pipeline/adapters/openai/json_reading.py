"""Reads the JSON that a model meant: strictly first, then past fences, reasoning, prose and small damage."""

import json
import math
import re
from collections.abc import Collection, Iterator

from json_repair import repair_json

from pipeline.ports import Json

#: No reply that we ask for nests deeper than 5.
MAX_DEPTH = 32
#: The longest reply that is read, in characters: several times the largest token limit of a call.
MAX_CHARS = 200_000
#: How many places of a reply are tried as the start of a value, so that hostile text costs no quadratic time.
_MAX_STARTS = 40
#: Repairing takes time with the text's length times its quotes or brackets, and looking whether all of it stands in the
#: text with the length times its strings: at most about a fifth of a second each.
_MOST_REPAIR = 4_000_000
_TOO_LONG = "the reply is damaged JSON, and too long to repair"

_TAG = r"(?:think|thinking|reasoning|thought)"
_REASONING = re.compile(rf"\A\s*<({_TAG})>.*?</\1>", re.S)
# Some chat templates put the opening tag into the prompt, so that only the closing one arrives.
_REASONING_END = re.compile(rf"\A(?:(?!<{_TAG}>).)*?^[ \t]*</{_TAG}>[ \t]*$", re.S | re.M)
_REASONING_CUT = re.compile(rf"\A\s*<{_TAG}>")
_FENCE = re.compile(r"^[ \t]*(```++|~~~++)[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.S | re.M)
_CUT_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_ESCAPED = {"n": " ", "r": " ", "t": " ", "b": " ", "f": " "}
# "undefined" is no word that was meant.
_BARE = re.compile(r"(?!undefined\Z)-?\w[\w .+-]*")
# Where a repaired string goes on past the end of the string that was meant.
_JOINT = re.compile(r"""["']\s*(?:[+:,]\s*["'\w]|[\]}])""")
_NUMBER = re.compile(r"(?<![\w.+-])[+-]?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d+)?(?![\w.+-])")
_START = re.compile(r"[{\[]")
_NUL_OR_SURROGATE = re.compile("[\x00\ud800-\udfff]")


def read_json(text: str, wanted: Collection[str] = ()) -> Json:
    """The value in a model's reply; `wanted` are keys that tell the object meant from others beside it.

    Valid JSON gives exactly its value. Raises ValueError that says in plain words what was wrong, and quotes nothing.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"the reply is longer than {MAX_CHARS} characters")
    text = text.removeprefix("\ufeff")
    try:
        return _strict(text)
    except json.JSONDecodeError:
        pass
    text = without_reasoning(text)
    candidates = [*(match[2] for match in _FENCE.finditer(text)), text]
    for candidate in candidates:
        try:
            return _strict(candidate)
        except json.JSONDecodeError:
            found = _meant(list(_values(candidate)), wanted)
        if found is not None:
            return found
    return _repaired(candidates[0])


def without_reasoning(text: str) -> str:
    """The reply after the block in which a reasoning model thinks; empty when it was cut off while thinking."""
    if _REASONING_CUT.match(text):
        match = _REASONING.match(text)
        return text[match.end() :].strip() if match else ""
    match = _REASONING_END.match(text)
    return text[match.end() :].strip() if match else text


def storable(value: Json) -> Json:
    """The value without what UTF-8, MongoDB or JSON cannot carry: NUL, lone surrogates, infinite numbers."""
    if isinstance(value, str):
        return _NUL_OR_SURROGATE.sub("", value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {_NUL_OR_SURROGATE.sub("", key): storable(item) for key, item in value.items()}
    return value


def _strict(text: str) -> Json:
    """What RFC 8259 allows and nothing else; ValueError for what is valid and too deep."""
    try:
        value: Json = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError:
        raise
    except RecursionError as exc:
        raise ValueError(f"the reply nests deeper than {MAX_DEPTH}") from exc
    return _shallow(value)


def _refuse_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)


def _shallow(value: Json) -> Json:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return value
    raise ValueError(f"the reply nests deeper than {MAX_DEPTH}")


def _values(text: str) -> Iterator[Json]:
    """The objects and lists that stand whole in the text, outermost ones only as far as that can be told."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    at = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = decoder.raw_decode(text, start.start())
        except RecursionError as exc:
            raise ValueError(f"the reply nests deeper than {MAX_DEPTH}") from exc
        except ValueError:
            at = start.end()
            continue
        yield _shallow(value)


def _meant(values: list[Json], wanted: Collection[str]) -> Json:
    """The value with most of the wanted keys, the first of equals; None where none has any.

    A reply that repeats itself or goes on to invent the next question starts with the right value.
    """
    objects = [value for value in values if isinstance(value, dict)]
    objects += [item for value in values if isinstance(value, list) for item in value if isinstance(item, dict)]
    best = max(objects, key=lambda value: len(value.keys() & set(wanted)), default={})
    return best if best.keys() & set(wanted) else None


def _repaired(text: str) -> Json:
    """The value of damaged JSON, as far as every part of the repair stands in the text as a value would."""
    text = text.strip()
    start = _START.search(text)
    if start is None or text.startswith('"'):
        raise ValueError("the reply holds no JSON object")
    damaged = _CUT_ESCAPE.sub(r"\1", text[start.start() :]).replace("\\'", "'")
    if damaged.endswith(":"):
        damaged += "null"
    quotes, brackets = (sum(map(damaged.count, marks)) for marks in ("\"'", "{["))
    if len(damaged) * max(quotes, brackets) > _MOST_REPAIR:
        raise ValueError(_TOO_LONG)
    if _raw_depth(damaged) > MAX_DEPTH:
        raise ValueError(f"the reply nests deeper than {MAX_DEPTH}")
    value = _shallow(repair_json(damaged, return_objects=True, skip_json_loads=True))
    if not value or not isinstance(value, dict if damaged[0] == "{" else list):
        raise ValueError("the reply holds no JSON object")
    leaves, plain = dict.fromkeys(_leaves(value)), _plain(damaged)
    if len(plain) * sum(isinstance(leaf, str) for leaf in leaves) > _MOST_REPAIR:
        raise ValueError(_TOO_LONG)
    numbers = {_float(match[0]) for match in _NUMBER.finditer(plain)}
    for leaf in leaves:
        if not (_stands_in(leaf, plain) if isinstance(leaf, str) else leaf in numbers):
            raise ValueError(f"the reply is damaged JSON: {_place(leaf, text)}")
    return value


def _place(leaf: str | float, text: str) -> str:
    """Which value, by its kind and about where it begins: its words may be the user's and would come into logs."""
    kind = "a string" if isinstance(leaf, str) else "a number"
    return f"{kind} near character {max(0, text.find(str(leaf)[:8]))}"


def _leaves(value: Json) -> Iterator[str | float]:
    """Every key, string and number, and each empty container as text."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, (dict, list)):
        if not value:
            yield "[]" if isinstance(value, list) else "{}"
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        yield value


def _stands_in(leaf: str, text: str) -> bool:
    """Whether a repaired value is delimited in the text as a value is; repairs that cut or join values are not."""
    if leaf in ("[]", "{}"):
        return bool(re.search(rf"\{leaf[0]}\s*(?:\{leaf[1]}|\Z)", text))
    if _JOINT.search(leaf):
        return False
    found = re.escape(_plain(leaf).strip())
    quoted = rf"""(["'])\s*{found}\s*(?:\1(?=\s*(?:[,:}}\]]|//|/\*|\Z)|\s+["'{{\[\d])|\Z)|“\s*{found}\s*”"""
    bare = rf"""(?<![\w."'+-]){found}(?![\w.+-])"""
    return bool(re.search(quoted, text) or (_BARE.fullmatch(leaf) and re.search(bare, text)))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    """Text with its escapes read and its white space evened out, for comparison only."""
    return " ".join(_ESCAPE.sub(_unescaped, text).split())


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


def _raw_depth(text: str) -> int:
    """The deepest nesting that any reading of damaged text could find: brackets in strings count too."""
    deepest = depth = 0
    for bracket in re.finditer(r"[{\[]|[}\]]", text):
        depth = depth + 1 if bracket[0] in "{[" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest
