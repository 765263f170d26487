"""What is composed in Chinese is in the characters of the question."""

import pytest

from pipeline.domain.guidance import rule_of
from pipeline.domain.scripts import in_script_of


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (rule_of("detailLevel", "CONCISE", "zh"), "喜歡簡短、直接的回答"),
        ("关于用户：{}", "關於用戶：{}"),
        ("面包店老板", "麵包店老闆"),
        ("About the user: {}", "About the user: {}"),
    ],
)
def test_a_traditional_question_is_told_in_traditional_characters(text: str, written: str) -> None:
    """By the character, or by the word where a character has two; blanks to fill and Latin letters stay."""
    assert in_script_of(["這個程式怎麼寫"], text) == written


@pytest.mark.parametrize("asked", [["这个程序怎么写"], ["how do I write this"], ["你好"], ["这样写", "這樣寫"]])
def test_any_other_question_leaves_a_text_alone(asked: list[str]) -> None:
    """One in simplified characters, in English, or that neither script has for itself; the newest decides."""
    assert in_script_of(asked, "喜欢简短、直接的回答") == "喜欢简短、直接的回答"


def test_a_character_of_the_question_is_kept() -> None:
    """Who writes 台灣 gets 台 back, and not 臺."""
    assert in_script_of(["台灣的麵店怎麼開"], "台湾面店老板") == "台灣麵店老闆"
