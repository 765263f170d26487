"""A name says no more of the user than the questions do."""

import pytest

from tests.adapters.openai.mending.proposing import learnt, proposal


@pytest.mark.parametrize(
    ("question", "name", "learnt_as"),
    [
        ("my toddler throws every spoon", "mother of a toddler", "parent of a toddler"),
        ("our teen is up all night gaming", "dad", "parent"),
        ("宝宝一放下就哭", "新手妈妈", "新手家长"),
    ],
)
def test_a_parent_is_no_mother_or_father_unsaid(question: str, name: str, learnt_as: str) -> None:
    """The quote supports the neutral name."""
    extraction = learnt(proposal(name, quote=question), question)
    assert extraction.identities == [learnt_as]
    assert extraction.evidence[0].supports == [learnt_as]


@pytest.mark.parametrize(
    ("before", "question", "name"),
    [
        ("", "as a mom of twins, which pram", "mom of twins"),
        ("my husband works nights", "my toddler throws every spoon", "mother"),
        ("我刚出月子", "宝宝一放下就哭", "妈妈"),
        ("", "哺乳期能喝咖啡吗", "新手妈妈"),
    ],
)
def test_where_a_question_says_which_it_stays(before: str, question: str, name: str) -> None:
    """In this question or an earlier one."""
    assert name in learnt(proposal(name, quote=question), question, before).identities


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("games for native speakers at our Saturday school", "mother-tongue teacher"),
        ("as clergy of our parish, how do I plan a homily", "Father (Catholic priest)"),
        ("六月的活动预算怎么定", "父亲节策划师"),
    ],
)
def test_a_word_within_another_role_stays(question: str, name: str) -> None:
    """The parent is the head of the name, or nobody."""
    assert learnt(proposal(name, quote=question), question).identities == [name]


def test_what_is_not_renamed_keeps_its_quote() -> None:
    """A characteristic is as the model has it."""
    question = "how do I get my toddlers to nap at the same time"
    trait = "mum of toddlers"
    said = proposal(characteristics=[trait], evidence=[{"quote": question, "supports": [trait]}])
    assert learnt(said, question).characteristics == [trait]
