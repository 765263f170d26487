"""What a question asks for in plain words: an answer or a report, and how it should be written."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from pipeline.domain.answering import AskedPreference, AskedScope, over_in, scope_of, wishes_in
from pipeline.domain.remembering import outside_wishes, wishes
from pipeline.domain.slots import ANSWERING
from pipeline.words import words
from schemas.events import DecidedMode, Mode
from schemas.role import CommunicationPreferences, Extraction, PreferenceField, PreferenceScopes

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\d_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
#: Words that an English sentence is built with; error messages and names do without them.
_ENGLISH = re.compile(
    r"\b(?:i|my|me|we|you|your|what|how|why|who|where|when|which|is|are|am|was|do|does|did|can|could|should|would"
    r"|please|means?|say|called|the|a|of|about|tell|explain|translate|write)\b",
    re.IGNORECASE | re.ASCII,
)
_SENTENCE_END = re.compile(r"[.!?。！？；\n]+\s*")
_QUOTED = re.compile(r"```.*?(?:```|\Z)|\"[^\"\n]*\"|“[^”]*”|「[^」]*」|『[^』]*』|【[^】]*】|《[^》]*》", re.DOTALL)
# Wishes stand at the start or the end; what is longer is pasted. The bounds keep the cost of the rules small.
_HEAD, _TAIL, _LONGEST_SENTENCE = 4000, 2000, 400


def language_of(text: str) -> Language:
    """Chinese when Han characters are at least as many as the words in other scripts, else English.

    A name, a message or code in another script makes no Chinese sentence English: it holds no "I", "what" or "is".
    """
    han = len(_HAN.findall(text))
    if han >= len(_WORD.findall(text)):
        return "zh" if han else "en"
    return "zh" if han > 2 and not _ENGLISH.search(text) else "en"


def decided_mode(text: str, mode: Mode) -> DecidedMode:
    """`auto` becomes a report where research, a report or a comparison is asked for, else an answer."""
    if mode != "auto":
        return mode
    rules: Mapping[str, list[str]] = words("asks")["mode"]
    for sentence in _sentences(text):
        if _first(rules["report"], sentence) and not _first(rules["not_report"], sentence):
            return "report"
    return "answer"


def asked_preferences(text: str) -> tuple[AskedPreference, ...]:
    """The preferences that plain words ask for, at most one a field; the last wish in the text wins.

    "Forget everything you know about me" asks for no detail.
    """
    asked: dict[PreferenceField, AskedPreference] = {}
    sentences = _sentences(outside_wishes(text))
    for number, sentence in enumerate(sentences):
        asked |= {wish.field: wish for wish in wishes_in(sentence, sentences[number - 1] if number else "")}
    return tuple(asked.values())


def with_plain_wishes(extraction: Extraction, question: str) -> Extraction:
    """What the question asks for in plain words goes in where the extraction has nothing, or only guessed.

    So does what it says to be over, whatever was heard: a field without a value that reaches this conversation has
    none there any more.
    """
    asked, over = {wish.field: wish for wish in asked_preferences(question)}, _over(question)
    if not asked and not over:
        return extraction
    preferences = extraction.preferences.model_dump(by_alias=True)
    scopes = extraction.preference_scopes.model_dump(by_alias=True)
    for field in {**asked, **over}:
        value, scope = over.get(field, ("", "conversation"))
        if scopes[field] in (None, "inferred") or preferences[field] == value:
            wish = asked.get(field)
            preferences[field], scopes[field] = (wish.value, wish.scope) if wish else (None, scope)
    return extraction.model_copy(
        update={
            "preferences": CommunicationPreferences.model_validate(preferences),
            "preference_scopes": PreferenceScopes.model_validate(scopes),
        }
    )


def _over(text: str) -> dict[PreferenceField, tuple[str, AskedScope]]:
    """The values that are not wanted any more, for this turn or from now on; those to be forgotten are among them."""
    found: dict[PreferenceField, tuple[str, AskedScope]] = {}
    for sentence in _sentences(outside_wishes(text)):
        scope: AskedScope = "turn" if scope_of(sentence) == "turn" else "conversation"
        found |= {over.field: (over.value, scope) for over in over_in(sentence) if over.field}
    for wish in wishes(text):
        named, _, value = wish.slot.partition(" ")
        if wish.operation == "FORGET" and (field := next((one for one in ANSWERING if one == named), None)):
            found.setdefault(field, (value, "conversation"))
    return found


def _sentences(text: str) -> list[str]:
    """Without quoted and pasted text, which asks for nothing."""
    if len(text) > _HEAD + _TAIL:
        text = text[:_HEAD] + "\n" + text[-_TAIL:]
    plain = _QUOTED.sub(" ", text.replace("’", "'"))
    return [
        sentence[start : start + _LONGEST_SENTENCE]
        for sentence in _SENTENCE_END.split(plain)
        for start in range(0, len(sentence), _LONGEST_SENTENCE)
        if sentence.strip()
    ]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := _compiled(pattern).search(text))), None)
