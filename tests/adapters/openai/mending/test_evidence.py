"""A quote is mended to the question's own letters, and supports only what it can."""

import pytest

from tests.adapters.openai.mending.proposing import learnt, proposal


def test_how_an_answer_should_be_names_nobody() -> None:
    """A quote that only asks for another kind of answer supports no identity; a role beside the wish stays."""
    question = "just this once keep it short: which way does it turn"
    assert learnt(proposal("machinist", quote="just this once keep it short"), question).identities == []
    assert learnt(proposal("machinist", quote=question), question).identities == ["machinist"]
    question = "keep it short, I'm between patients"
    assert learnt(proposal("nurse", quote=question), question).identities == ["nurse"]


@pytest.mark.parametrize(
    ("question", "quote", "kept"),
    [
        ("im the only nurse here tonight", "I'm the only nurse here", "im the only nurse here"),
        ("I’m the only nurse here tonight", "I'm the only nurse here", "I’m the only nurse here"),
        ("our pump flags 10 mmol/h", "our pump flags 10mmol/h...", "our pump flags 10 mmol/h"),
        ("我們店裡的磨豆機怎麼調", "我们店里的磨豆机", "我們店裡的磨豆機"),
        ("our ward is full, so who may we move to step down?", "our ward is full ... step down", "our ward is full"),
    ],
)
def test_a_quote_may_differ_in_signs_alone(question: str, quote: str, kept: str) -> None:
    """Apostrophes, blanks, ellipses and the script of Chinese are mended to what the question has."""
    said = proposal("咖啡師" if "店" in question else "nurse", quote=quote)
    assert learnt(said, question).evidence[0].quote == kept


def test_a_quote_in_other_words_is_none() -> None:
    """What is not in the question supports nothing."""
    assert learnt(proposal("nurse", quote="our pump alarms"), "our pump flags anything").identities == []


def test_a_quote_for_a_role_supports_its_other_name() -> None:
    """A proposal that calls one role by two names has quoted both."""
    said = proposal("ward nurse", evidence=[{"quote": "our ward", "supports": ["nurse"]}])
    assert learnt(said, "who covers our ward at night?").identities == ["ward nurse"]


@pytest.mark.parametrize("name", ["军嫂", "院士", "程序媛", "北漂", "海归", "规培医", "公司副总", "创业公司CEO"])
def test_a_chinese_role_with_a_rare_ending_is_one(name: str) -> None:
    """Only what ends as things do is a thing."""
    assert name in learnt(proposal(name, quote="我们项目组的年终会"), "我们项目组的年终会怎么开").identities


@pytest.mark.parametrize(("question", "name"), [("中秋节放几天假", "中秋节"), ("“耄耋”怎么读", "耄耋")])
def test_a_chinese_name_of_a_thing_is_no_role(question: str, name: str) -> None:
    """It has neither the head nor the ending of a role."""
    assert learnt(proposal(name, quote=question), question).identities == []
