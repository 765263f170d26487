"""Answers and reports of the offline rules model: no facts, but visibly shaped by guidance, context and preferences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.adapters.rules.patterns import compiled
from pipeline.adapters.rules.remembering import choice_of, mentioned
from pipeline.domain.asks import language_of
from pipeline.domain.relevance import line_of
from pipeline.domain.scripts import in_script_of
from pipeline.ports import AnswerRequest, Json, Said
from pipeline.words import words
from schemas.features import KnownFeature

_MAX_SUBJECT, _MAX_KNOWN, _MAX_SNIPPET = 80, 160, 200
_MAX_SECTIONS = 6


@dataclass(frozen=True)
class _Shape:
    """How the answer is to look, as the rules of the guidance say."""

    short: bool = False
    long: bool = False
    steps: bool = False
    outline: bool = False
    reasons: bool = False
    examples: bool = False


def answer_text(request: AnswerRequest) -> str:
    """The same text for the same request."""
    phrases, shape = _phrases(request.question), _shape_of(request.rules)
    subject, reader = _subject(request.question), _reader(request)
    lines = [phrases["source"]]
    if reader or not request.features:
        lines.append(_known(request, phrases))
    if request.rules:
        lines.append(phrases["shaped"].format(phrases["list"].join(request.rules)))
    if request.context and not shape.short:
        lines.extend(_context(request.context, phrases))
    lines.extend(_remembered(request, phrases))
    lines.append(phrases["subject"].format(subject))
    lines.extend(_body(shape, phrases, subject, reader or phrases["anybody"]))
    return "\n".join(lines)


def report_content(request: AnswerRequest) -> dict[str, Json]:
    """A report's frame; it cites every source of the question, as its text repeats each."""
    phrases, shape = _phrases(request.question), _shape_of(request.rules)
    parts, subject = phrases["report"], _subject(request.question)
    reader = _reader(request) or phrases["anybody"]
    points: list[str] = [
        point.format(text) for point, text in zip(phrases["points"], (subject, reader, ""), strict=True)
    ]
    points.extend((*request.rules, *_remembered(request, phrases)))
    sections = [[parts["question"], subject], [parts["reader"], _known(request, phrases)]]
    sections.extend([heading, text.format(subject)] for heading, text in _parts(shape, parts))
    sections.append([parts["sources"], _sources(request, parts)])
    return {
        "title": parts["title"].format(subject),
        "keyPoints": list[Json](points[:2] if shape.short else points),
        "overview": parts["overview"].format(_known(request, phrases)),
        "sections": [{"heading": heading, "text": text} for heading, text in sections],
        "surveyNote": parts["note"].format(count=len(request.sources)),
        "citations": [source.id for source in request.sources],
    }


def _parts(shape: _Shape, parts: Mapping[str, Any]) -> list[list[str]]:
    """Fewer sections for who likes it short, more for who asked for reasons or examples."""
    chosen: list[list[str]] = list(parts["parts"][1:2] if shape.short else parts["parts"])
    if shape.reasons or shape.long:
        chosen.append(parts["reasons"])
    if shape.examples or shape.long:
        chosen.append(parts["examples"])
    return chosen[:_MAX_SECTIONS]


def _phrases(question: str) -> Mapping[str, Any]:
    """The phrases in the language and the script of the question."""
    phrases: Mapping[str, Any] = _written(words("answers")[language_of(question)], question)
    return phrases


def _written(phrases: Any, question: str) -> Any:
    if isinstance(phrases, str):
        return in_script_of([question], phrases)
    if isinstance(phrases, list):
        return [_written(phrase, question) for phrase in phrases]
    return {name: _written(phrase, question) for name, phrase in phrases.items()}


def _shape_of(rules: Sequence[str]) -> _Shape:
    signs: Mapping[str, str] = words("answers")["shapes"]
    text = "\n".join(rules)
    return _Shape(**{name: compiled(sign).search(text) is not None for name, sign in signs.items()})


def _body(shape: _Shape, phrases: Mapping[str, Any], subject: str, reader: str) -> list[str]:
    if shape.short and not shape.long:
        return [phrases["short"]]
    lines = phrases["long"] if shape.long else phrases["plain"]
    lines = [line.format(text) for line, text in zip(lines, (subject, reader, subject, subject), strict=False)]
    if not shape.long:
        lines = [lines[0], phrases["plain"][1].format(subject)]
    if shape.steps:
        lines = [phrases["steps"], *(f"{number}. {line}" for number, line in enumerate(lines, 1))]
    elif shape.long:
        lines = [f"- {line}" for line in lines]
    lines.extend(phrases[name] for name in ("outline", "reasons") if getattr(shape, name))
    if shape.examples:
        lines.append(phrases["example"].format(reader))
    return lines


def _subject(question: str) -> str:
    """The question in one line."""
    return _cut(" ".join(question.split()).rstrip("。.!！?？ "), _MAX_SUBJECT)


def _reader(request: AnswerRequest) -> str:
    """The line of the guidance that says who is asking; none where it holds other things alone."""
    sign = compiled(words("answers")["reader"]["line"])
    lines = (sign.match(line) for line in request.guidance.splitlines())
    line = next((match[1] for match in lines if match), "")
    return _cut(line.rstrip(".。"), _MAX_KNOWN)


def _remembered(request: AnswerRequest, phrases: Mapping[str, Any]) -> list[str]:
    """What is remembered where it bears on the question, and what the user should choose by it."""
    lines = [phrases["skill"].format(_cut(request.skill, _MAX_SUBJECT))] if request.skill else []
    if request.summary and request.summary.target:
        lines.append(phrases["goal"].format(_cut(request.summary.target, _MAX_KNOWN)))
    if facts := mentioned(request.question, request.features):
        lines.append(phrases["remembered"].format(_listed(facts, phrases)))
    if choice := choice_of(request.question, request.features):
        lines.append(phrases["choice"].format(phrases["or"].join(choice.options), _listed(choice.because, phrases)))
    return lines


def _listed(facts: Sequence[KnownFeature], phrases: Mapping[str, Any]) -> str:
    """The facts in one line each; those whose slot is a name of ours under a label in the question's language."""
    labels: Mapping[str, str] = phrases["slots"]
    lines = [labels[fact.slot].format(fact.value) if fact.slot in labels else line_of(fact) for fact in facts]
    return str(phrases["list"].join(lines))


def _known(request: AnswerRequest, phrases: Mapping[str, Any]) -> str:
    reader = _reader(request)
    said: str = phrases["known"].format(reader) if reader else phrases["unknown"]
    return said


def _context(context: Sequence[Said], phrases: Mapping[str, Any]) -> list[str]:
    asked = [said.text for said in context if said.role == "user"]
    return [phrases["context"].format(_subject(asked[-1]))] if asked else []


def _sources(request: AnswerRequest, parts: Mapping[str, Any]) -> str:
    if not request.sources:
        none: str = parts["no_sources"]
        return none
    return "\n".join(
        parts["source"].format(title=source.title or source.id, snippet=_cut(source.snippet, _MAX_SNIPPET))
        for source in request.sources
    )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
