"""Where the rules' reading of a question's subject stands in for the model's."""

import pytest

from tests.adapters.openai.mending.proposing import learnt, proposal

HIVE = "second hive is queenless, requeen or combine?"


@pytest.mark.parametrize(
    ("question", "role"),
    [
        (HIVE, "beekeeper"),
        ("蜂王不产卵，分蜂了吗", "养蜂人"),
        ("our goroutine deadlocks on the mutex", "software engineer"),
    ],
)
def test_a_hint_fills_the_silence(question: str, role: str) -> None:
    """A silent model's turn is read by the rules, as inferred and with their low score and overview."""
    extraction = learnt(proposal(score=0.9), question)
    assert (extraction.identities, extraction.states) == ([role], [])
    assert extraction.score <= 0.6
    assert role in extraction.overview


@pytest.mark.parametrize("question", ["what is a firewall?", "端午节是几号", "my sister keeps bees, is honey vegan"])
def test_silence_stays_where_the_words_hint_at_nobody(question: str) -> None:
    """What anybody may ask, or asks for somebody else."""
    assert learnt(proposal(), question).identities == []


def test_what_is_known_goes_on_only_where_the_model_misquoted_it() -> None:
    """A model that names nobody, or somebody else without a quote, means no one whom the rules know."""
    before, question = "I'm a court usher. where do I stand?", "and when they bring in the file"
    assert learnt(proposal(), question, before).identities == []
    misquoted = proposal("court usher", quote="where the usher stands")
    assert learnt(misquoted, question, before).identities == ["court usher"]
    stranger = proposal("chef", quote="in the kitchen")
    assert learnt(stranger, question, before).identities == []


@pytest.mark.parametrize(
    ("question", "echo", "role"),
    [
        (HIVE, "hive expert", "beekeeper"),
        ("my backhand slice floats in doubles on clay", "backhand specialist", "racket-sport player"),
        ("学员深蹲膝盖内扣，口令怎么说", "学生", "健身教练"),
    ],
)
def test_an_echo_of_the_question_yields_to_a_plain_hint(question: str, echo: str, role: str) -> None:
    """A word of the question with "expert" behind it, or for somebody else, says nothing of who asks."""
    assert learnt(proposal(echo, quote=question), question).identities == [role]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        (HIVE, "apiary inspector"),
        (HIVE, "hobby beekeeper"),
        ("how much wick for soy wax candles in a jar", "candle seller"),
        ("the valve in our pump drips", "pump technician"),
        ("My macros keep expanding twice in this Rust crate", "Rust developer"),
        ("I code Rust all day. My boss, a developer himself, hates macros", "Rust developer"),
        ("My pivot table breaks in this VBA sheet", "VBA developer"),
        ("my kiln overshoots on every bisque firing", "kiln operator"),
        ("I'm a kiln operator, it overshoots on every bisque firing", "kiln operator"),
    ],
)
def test_a_name_of_the_models_own_stays(question: str, name: str) -> None:
    """One that says more than the question's words, agrees with the hint, has none against it, or is stated."""
    assert learnt(proposal(name, quote=question), question).identities == [name]


def test_what_is_denied_is_not_hinted_at() -> None:
    """Whatever the subject."""
    question = f"I'm not a beekeeper, just asking. {HIVE}"
    assert learnt(proposal(), question).identities == []
