"""No text of a user's, however hostile, costs the rules more than time in proportion to its length."""

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from pipeline.adapters.openai.json_reading import read_json
from pipeline.adapters.openai.mending.amending import amended
from pipeline.adapters.rules.features import proposed_changes
from pipeline.adapters.rules.proposing import proposed
from pipeline.adapters.rules.summarising import summarised
from pipeline.adapters.rules.writing import answer_text
from pipeline.domain.asks import asked_preferences, decided_mode
from pipeline.domain.extraction import read_extraction
from pipeline.domain.gate import says_nothing_lasting, teaches_nothing
from pipeline.domain.guards import instructs
from pipeline.domain.injected import tagged, without_injected
from pipeline.domain.markdown import prose
from pipeline.domain.masking import masked
from pipeline.domain.observing import read_changes, with_plain_facts
from pipeline.domain.recall import recall
from pipeline.domain.remembering import is_planted, wishes
from pipeline.domain.summary import cleaned, read_summary
from pipeline.ports import AnswerRequest, Json, Said
from schemas.features import KnownFeature, Summary
from schemas.wire import MAX_TEXT
from tests.domain.features import kept
from tests.processors.factories import NOW

#: How much of a text the rules of facts and wishes read, in characters; a cost that grows below it shows there alone.
_MOST_READ = 6_000
#: Seconds that matter to nobody.
_QUICK = 0.25
_NURSE = "I am a night-shift nurse. How do I write a handover note?"
_KEPT = [kept("milk", "low sugar"), kept("apples", "sweet ones"), kept("忌口", "不吃辣")]
_KNOWN = [KnownFeature(slot=one.slot, value=one.value) for one in _KEPT]
_BEFORE = Summary(target="learn French", blocker="the build fails")


class _Shape(NamedTuple):
    """A text of one unit, many times over."""

    opening: str
    unit: str
    ending: str = ""

    def of(self, length: int) -> str:
        room = max(length - len(self.opening) - len(self.ending), 0)
        return self.opening + (self.unit * (room // len(self.unit) + 1))[:room] + self.ending


_UNITS = (
    *("x", "0123456789abcdef", "长", "我", "a-", "\u200b", "０１", " ", "\n", "x\n", "'", '"', "『", "[", "~", "> \n"),
    *("a@b.", "...a", "，", "x, ", "、", "1 ", "4111 ", "12 Main Street ", "中山路1号", "我妹妹是", "我不是"),
    *("i am a nurse and ", "my sister is a ", "x not y ", "remember that ", "he said I ", "user: hi\n"),
    *("i like tea, ", "tea or coffee, "),
)
_SHAPES = (
    *(_Shape("", unit) for unit in _UNITS),
    _Shape("I am a ", "x"),
    _Shape("I am the", " ", "x"),
    _Shape("", "I am the" + " " * 500),
    _Shape("user_profile", " ", "x"),
    _Shape("这是谁", " ", "x"),
    _Shape("tool", " ", "x"),
    _Shape("<", " ", "x"),
    _Shape("[](", " ", "x"),
    _Shape("</user" * 500, "x", "</user-memory>" + "-memory>" * 500),
    _Shape("I like tea, ", "nuts, ", "and then we went to the store with all of the others"),
    _Shape("translate this:\n", "x\n"),
    _Shape("my boss", ", a developer", ", said"),
    _Shape("", "'" * 190 + ". "),
    _Shape("call ", "1" * 190 + ". "),
    _Shape("call ", "1" * 50 + "a "),
)


def _proposal(text: str) -> Json:
    return {
        "identities": ["head nurse", "护士"],
        "states": ["head nurse"],
        "denies": ["lawyer"],
        "evidence": [{"quote": text[:300], "supports": ["head nurse", "护士"]}, {"quote": text[-300:]}],
        "overview": text[:300],
    }


def _changes(text: str) -> Json:
    return {"changes": [{"slot": "milk", "value": text[:60], "quote": text[:300]}]}


def _json(text: str) -> Json:
    try:
        return read_json(text)
    except ValueError:
        return None


_READERS: dict[str, Callable[[str], object]] = {
    "amended": lambda text: amended(_proposal(text), text, [_NURSE]),
    "answer": lambda text: answer_text(AnswerRequest(question=text, features=_KNOWN, summary=_BEFORE)),
    "cleaned": lambda text: cleaned([Said("user", text)]),
    "injected": lambda text: (without_injected(text), tagged(text)),
    "json": _json,
    "masked": masked,
    "mode": lambda text: decided_mode(text, "auto"),
    "orders": instructs,
    "planted": is_planted,
    "plain facts": lambda text: with_plain_facts([], text, [], _KNOWN),
    "preferences": asked_preferences,
    "prose": prose,
    "proposed": lambda text: proposed(text, [_NURSE]),
    "proposed after it": lambda text: proposed("And how do I do that?", [text]),
    "proposed changes": lambda text: proposed_changes([Said("user", text), Said("user", "I love it.")], _KNOWN),
    "read changes": lambda text: read_changes(_changes(text), text, _KNOWN),
    "read extraction": lambda text: read_extraction(_proposal(text), text),
    "read summary": lambda text: read_summary(
        {"target": text[:300], "blocker": text[-300:]}, _BEFORE, [Said("user", text)], turn=2, at=NOW, elsewhere=_KEPT
    ),
    "recalled": lambda text: recall(_KEPT, text, turn=2),
    "summarised": lambda text: summarised(_BEFORE, [Said("user", text), Said("assistant", text)]),
    "teaches nothing": lambda text: (teaches_nothing(text), says_nothing_lasting(text)),
    "wishes": wishes,
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    """Of this process alone, whatever else the machine is doing."""
    began = time.process_time()
    read(text)
    return time.process_time() - began


@pytest.mark.parametrize("name", _READERS)
def test_four_times_the_text_takes_far_less_than_sixteen_times_the_time(name: str) -> None:
    """Three tries, each with a text of another length, for what was read is remembered."""
    read = _READERS[name]
    read(_NURSE)
    assert not [
        (shape, length)
        # "amended" reads all that "proposed" does, and takes three times as long
        for shape in (_SHAPES[::4] if name == "amended" else _SHAPES)
        for length in (_MOST_READ, MAX_TEXT)
        if not any(_is_far_from_quadratic(read, shape, length - again) for again in range(3))
    ]


def _is_far_from_quadratic(read: Callable[[str], object], shape: _Shape, length: int) -> bool:
    long = _seconds(read, shape.of(length))
    return long < _QUICK or long < 10 * _seconds(read, shape.of(length // 4))
