"""Reports: what a model proposed, cleaned, and the Markdown made of it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.domain.asks import Language
from pipeline.domain.markdown import link, prose, web_address
from pipeline.ports import Json
from schemas.events import Citation, ReportSection, Source

MAX_LINE = 300
"""The longest title, heading or key point, in characters."""
MAX_BLOCK = 6_000
"""The longest overview, section or survey note, in characters."""
MAX_KEY_POINTS = 10
MAX_SECTIONS = 10

# NUL, other control characters and lone surrogates: neither MongoDB nor UTF-8 carries all of them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d+[.)、])\s+")

_HEADINGS: dict[Language, dict[str, str]] = {
    "en": {
        "title": "Report",
        "key_points": "Key points",
        "overview": "Overview",
        "sections": "Detailed analysis",
        "survey_note": "Survey note",
        "citations": "Key citations",
    },
    "zh": {
        "title": "报告",
        "key_points": "要点",
        "overview": "概述",
        "sections": "详细分析",
        "survey_note": "调研说明",
        "citations": "主要引用",
    },
}


@dataclass(frozen=True)
class ReportContent:
    """A report's parts as `ReportReady` carries them."""

    title: str
    key_points: list[str]
    overview: str
    sections: list[ReportSection]
    survey_note: str
    citations: list[Citation]


def read_report(raw: Json, sources: Sequence[Source]) -> ReportContent | None:
    """The report in a model's object; None when it has neither overview nor sections.

    A bad field costs that field, a citation of anything but one of the `sources` is dropped.
    """
    if not isinstance(raw, dict):
        return None
    content = ReportContent(
        title=_line(raw.get("title")),
        key_points=_key_points(raw.get("keyPoints")),
        overview=_block(raw.get("overview")),
        sections=_sections(raw.get("sections")),
        survey_note=_block(raw.get("surveyNote")),
        citations=_citations(raw.get("citations"), sources),
    )
    return content if content.overview or content.sections else None


def report_markdown(content: ReportContent, language: Language) -> str:
    """The whole report; parts that are empty are left out with their headings."""
    headings = _HEADINGS[language]
    addresses = {citation.url for citation in content.citations}
    points = "\n".join(f"- {prose(point, addresses)}" for point in content.key_points)
    sections = (_section(section, addresses) for section in content.sections)
    cited = (f"{number}. {_cited(citation)}" for number, citation in enumerate(content.citations, 1))
    parts = {
        "key_points": points,
        "overview": prose(content.overview, addresses),
        "sections": "\n\n".join(sections),
        "survey_note": prose(content.survey_note, addresses),
        "citations": "\n".join(cited),
    }
    title = f"# {prose(content.title) or headings['title']}"
    return "\n\n".join([title, *(f"## {headings[part]}\n\n{text}" for part, text in parts.items() if text)]) + "\n"


def _section(section: ReportSection, addresses: Collection[str]) -> str:
    heading = f"### {prose(section.heading)}\n\n" if section.heading else ""
    return heading + prose(section.text, addresses)


def _cited(citation: Citation) -> str:
    return link(citation.title or citation.source_id, citation.url)


def _key_points(raw: Json) -> list[str]:
    lines = raw.splitlines() if isinstance(raw, str) else _items(raw)
    points = (_BULLET.sub("", _line(point)) for point in lines)
    return [point for point in points if point][:MAX_KEY_POINTS]


def _sections(raw: Json) -> list[ReportSection]:
    sections = []
    for item in _items(raw):
        heading, text = ("", item) if isinstance(item, str) else _heading_and_text(item)
        section = ReportSection(heading=_line(heading), text=_block(text))
        if section.text:
            sections.append(section)
    return sections[:MAX_SECTIONS]


def _heading_and_text(item: Json) -> tuple[Json, Json]:
    return (item.get("heading"), item.get("text")) if isinstance(item, dict) else (None, None)


def _citations(raw: Json, sources: Sequence[Source]) -> list[Citation]:
    """Each cited source once, in the order of the first citation."""
    by_id = {source.id: source for source in sources}
    cited = dict.fromkeys(item.strip() for item in _items(raw) if isinstance(item, str))
    return [
        Citation(source_id=source.id, title=_line(source.title), url=web_address(source.url))
        for source in (by_id[name] for name in cited if name in by_id)
    ]


def _items(raw: object) -> list[Json]:
    return list(raw) if isinstance(raw, list) else []


def _line(raw: Json) -> str:
    """One line of text, empty for anything else."""
    return _bounded(" ".join(_UNPRINTABLE.sub("", raw).split()), MAX_LINE) if isinstance(raw, str) else ""


def _block(raw: Json) -> str:
    """Text of any number of lines; a list of them becomes paragraphs."""
    if isinstance(raw, list):
        raw = "\n\n".join(item for item in raw if isinstance(item, str))
    if not isinstance(raw, str):
        return ""
    return _bounded(_UNPRINTABLE.sub("", raw.replace("\r\n", "\n").replace("\r", "\n")).strip(), MAX_BLOCK)


def _bounded(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
