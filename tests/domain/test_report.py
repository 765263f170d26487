"""What becomes of a model's report: cleaning, citations, and Markdown that foreign text cannot break."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.domain.report import MAX_BLOCK, MAX_KEY_POINTS, MAX_LINE, MAX_SECTIONS, read_report, report_markdown
from pipeline.ports import Json
from schemas.events import Citation, ReportSection, Source

SOURCES = [
    Source(id="s1", title="Water use", url="https://example.org/water", snippet="142 litres"),
    Source(id="s2", title="Barrels", url="javascript:alert(1)"),
]


def raw_report(**changes: Json) -> dict[str, Json]:
    report: dict[str, Json] = {
        "title": "Saving water",
        "keyPoints": ["Short showers help."],
        "overview": "Most water goes into the bathroom.",
        "sections": [{"heading": "Bathroom", "text": "Shower heads matter."}],
        "surveyNote": "One source was read.",
        "citations": ["s1"],
    }
    return report | changes


def markdown_of(language: Any = "en", sources: list[Source] = SOURCES, **changes: Json) -> str:
    content = read_report(raw_report(**changes), sources)
    assert content is not None
    return report_markdown(content, language)


def outside_code(markdown: str) -> str:
    return re.sub(r"^(```+|~~~+).*?^\1$", "", markdown, flags=re.S | re.M)


def test_every_part_is_read() -> None:
    """A good report comes through as it is, its citation with the source's title and address."""
    content = read_report(raw_report(), SOURCES)
    assert content is not None
    assert content.title == "Saving water"
    assert content.key_points == ["Short showers help."]
    assert content.sections == [ReportSection(heading="Bathroom", text="Shower heads matter.")]
    assert content.survey_note == "One source was read."
    assert content.citations == [Citation(source_id="s1", title="Water use", url="https://example.org/water")]


@pytest.mark.parametrize("raw", [None, [], "text", {}, {"title": "only a title"}, {"overview": 3, "sections": {}}])
def test_nothing_to_report_is_none(raw: Json) -> None:
    """Without overview and sections there is no report."""
    assert read_report(raw, SOURCES) is None


def test_invented_citations_are_dropped() -> None:
    """Only ids of the question's sources are cited, each once."""
    content = read_report(raw_report(citations=["s9", "s2", " s1 ", "s2", 1, None, {"id": "s1"}]), SOURCES)
    assert content is not None
    assert [citation.source_id for citation in content.citations] == ["s2", "s1"]
    without_sources = read_report(raw_report(citations=["s1"]), [])
    assert without_sources is not None
    assert without_sources.citations == []


def test_a_bad_field_costs_that_field() -> None:
    """Wrong types are left out, element by element; the rest of the report stays."""
    content = read_report(
        raw_report(
            title=["x"],
            keyPoints=["- one", 2, "", {"a": 1}, "2. two"],
            overview=["first", 5, "second"],
            sections=["bare text", {"heading": "no text"}, {"heading": 7, "text": "kept"}, None],
            surveyNote=None,
            citations="s1",
        ),
        SOURCES,
    )
    assert content is not None
    assert (content.title, content.survey_note, content.citations) == ("", "", [])
    assert content.key_points == ["one", "two"]
    assert content.overview == "first\n\nsecond"
    assert [(section.heading, section.text) for section in content.sections] == [("", "bare text"), ("", "kept")]


def test_bounds_and_characters() -> None:
    """Lists and strings are bounded; NUL, control characters and lone surrogates go."""
    content = read_report(
        raw_report(
            title="t\x00i\ud800tle\n " + "x" * 1_000,
            keyPoints=["p"] * 50,
            overview="a\x00b\x07\tc\n" + "y" * 20_000,
            sections=[{"heading": "h", "text": "t"}] * 50,
        ),
        SOURCES,
    )
    assert content is not None
    assert content.title.startswith("title x")
    assert (len(content.title), len(content.overview)) == (MAX_LINE, MAX_BLOCK)
    assert content.overview.startswith("ab\tc\n")
    assert (len(content.key_points), len(content.sections)) == (MAX_KEY_POINTS, MAX_SECTIONS)


def test_markdown_in_english() -> None:
    """The headings and their order are code's."""
    assert markdown_of() == (
        "# Saving water\n\n## Key points\n\n- Short showers help.\n\n"
        "## Overview\n\nMost water goes into the bathroom.\n\n"
        "## Detailed analysis\n\n### Bathroom\n\nShower heads matter.\n\n## Survey note\n\nOne source was read.\n\n"
        "## Key citations\n\n1. [Water use](https://example.org/water)\n"
    )


def test_markdown_in_chinese() -> None:
    """A Chinese question gets Chinese headings, the title too where the model gave none."""
    headings = [line for line in markdown_of("zh", title="").splitlines() if line.startswith(("# ", "## "))]
    assert headings == ["# 报告", "## 要点", "## 概述", "## 详细分析", "## 调研说明", "## 主要引用"]


def test_empty_parts_have_no_heading() -> None:
    """A part that holds nothing is left out, and so is the heading of a section without one."""
    text = markdown_of(keyPoints=[], surveyNote="", citations=[], sections=["bare text"])
    assert re.findall(r"^#.*$", text, flags=re.M) == ["# Saving water", "## Overview", "## Detailed analysis"]


@pytest.mark.parametrize(
    ("title", "url", "line"),
    [
        ("Barrels", "javascript:alert(1)", "1. Barrels"),
        ("Barrels", "data:text/html,x", "1. Barrels"),
        ("Barrels", "http://", "1. Barrels"),
        ("Barrels", "http://[", "1. Barrels"),
        ("Barrels", "https://e.org/a_(b) c?d=<e>", "1. [Barrels](https://e.org/a_%28b%29%20c?d=%3Ce%3E)"),
        ("", "https://e.org", "1. [s](https://e.org)"),
        ("a](http://evil.org) [b", "https://e.org", r"1. [a\](http://evil.org) \[b](https://e.org)"),
        ("x\n\n# Heading <b>*_`", "", r"1. x \# Heading \<b\>\*\_\`"),
        ("# 1", "", r"1. \# 1"),
        ("2. two", "", r"1. 2\. two"),
    ],
)
def test_a_source_stays_one_plain_line(title: str, url: str, line: str) -> None:
    """Whatever a source is called, it is one line of words; links lead to http and https alone."""
    text = markdown_of(sources=[Source(id="s", title=title, url=url)], citations=["s"])
    assert text.splitlines()[-1] == line


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("# Not ours", r"\# Not ours"),
        ("- # Not ours", r"- \# Not ours"),
        ("Title\n=====", "Title\n\\====="),
        ("Title\n-", "Title\n\\-"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("\\<b>", "\\&lt;b>"),
        ("1 < 2 and a <- b", "1 < 2 and a <- b"),
        ('see [here](https://evil.org/x "t")', "see here"),
        ("see [here](https://example.org/water)", "see [here](https://example.org/water)"),
        ("![pixel](https://evil.org/p.png)", "pixel"),
        ("![pixel](https://example.org/water)", "[pixel](https://example.org/water)"),
        ("[a [b]](javascript:x)", "[a [b]] (javascript:x)"),
        ("[ref]: https://evil.org", r"\[ref]: https://evil.org"),
        ("- **bold** and `List<int>`", "- **bold** and `List<int>`"),
        ("a ` b\n` <i> `", "a ` b\n` &lt;i> `"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("1. run\n   ```sh\n   ls <dir>\n   # all\n   ```\n2. done", "1. run\n```sh\nls <dir>\n# all\n```\n2. done"),
        ("```\nnever closed\n# inside", "```\nnever closed\n# inside\n```"),
        ("- ```\n<b>", "\\- \n&lt;b>"),
    ],
)
def test_model_text_keeps_its_shape_and_no_more(written: str, kept: str) -> None:
    """Lists, tables, emphasis and code stay; headings, HTML, images and links of the model's own do not."""
    text = markdown_of(overview=written)
    assert text.split("## Overview\n\n")[1].split("\n\n## Detailed analysis")[0] == kept


PIECES = [
    "`",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "<b>",
    "<!--",
    "\\",
    "[x](http://evil.org)",
    "![i](http://e.org)",
    "[a]: http://e",
]
MORE_PIECES = ["[", "](", ")", "# ", "===", "---", "- ", "1. ", "> ", "    ", "  ", "x", "!", "\u2028", "|", "&lt;"]
OUR_HEADINGS = ["# Saving water", "## Key points", "## Overview", "## Detailed analysis", "### Bathroom"]


@example("`[x](http://evil.org)`")
@given(st.lists(st.sampled_from(PIECES + MORE_PIECES), max_size=14).map("".join))
def test_no_text_adds_a_heading_or_hides_ours(text: str) -> None:
    """Whatever the model writes, the headings outside code are ours, and every code fence is closed."""
    markdown = outside_code(markdown_of(overview=f"x {text}"))
    headings = re.findall(r"^ {0,3}#+ .*$", markdown, flags=re.M)
    assert headings == [*OUR_HEADINGS, "## Survey note", "## Key citations"]
    assert "evil.org)" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown)  # a code span shows, and links nothing
