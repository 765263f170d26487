"""What is read from a model's reply, and what is refused."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.adapters.openai.json_reading import MAX_DEPTH, read_json, storable, without_reasoning

WANTED = {"identities", "evidence"}
MEANT = {"identities": ["nurse"], "evidence": []}
JSON = json.dumps(MEANT)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_valid_json_gives_its_value(value: object, indent: int | None, ascii_only: bool) -> None:
    """Valid JSON of any layout gives exactly its value, whatever keys are wanted."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read_json(text, WANTED) == value


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```\n\n如有别的要求，请继续说明！",
        f"~~~json\n{JSON}",
        f"<think>maybe {{'identities': ['doctor']}}</think>\n{JSON}",
        f'<think>\n{{"identities": ["doctor"]}}\n</think>\n\n```json\n{JSON}\n```',
        f"she writes about wards\n</think>\n{JSON}",
        f"Here is the object: {JSON} I hope it helps.",
        f"Placeholders such as {{name}} are left out. {JSON}",
        f"[{JSON}, 1",
        f"{JSON}\n{JSON}",
        f'{JSON}\n{{"identities": ["pilot"], "evidence": []}}',
        f'{{"note": "an example"}} {JSON}',
        f"\ufeff{JSON}",
        "{'identities': ['nurse'], 'evidence': []}",
        '{"identities": ["nurse"], "evidence": [],}',
        '{"identities": ["nurse"] "evidence": []}' + "\n",
        '{identities: ["nurse"], evidence: []}',
        '{"identities": [\\\'nurse\\\'], "evidence": []}',
        '{"identities": ["nurse"], "evidence": [',
    ],
)
def test_the_object_meant_is_found(text: str) -> None:
    """Fences, reasoning, prose, a second object and small damage do not hide the object."""
    assert read_json(text, WANTED) == MEANT


def test_a_truncated_reply_keeps_what_is_whole() -> None:
    """What was written before the cut is read; a string that was cut keeps its beginning."""
    cut = '{"identities": ["nurse"], "evidence": [{"quote": "our ward", "supports": ["nurse"]}, {"quote": "the dr'
    assert read_json(cut, WANTED) == {
        "identities": ["nurse"],
        "evidence": [{"quote": "our ward", "supports": ["nurse"]}, {"quote": "the dr"}],
    }


def test_unescaped_quotes_stay_in_their_string() -> None:
    """A model that quotes inside a string without escaping is understood."""
    read = read_json('{"identities": [], "evidence": [{"quote": "他说"你好"", "supports": []}]}', WANTED)
    assert read == {"identities": [], "evidence": [{"quote": '他说"你好"', "supports": []}]}


@pytest.mark.parametrize("text", ["[]", "```json\n[]\n```"])
def test_an_empty_list_is_a_value(text: str) -> None:
    """An empty list says that there is nothing, fenced or not."""
    assert read_json(text, WANTED) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I cannot help with that.", "no JSON object"),
        ("<think>still thinking about", "no JSON object"),
        ('"a string with [1, 2"] inside', "no JSON object"),
        ("[" * 100_000, "nests deeper"),
        ('{"a":' * 10_000, "nests deeper"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "nests deeper"),
        ("see " + "[" * 500 + "]" * 500, "nests deeper"),
        (" " * 300_000, "longer than"),
        ('{"identities": ["nurse, "evidence": ["x"]}', "damaged"),
        ('{"score": 05}', "damaged"),
        ('{"overview": undefined}', "damaged"),
        ('{"identities": ["nurse' + "', 'evidence': []}", "damaged"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, reason: str) -> None:
    """No object, deep nesting, and damage where the repair would be a guess: an error that says so."""
    with pytest.raises(ValueError, match=reason):
        read_json(text, WANTED)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"identities": ["nurse, "evidence": ["x"]}', "a string near character 17"),
        ('{"score": 05}', "a number near character 11"),
        ('  {"overview": undefined}', "a string near character 13"),
    ],
)
def test_damage_is_told_by_its_place(text: str, place: str) -> None:
    """The kind of the value and about where it begins in the object, and none of its words."""
    with pytest.raises(ValueError, match="damaged") as failure:
        read_json(text, WANTED)
    assert str(failure.value) == f"the reply is damaged JSON: {place}"


@given(st.text(alphabet="{}[]\",:\\'`\n ab1.-tru<>/", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the text, the outcome is a value or a ValueError."""
    try:
        value = read_json(text, WANTED)
    except ValueError:
        return
    json.dumps(value)


@pytest.mark.parametrize("text", ["{" * 20 + '"a": ' * 20_000, "[1, " * 30 + '"x ' * 20_000, "{ " * 50_000])
def test_hostile_text_costs_little(text: str) -> None:
    """Damaged text that a repair would take minutes over is refused in well under a second of CPU."""
    started = time.process_time()
    with pytest.raises(ValueError, match=r"too long to repair|nests deeper"):
        read_json(text, WANTED)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "unit", ["{number}, ", "w{number}, ", "k{number}: {number}, ", "[{number}], ", "{{a: {number}}}, "]
)
@pytest.mark.parametrize("opening", ["[", '{{"a": [', '{{"a": ', "{{"])
def test_many_values_without_quotes_cost_time_in_proportion(opening: str, unit: str) -> None:
    """Four times a damaged list or object of distinct values takes far less than sixteen times the time."""

    def seconds(count: int) -> float:
        text = opening.format() + "".join(unit.format(number=number) for number in range(count))
        started = time.process_time()
        with suppress(ValueError):
            read_json(text)
        return time.process_time() - started

    # the quickest of some, for a busy machine adds to any
    assert seconds(4_000) < 0.25 or min(seconds(4_000) for _ in range(5)) < 10 * min(seconds(1_000) for _ in range(5))


def test_a_long_damaged_list_of_numbers_is_read() -> None:
    """Numbers are looked up in the text all at once, so that their number alone refuses nothing."""
    numbers = [number / 8 for number in range(2_000)]
    assert read_json(f'{{"scores": {json.dumps(numbers)[:-1]}') == {"scores": numbers}


def test_reasoning_is_cut_off_only_in_front() -> None:
    """An answer that writes about the tags keeps its words."""
    assert without_reasoning("<think>hm</think> Use it.") == "Use it."
    assert without_reasoning("hm\n</think>\nUse it.") == "Use it."
    assert without_reasoning("<think>hm") == ""
    text = "The tag <think> opens and </think> closes."
    assert without_reasoning(text) == text


def test_storable_drops_what_cannot_be_stored() -> None:
    """NUL, lone surrogates and infinite numbers go; everything else stays as it is."""
    value = read_json('{"a\\u0000": ["x\\ud800y", 1e999, 1.5, true, null, "😀"]}')
    assert storable(value) == {"a": ["xy", None, 1.5, True, None, "😀"]}
