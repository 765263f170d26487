"""Guidance: what the answering model is told about the user, composed from typed fields alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.domain.asks import Language, language_of
from pipeline.domain.injected import tagged
from pipeline.domain.recall import Recalled, on_topic
from pipeline.domain.relevance import MOST_CHARACTERS, fitting, line_of
from pipeline.domain.slots import ANSWERING
from schemas.features import KnownFeature, Summary
from schemas.role import CommunicationPreferences, PreferenceField, TrackEntry

#: The longest guidance, in characters, tags included: the bounds of the role memory and of what is set here.
MAX_GUIDANCE = 3700
#: What all of it should take: facts have the room that is left, but never less than so much. So a turn's cost stays
#: the same while the role memory and the summary fill up.
_BUDGET, _LEAST_FOR_FACTS = 1700, 800
#: The longest skill that is told, and the longest part of a summary.
_MAX_SKILL, _MAX_PART = 100, 200

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
        "target": "Goal: {}",
        "blocker": "In the way: {}",
        "suggestion": "Suggested so far: {}",
        "next_step": "Next step: {}",
        "wanted": "What the user prefers, to be followed strictly:",
        "facts": "What else is known of the user:",
        "skill": "Explain at the level of this user: {}.",
        "rule": "The user {}.",
        "once": "For this answer alone, the user {}.",
        "join": ", ",
    },
    "zh": {
        "about": "关于用户：{}",
        "identities": "可能的身份：{}",
        "characteristics": "特点：{}",
        "target": "目标：{}",
        "blocker": "障碍：{}",
        "suggestion": "已有建议：{}",
        "next_step": "下一步：{}",
        "wanted": "用户的偏好，须严格遵守：",
        "facts": "关于用户还知道：",
        "skill": "按这位用户的水平讲解：{}。",
        "rule": "用户{}。",
        "once": "仅就这次回答，用户{}。",
        "join": "、",
    },
}
_NOTHING = Recalled()
#: Each preference's name on the wire, and in Python.
FIELDS = ANSWERING


@dataclass(frozen=True)
class Guidance:
    """The guidance of one turn; all of it is empty while nothing is known."""

    text: str
    rules: list[str]
    features: list[KnownFeature]
    """The facts in the text, the most relevant first."""


def preferences_in_force(
    memory: TrackEntry | None, asked: CommunicationPreferences, always: CommunicationPreferences
) -> CommunicationPreferences:
    """What the question asks for, over what the conversation did, what the user always wants, and what was inferred."""
    values = {}
    for name in FIELDS.values():
        stored = getattr(memory.communication_preferences, name) if memory else None
        was_asked = memory is not None and getattr(memory.preference_origins, name) == "asked"
        order = (stored, getattr(always, name)) if was_asked else (getattr(always, name), stored)
        values[name] = next((value for value in (getattr(asked, name), *order) if value), None)
    return CommunicationPreferences(**values)


def rule_of(field: PreferenceField, value: str, language: Language) -> str:
    """A preference as a plain rule, to be read after "the user"."""
    return _RULES[language][field][value]


def compose_guidance(
    memory: TrackEntry | None,
    preferences: CommunicationPreferences,
    for_this_turn: Sequence[PreferenceField],
    question: str,
    recalled: Recalled = _NOTHING,
) -> Guidance:
    """Say what is known and wanted, in the language of the question, in at most MAX_GUIDANCE characters.

    Where preferences are about what is asked, the others are told among the facts: small models would follow any of
    them. What was learnt stands behind a label or a dash, each in its line; a line without one is a rule of the code.
    """
    language = language_of(question)
    words, rules = _WORDS[language], list[str]()
    told = list[str]()
    if recalled.skill:
        told.append(words["skill"].format(_one_line(recalled.skill)[:_MAX_SKILL]))
    for field, name in FIELDS.items():
        if (value := getattr(preferences, name)) is not None:
            rules.append(rule_of(field, value, language))
            told.append(words["once" if field in for_this_turn else "rule"].format(rules[-1]))
    known = [
        *(_role(memory, language) if memory else ()),
        *(_summary(recalled.summary, language) if recalled.summary else ()),
    ]
    room = _BUDGET - sum(len(line) + 1 for line in (*known, *told))
    features = fitting(recalled.features, min(max(room, _LEAST_FOR_FACTS), MOST_CHARACTERS))
    preferences_told = [feature for feature in features if feature.category == "PREFERENCE"]
    wanted = on_topic(preferences_told, question) or preferences_told
    facts = [feature for feature in features if feature not in wanted]
    lines = [*known, *_listed(words["facts"], facts), *_listed(words["wanted"], wanted), *told]
    return Guidance(tagged("\n".join(lines)), rules, features)


def _role(memory: TrackEntry, language: Language) -> list[str]:
    words, role = _WORDS[language], memory.identified_role
    said = (
        ("about", memory.user_overview),
        ("identities", words["join"].join(role.possible_identities)),
        ("characteristics", words["join"].join(role.primary_characteristics)),
    )
    return [words[what].format(_one_line(text)) for what, text in said if text]


def _summary(summary: Summary, language: Language) -> list[str]:
    parts = ((part, getattr(summary, part)) for part in ("target", "blocker", "suggestion", "next_step"))
    return [_WORDS[language][part].format(_one_line(text)[:_MAX_PART]) for part, text in parts if text]


def _listed(heading: str, features: Sequence[KnownFeature]) -> list[str]:
    return [heading, *(f"- {line_of(feature)}" for feature in features)] if features else []


def _one_line(text: str) -> str:
    """Learnt words stay inside their line, so that they cannot pose as a rule of their own."""
    return " ".join(text.split())
