"""What a question asks for in plain words: an answer or a report, and how it should be written."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from pipeline.domain.remembering import outside_wishes
from pipeline.words import words
from schemas.events import DecidedMode, Mode
from schemas.role import CommunicationPreferences, Extraction, PreferenceField, PreferenceScopes

Language = Literal["en", "zh"]
#: How far a preference that was asked for reaches.
AskedScope = Literal["turn", "conversation", "stable"]

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


@dataclass(frozen=True)
class AskedPreference:
    """One preference that the words ask for; `quote` is where they do."""

    field: PreferenceField
    value: str
    scope: AskedScope
    quote: str


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
        wishes = [(field, *wish) for field in get_args(PreferenceField) if (wish := _wish(field, sentence))]
        if wishes:
            scope = _scope(sentence, sentences[number - 1] if number else "")
            asked |= {field: AskedPreference(field, value, scope, quote) for field, value, quote in wishes}
    return tuple(asked.values())


def with_plain_wishes(extraction: Extraction, question: str) -> Extraction:
    """What the question asks for in plain words goes in where the extraction has nothing, or only guessed."""
    wishes = asked_preferences(question)
    if not wishes:
        return extraction
    preferences = extraction.preferences.model_dump(by_alias=True)
    scopes = extraction.preference_scopes.model_dump(by_alias=True)
    for wish in wishes:
        if scopes[wish.field] in (None, "inferred"):
            preferences[wish.field], scopes[wish.field] = wish.value, wish.scope
    return extraction.model_copy(
        update={
            "preferences": CommunicationPreferences.model_validate(preferences),
            "preference_scopes": PreferenceScopes.model_validate(scopes),
        }
    )


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


def _wish(field: PreferenceField, sentence: str) -> tuple[str, str] | None:
    """The value asked for last in a sentence; at the same place the longer words win ("not too short")."""
    found = []
    others = _compiled(words("asks")["others"])
    for value, patterns in words("asks")[field].items():
        match = _last(patterns, sentence)
        if match and not others.search(sentence[: match.start()]) and not others.search(match.group()):
            found.append((match.end(), match.end() - match.start(), value, match.group().strip()))
    if not found:
        return None
    _, _, value, quote = max(found)
    return value, quote


def _scope(sentence: str, before: str) -> AskedScope:
    """ "Whatever I ask" or "just this once" may stand in a short sentence of its own before the wish."""
    for context in (sentence, before if len(before) < 40 else ""):
        for scope in ("turn", "stable"):
            if _first(words("asks")[scope], context):
                return "turn" if scope == "turn" else "stable"
    return "conversation"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := _compiled(pattern).search(text))), None)


def _last(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    """The match that ends last, the longest of those."""
    matches = [match for pattern in patterns for match in _compiled(pattern).finditer(text)]
    return max(matches, key=lambda match: (match.end(), match.end() - match.start()), default=None)
