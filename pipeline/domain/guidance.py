"""Guidance: what the answering model is told about the user, composed from typed fields alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.domain.asks import Language
from schemas.role import CommunicationPreferences, PreferenceField, TrackEntry

#: The longest guidance, in characters.
MAX_GUIDANCE = 1500

_RULES: dict[Language, dict[PreferenceField, dict[str, str]]] = {
    "en": {
        "detailLevel": {
            "CONCISE": "prefers short answers that come to the point",
            "BALANCE": "prefers a moderate amount of detail",
            "COMPREHENSIVE": "prefers comprehensive answers that leave nothing important out",
        },
        "contentDepth": {
            "OVERVIEW": "wants the overview rather than the inner workings",
            "PRACTICAL": "prefers step-by-step practical answers",
            "CONCEPTUAL": "wants the concepts and the reasons behind them",
        },
        "responseFormat": {
            "CONCISE": "likes a few plain sentences",
            "DETAILED": "likes full paragraphs that explain",
            "STRUCTURED_WITH_EXAMPLES": "likes a clear structure with examples",
        },
    },
    "zh": {
        "detailLevel": {
            "CONCISE": "喜欢简短、直接的回答",
            "BALANCE": "喜欢详略适中的回答",
            "COMPREHENSIVE": "喜欢全面、不遗漏要点的回答",
        },
        "contentDepth": {
            "OVERVIEW": "想先了解概况，不必深入细节",
            "PRACTICAL": "喜欢一步一步、可以照做的回答",
            "CONCEPTUAL": "想了解概念和背后的道理",
        },
        "responseFormat": {
            "CONCISE": "喜欢几句话说清楚",
            "DETAILED": "喜欢展开说明的段落",
            "STRUCTURED_WITH_EXAMPLES": "喜欢结构清楚并带例子的回答",
        },
    },
}
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "about": "About the user: {}",
        "identities": "Probably: {}",
        "characteristics": "Characteristics: {}",
        "rule": "The user {}.",
        "once": "For this answer alone, the user {}.",
        "join": ", ",
    },
    "zh": {
        "about": "关于用户：{}",
        "identities": "可能的身份：{}",
        "characteristics": "特点：{}",
        "rule": "用户{}。",
        "once": "仅就这次回答，用户{}。",
        "join": "、",
    },
}
#: Each preference's name on the wire, and in Python.
FIELDS: dict[PreferenceField, str] = {
    "detailLevel": "detail_level",
    "contentDepth": "content_depth",
    "responseFormat": "response_format",
}


@dataclass(frozen=True)
class Guidance:
    """The guidance of one turn; both are empty while nothing is known."""

    text: str
    rules: list[str]


def preferences_in_force(stored: CommunicationPreferences, asked: CommunicationPreferences) -> CommunicationPreferences:
    """The stored preferences under those that this question asked for."""
    return stored.model_copy(update={name: value for name in FIELDS.values() if (value := getattr(asked, name))})


def compose_guidance(
    memory: TrackEntry | None,
    preferences: CommunicationPreferences,
    for_this_turn: Sequence[PreferenceField],
    language: Language,
) -> Guidance:
    """Say what is known and wanted, in the language of the question, in at most MAX_GUIDANCE characters."""
    words, rules_of = _WORDS[language], _RULES[language]
    rules, lines = [], _known(memory, language) if memory else []
    for field, name in FIELDS.items():
        if (value := getattr(preferences, name)) is not None:
            rules.append(rules_of[field][value])
            lines.append(words["once" if field in for_this_turn else "rule"].format(rules[-1]))
    return Guidance(_bounded(lines), rules)


def _known(memory: TrackEntry, language: Language) -> list[str]:
    words, role = _WORDS[language], memory.identified_role
    said = (
        ("about", memory.user_overview),
        ("identities", words["join"].join(role.possible_identities)),
        ("characteristics", words["join"].join(role.primary_characteristics)),
    )
    return [words[what].format(_one_line(text)) for what, text in said if text]


def _one_line(text: str) -> str:
    """Learnt words stay inside their line, so that they cannot pose as a rule of their own."""
    return " ".join(text.split())


def _bounded(lines: Sequence[str]) -> str:
    """Whole lines from the end are kept first: the rules are short, and what is known may be cut."""
    kept: list[str] = []
    room = MAX_GUIDANCE
    for line in reversed(lines):
        cut = line[: max(0, room)]
        if cut:
            kept.append(cut)
        room -= len(line) + 1
    return "\n".join(reversed(kept))
