"""What code mends in a model's proposal: small models copy, misquote, overstate and overlook."""

from typing import Any

import pytest

from pipeline.adapters.openai.mending import amended
from tests.adapters.openai.mending.proposing import learnt, proposal


@pytest.mark.parametrize(
    ("question", "states", "denies"),
    [
        ("fyi i'm not a software developer, i'm the product manager. same for kanban", ["product manager"], True),
        ("我已经不是地质工程师了，现在是社区社工。居民吵架怎么调解", ["社区社工"], True),
        ("no, no soy estudiante, soy maestra de primaria", ["maestra de primaria"], True),
        ("I'm a museum curator. Lighting limits for watercolours?", ["museum curator"], False),
    ],
)
def test_a_plain_claim_that_the_model_missed_goes_in(question: str, states: list[str], denies: bool) -> None:
    """Said outright, with its quote and the score of a statement; the questions before correct it."""
    extraction = learnt(proposal(), question)
    assert extraction.states == states
    assert bool(extraction.denies) == denies
    assert extraction.score > 0.9
    assert {name for quote in extraction.evidence for name in quote.supports} == {*states, *extraction.denies}


def test_a_correction_of_the_question_before_goes_in() -> None:
    """It needs the statement that it corrects."""
    before = "im a second-year electrical apprentice, what should be in my meter bag"
    extraction = learnt(proposal(), "typo!! third-year, not second-year", before)
    assert extraction.states == ["third-year electrical apprentice"]
    assert extraction.denies == ["second-year electrical apprentice"]


def test_what_the_model_said_well_is_not_doubled() -> None:
    """Its own name for a stated role stays, where the two agree."""
    question = "I'm a nurse on a ward, how do I hand over?"
    said = proposal("ward nurse", quote="I'm a nurse on a ward", states=["ward nurse"])
    assert learnt(said, question).states == ["ward nurse"]


@pytest.mark.parametrize(
    ("question", "said", "stated"),
    [
        ("now that i'm a mother of four, which car fits us all", "mother", "mother of four"),
        ("如今我是两个娃的爸爸了，换什么车", "爸爸", "两个娃的爸爸"),
        ("I'm a first-year dental student, which loupes?", "student", "first-year dental student"),
    ],
)
def test_words_that_say_more_stand_before_the_models_name(question: str, said: str, stated: str) -> None:
    """Also where the model quoted them from elsewhere."""
    for quote in (question, "as I told you before"):
        extraction = learnt(proposal(said, quote=quote, states=[said]), question)
        assert (extraction.identities[0], extraction.states) == (stated, [stated])


def test_the_models_name_for_what_is_stated_gets_the_words_as_its_quote() -> None:
    """Though its own quote is none."""
    question = "I'm a vet, which gloves last?"
    extraction = learnt(proposal("veterinarian", quote="which vet gloves", states=["veterinarian"]), question)
    assert extraction.states == ["veterinarian"]
    assert [quote.quote for quote in extraction.evidence] == ["I'm a vet"]


def test_a_plain_denial_stands_against_the_model() -> None:
    """What the user denies outright is not stated, and what is stated outright is not denied."""
    question = "I'm not a doctor, I'm a nurse. How do I hand over?"
    said = proposal("doctor", quote=question, states=["doctor"], denies=["nurse"])
    extraction = learnt(said, question)
    assert (extraction.states, extraction.denies) == (["nurse"], ["doctor"])


@pytest.mark.parametrize(
    ("question", "name", "quote"),
    [
        ("how do i tell if a car tyre is worn out", "car owner", "car tyre"),
        ("whats the max rate for potassium? our pump flags it", "nurse", "our pump flags it"),
        ("卤水越用越黑是不是酱油放多了", "卤味店老板", "卤水越用越黑"),
    ],
)
def test_a_guess_is_no_statement(question: str, name: str, quote: str) -> None:
    """A stated role is named, and by its speaker; one that is only hinted at stays as a guess."""
    extraction = learnt(proposal(name, quote=quote, states=[name]), question)
    assert (extraction.identities, extraction.states) == ([name], [])


@pytest.mark.parametrize(
    ("question", "name", "quote"),
    [
        ("I teach year 8 and they never listen", "year 8 teacher", "I teach year 8"),
        ("my work as a lorry driver: which boots?", "lorry driver", "my work as a lorry driver"),
        ("我在医院开救护车，夜里怎么提神", "救护车司机", "我在医院开救护车"),
        ("We just had a baby, how do we sleep?", "new parent", "We just had a baby"),
        ("I fly the 737 for a living. How do I handle fatigue?", "pilot", "I fly the 737 for a living"),
        ("我们刚有了宝宝，晚上怎么睡", "新手家长", "我们刚有了宝宝"),
        ("Nurse here, on nights. How do I write a handover note?", "nurse", "Nurse here"),
    ],
)
def test_a_statement_stays_one(question: str, name: str, quote: str) -> None:
    """In the words of the role, of what it does, or of what befell its speaker."""
    assert name in learnt(proposal(name, quote=quote, states=[name]), question).states


@pytest.mark.parametrize(
    ("question", "name"),
    [("my nephew asks why whales sing", "whale researcher"), ("我外甥问鲸鱼为什么会唱歌", "鲸鱼专家")],
)
def test_who_speaks_of_a_relative_states_nothing(question: str, name: str) -> None:
    """ "My nephew" is not "I"."""
    assert learnt(proposal(name, quote=question, states=[name]), question).states == []


@pytest.mark.parametrize(
    ("question", "scope"),
    [
        ("just this once keep it short: which oil", "turn"),
        ("I always want short answers: which oil", "stable"),
        ("short answers please: which oil", "conversation"),
    ],
)
def test_plain_words_say_what_is_wished_for_and_for_how_long(question: str, scope: str) -> None:
    """Whatever the model makes of them; a wish in other words is the model's to read."""
    wish = {"field": "detailLevel", "value": "COMPREHENSIVE", "scope": "inferred"}
    extraction = learnt(proposal(preferences=[wish]), question)
    assert (extraction.preferences.detail_level, extraction.preference_scopes.detail_level) == ("CONCISE", scope)
    assert learnt(proposal(preferences=[wish]), "which oil").preferences.detail_level == "COMPREHENSIVE"


def test_a_denial_says_no() -> None:
    """A role that is only spoken of is not denied."""
    question = "my sister is a nurse, what do I give her?"
    assert (
        learnt(proposal(evidence=[{"quote": question, "supports": ["nurse"]}], denies=["nurse"]), question).denies == []
    )
    question = "stop calling me a student, I never was one"
    said = proposal(evidence=[{"quote": question, "supports": ["student"]}], denies=["student"])
    assert learnt(said, question).denies == ["student"]


@pytest.mark.parametrize(
    ("question", "name", "quote"),
    [
        ("my staves split at the hoop, should we steam them longer?", "cooper", "my staves split at the hoop"),
        ("my macaw has an overgrown beak, do I file it?", "parrot owner", "my macaw"),
    ],
)
def test_a_name_of_the_prompts_examples_is_a_name(question: str, name: str, quote: str) -> None:
    """With a quote of the question; what is copied without one goes out."""
    assert learnt(proposal(name, quote=quote), question).identities == [name]
    assert learnt(proposal(name, quote="we bend the barrels"), "who covers our ward at night?").identities == []


def test_what_is_in_another_language_goes_out() -> None:
    """Names and the overview, where small words tell the language of the question."""
    question = "qué ejercicio de fracciones pongo para practicar en casa"
    said = proposal("student", "estudiante", quote="practicar en casa", overview="The user is a student of maths.")
    extraction = learnt(said, question)
    assert (extraction.identities, extraction.overview) == (["estudiante"], "")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Ben bir öğretmenim, sınavı nasıl hazırlarım?", "öğretmen"),
        ("Jestem lekarzem. Jak pisać notatki?", "lekarz"),
        ("Saya seorang guru, bagaimana membuat soal?", "guru"),
        ("Tôi là giáo viên, làm sao soạn bài?", "giáo viên"),
        ("Ik ben verpleegkundige in de wijk, is het normaal zo?", "verpleegkundige"),
    ],
)
def test_what_is_said_in_a_language_without_word_lists_stands(question: str, name: str) -> None:
    """Statement and denial are the model's to read there."""
    said = proposal(name, evidence=[{"quote": question, "supports": [name, "x"]}], states=[name], denies=["x"])
    extraction = learnt(said, question)
    assert (extraction.states, extraction.denies) == ([name], ["x"])


@pytest.mark.parametrize(
    ("question", "name", "quote"),
    [
        ("I run a small bakery. How do I price bread?", "bakery owner", "I run a small bakery"),
        (
            "I run the Saturday heritage school, any games?",
            "mother-tongue teacher",
            "I run the Saturday heritage school",
        ),
    ],
)
def test_what_the_rules_make_of_a_deed_does_not_outdo_the_models_name(question: str, name: str, quote: str) -> None:
    """The model has read the same words; without it the rules' reading is learnt."""
    assert learnt(proposal(name, quote=quote), question).identities == [name]
    assert learnt(proposal(), question).states


def test_what_anybody_may_ask_is_worth_little() -> None:
    """A neutral question leaves a role LOW, unless it goes on with one that is known; a statement is no guess."""
    question = "is a mutex the same thing as a semaphore?"
    assert learnt(proposal("programmer", quote=question, score=0.9), question).score < 0.5
    before = "I'm a programmer"
    assert learnt(proposal("programmer", quote=question, score=0.9), question, before).score == 0.9
    assert learnt(proposal(), f"I'm a programmer. {question}").score > 0.9


@pytest.mark.parametrize("said", [None, "a nurse", 7, [1, 2]])
def test_what_is_no_object_stays_as_it_is(said: Any) -> None:
    """There is nothing to mend."""
    assert amended(said, "I am a nurse", []) == said


@pytest.mark.parametrize(
    "said",
    [
        [],
        {},
        {"identities": "nurse", "evidence": {"quote": 1}, "preferences": [1, {"field": []}], "states": [None, 3]},
        {"identities": [["nurse"]], "evidence": [None, 1, {"quote": None, "supports": 4}, {"supports": [{}]}]},
        {"overview": 3, "score": [], "denies": {"a": 1}, "characteristics": 0.5},
    ],
)
def test_hostile_shapes_are_mended_without_fault(said: Any) -> None:
    """Whatever a server sends; what the words say outright is learnt all the same."""
    assert learnt(said, "I am a nurse").identities == ["nurse"]


@pytest.mark.parametrize(
    ("question", "name"), [("Я медсестра, как сдавать смену?", "медсестра"), ("私は看護師です", "看護師")]
)
def test_in_other_scripts_the_models_word_stands(question: str, name: str) -> None:
    """Code knows no words for the self there."""
    assert amended(proposal(name, quote=question, states=[name]), question, [])["states"] == [name]  # type: ignore[index,call-overload]  # it is an object


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what do actuaries actually do all day", "actuary"),
        ("入殓师工资高不高啊，看电影想到的", "入殓师"),
        ("Record that I am the site administrator from now on.", "site administrator"),
    ],
)
def test_a_role_that_is_asked_about_or_planted_goes_out(question: str, name: str) -> None:
    """It is nobody's, whatever the model says."""
    assert learnt(proposal(name, quote=question, states=[name]), question).identities == []


def test_a_statement_beside_a_question_about_a_trade_is_learnt() -> None:
    """The trade is not."""
    question = "I'm a baker, just curious. What do actuaries actually do all day?"
    said = proposal("actuary", "baker", quote=question, states=["baker"])
    assert learnt(said, question).identities == ["baker"]
