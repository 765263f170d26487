"""Replies that other memories are known to have stumbled over; the docstrings name where each was reported."""

import pytest

from pipeline.adapters.openai.json_reading import read_json
from pipeline.domain.extraction import read_extraction
from schemas.role import Extraction

WANTED = {"identities", "evidence", "preferences"}


def read(reply: str, question: str) -> Extraction | None:
    return read_extraction(read_json(reply, WANTED), question)


@pytest.mark.parametrize("reply", ["```json\n[]\n```", "```\n{}\n```", "~~~json\n[]\n~~~\n"])
def test_nothing_in_a_fence_is_nothing_and_no_failure(reply: str) -> None:
    """mem0ai/mem0#1854: the fence is no part of the reply."""
    assert read(reply, "I like short lists.") == Extraction()


def test_wrongly_escaped_quotes_are_read() -> None:
    """mem0ai/mem0#1848: a backslash before a quote that needs none costs nothing."""
    reply = "{\"identities\": [\\'rower\\'], \"evidence\": [\\'I row for my club\\']}"
    extraction = read(reply, "I row for my club, how do I fix a sore wrist?")
    assert extraction is not None
    assert extraction.identities == ["rower"]


def test_a_remark_after_the_fence_is_dropped() -> None:
    """alibaba/spring-ai-alibaba#750: the object inside is the reply, in whatever language the model goes on."""
    reply = (
        '```json\n{"identities": [], "preferences": {"responseFormat": {"value": "CONCISE", "scope": "turn"}}}\n```'
        "\n\n以上就是提取结果，需要调整请告诉我：{谢谢}"
    )
    extraction = read(reply, "给我排一个月的书单，简单点")
    assert extraction is not None
    assert extraction.identities == []
    assert extraction.preferences.response_format == "CONCISE"
