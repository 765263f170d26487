"""A name says no more of the user than the questions do."""

import pytest

from tests.adapters.openai.proposing import learnt, proposal


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
