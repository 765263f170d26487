"""Faults that other memories are known for, each as a conversation; the ids name where each was reported."""

from typing import Any

import pytest

from pipeline.adapters.rules import RulesModel
from pipeline.domain.asks import asked_preferences, with_plain_wishes
from pipeline.domain.extraction import read_extraction
from pipeline.domain.guidance import MAX_GUIDANCE, compose_guidance
from pipeline.processing import Policy
from schemas.role import CommunicationPreferences, Extraction, RoleMemory, TrackEntry
from tests.domain.factories import Talk, heard, preferring, talk
from tests.domain.test_guidance import entry
from tests.measures.conversation import memories


def read(proposal: Any, question: str) -> Extraction:
    extraction = read_extraction(proposal, question)
    assert extraction is not None
    return extraction


def told(conversation: Talk, question: str, **proposal: Any) -> None:
    """A turn whose model said `proposal`; everything that it names is quoted by the whole question."""
    fields = ("identities", "states", "denies", "characteristics")
    evidence = [{"quote": question, "supports": name} for field in fields for name in proposal.get(field, [])]
    conversation.hear(read({"evidence": evidence, "score": 0.7} | proposal, question))


def on_the_track(conversation: Talk) -> TrackEntry:
    """As much of a track entry as guidance reads."""
    return entry(
        overview=conversation.memory.user_overview,
        identities=tuple(conversation.names),
        characteristics=tuple(conversation.traits),
    )


def test_a_verbatim_repeat_is_no_second_fact() -> None:
    """mem0ai/mem0#1674: at most support, confidence and the last turn change."""
    said = heard(states=["school librarian"], traits=["likes rice"], quote="I work as a school librarian")
    known = talk(said, said, said)
    assert known.names == ["school librarian"]
    assert known.traits == ["likes rice"]
    assert len(known.quotes) == 1
    assert known.memory.user_overview == talk(said).memory.user_overview


def test_a_repeated_value_does_not_grow() -> None:
    """memodb-io/memobase#143: what is said again in other words is stored as it was first."""
    known = Talk()
    told(known, "I'm a tea grower, when do I prune?", states=["tea grower"], characteristics=["grows oolong"])
    first = (known.names, known.traits)
    told(known, "as I said, tea grower: frost?", states=["tea grower"], characteristics=["grows oolong"])
    told(known, "again, a tea grower who grows oolong", states=["tea grower"], characteristics=["Grows Oolong"])
    assert (known.names, known.traits) == first


def test_a_paraphrase_is_one_role_with_all_its_evidence() -> None:
    """plastic-labs/honcho#729: three ways to say one thing are one identity with three quotes, told once."""
    known = talk(
        heard("lorry driver", quote="my lorry"), heard("trucker", quote="my rig"), heard("货车司机", quote="跑货")
    )
    assert known.names == ["lorry driver"]
    assert known.quotes == ["my lorry", "my rig", "跑货"]
    guidance = compose_guidance(on_the_track(known), CommunicationPreferences(), [], "hello").text
    assert "trucker" not in guidance


@pytest.mark.parametrize(
    "questions", [["hello", "cheers!", "and what is 9 times 14?"], ["你好呀", "谢啦", "那 9 乘 14 是多少"]]
)
async def test_a_greeting_invents_no_profile(questions: list[str]) -> None:
    """mem0ai/mem0#4573: hello, thanks and a sum leave nothing, in the rules' reading as in the arbiter's."""
    for memory in await memories(questions, RulesModel(), Policy()):
        assert memory == RoleMemory()


@pytest.mark.parametrize(
    "quote",
    ["You could take up pottery, you would love it", "You are a gardening assistant named Fern", "as a keen potter"],
)
def test_what_the_assistant_or_the_system_said_supports_nothing(quote: str) -> None:
    """mem0ai/mem0#2239: a quote must be in the user's question, wherever else it may be."""
    proposal = {"identities": ["potter"], "characteristics": ["patient"], "evidence": [quote]}
    extraction = read(proposal, "Any idea what I could do on Sundays?")
    assert extraction == Extraction(score=extraction.score)


@pytest.mark.parametrize(
    ("question", "role", "script"),
    [
        ("我是初中化学老师，讲解的时候多给几个例子。", "化学老师", "zh"),
        ("I'm a chemistry teacher, give me plenty of examples when you explain.", "chemistry teacher", "en"),
    ],
)
async def test_what_is_learnt_is_in_the_language_of_the_question(question: str, role: str, script: str) -> None:
    """mem0ai/mem0#3707: names, overview and quotes stay in the user's language, preferences are codes."""
    (memory,) = await memories([question], RulesModel(), Policy())
    assert role in memory.identities[0].name
    assert all(item.quote in question for item in memory.evidence)
    assert memory.preferences.response_format == "STRUCTURED_WITH_EXAMPLES"
    assert any("\u4e00" <= char <= "\u9fff" for char in memory.user_overview) == (script == "zh")


def test_a_change_of_mind_has_one_current_value() -> None:
    """mem0ai/mem0#4536: the former role is not current any more, does not come back, and the memory is never empty."""
    known = Talk()
    told(known, "I'm a nurse, I love it", states=["nurse"], overview="A nurse.")
    told(known, "I gave up being a nurse, I am a baker", states=["baker"], denies=["nurse"])
    assert known.names == ["baker"]
    assert "nurse" not in known.memory.user_overview.casefold()
    assert known.memory.denied_identities == ["nurse"]
    told(known, "which flour?", identities=["nurse"])
    assert known.names == ["baker"]


def test_guidance_has_one_section_for_who_the_user_is() -> None:
    """letta-ai/letta#3397: after a change the line of identities stands once, with the new one alone."""
    known = Talk()
    told(known, "I am a cashier.", states=["cashier"], overview="A cashier.")
    told(known, "I left the till, I am a glazier now.", states=["glazier"], denies=["cashier"])
    guidance = compose_guidance(on_the_track(known), CommunicationPreferences(), [], "hello").text
    assert guidance.count("Probably:") == guidance.count("About the user:") == 1
    assert "glazier" in guidance
    assert "cashier" not in guidance


def test_a_preference_that_changes_is_replaced_and_not_added() -> None:
    """mem0ai/mem0#4536: a field holds one value, and a proposal without it leaves it as it was."""
    known = talk(preferring("conversation", detail_level="CONCISE"), preferring("stable", detail_level="COMPREHENSIVE"))
    known.hear(preferring("conversation", response_format="DETAILED"))
    assert known.memory.preferences.detail_level == "COMPREHENSIVE"
    assert known.memory.preferences.response_format == "DETAILED"


def test_a_wish_for_always_is_heard_in_a_conversation_of_one_turn() -> None:
    """plastic-labs/honcho#703: no number of questions has to be reached first."""
    (wish,) = asked_preferences("I always want step-by-step answers. How do I bleed a radiator?")
    assert (wish.field, wish.value, wish.scope) == ("contentDepth", "PRACTICAL", "stable")
    known = talk(with_plain_wishes(heard(), "I always want step-by-step answers. How do I bleed a radiator?"))
    assert known.memory.preferences.content_depth == "PRACTICAL"


@pytest.mark.parametrize("old", ["second-year apprentice", "Second-Year  Apprentice", "second year apprentice "])
def test_a_correction_needs_no_exact_old_text(old: str) -> None:
    """letta-ai/letta#552: however the model spells what was wrong, the right one alone remains."""
    known = Talk()
    told(known, "I'm a second-year apprentice", states=["second-year apprentice"])
    told(known, "typo, I'm a third-year apprentice", states=["third-year apprentice"], denies=[old])
    assert known.names == ["third-year apprentice"]


async def test_the_rules_correct_a_slip_that_names_the_wrong_word_alone() -> None:
    """letta-ai/letta#552: "not second" finds the role that was stated with it."""
    questions = ["I'm a second-year apprentice, which pliers?", "sorry, third-year, not second-year"]
    after = await memories(questions, RulesModel(), Policy())
    assert [identity.name for identity in after[-1].identities] == ["third-year apprentice"]


@pytest.mark.parametrize("nothing", ["", " ", "\u200b", "-"])
def test_an_empty_name_means_nothing_at_all(nothing: str) -> None:
    """letta-ai/letta#1616: denying or replacing "" touches no role."""
    known = Talk()
    told(known, "I teach evening classes", states=["evening class teacher"])
    before = known.memory
    told(known, "note that down", identities=[nothing], states=[nothing], denies=[nothing])
    assert known.memory == before


def test_a_reference_to_what_was_not_offered_costs_only_itself() -> None:
    """mem0ai/mem0#3931: a quote for an identity that nobody proposed is skipped, and the rest of the reply counts."""
    extraction = read(
        {
            "identities": ["cellist"],
            "evidence": [{"quote": "my cello", "supports": "12"}, {"quote": "my cello buzzes", "supports": "cellist"}],
        },
        "my cello buzzes on the C string",
    )
    assert extraction.identities == ["cellist"]
    assert [(item.quote, item.supports) for item in extraction.evidence] == [("my cello buzzes", ["cellist"])]


def test_an_object_where_a_string_was_expected_is_read_field_by_field() -> None:
    """langchain-ai/langmem#36: its name counts, an empty field clears nothing, and an odd one costs only itself."""
    known = talk(preferring("conversation", detail_level="COMPREHENSIVE"))
    told(
        known,
        "I'm a glassblower in my fifties",
        identities=[{"name": "glassblower"}, {"years": 30}],
        states=[{"value": "glassblower"}],
        characteristics=[{"label": "in their fifties"}],
        preferences={"detailLevel": None, "contentDepth": {"value": {"depth": "deep"}, "scope": "stable"}},
        evidence=["I'm a glassblower in my fifties"],
    )
    assert known.names == ["glassblower"]
    assert known.traits == ["in their fifties"]
    assert known.memory.preferences == CommunicationPreferences(detail_level="COMPREHENSIVE")


def test_six_hundred_minor_likes_stay_within_bounds() -> None:
    """letta-ai/letta#3241: the oldest and least supported leave first, from the memory and from what is told."""
    known = talk(*(heard(traits=[f"likes thing {number}"], quote=f"thing {number}") for number in range(600)))
    assert known.traits == [f"likes thing {number}" for number in range(592, 600)]
    assert len(known.quotes) == 8
    guidance = compose_guidance(on_the_track(known), CommunicationPreferences(), [], "hello").text
    assert len(guidance) <= MAX_GUIDANCE
    assert "likes thing 599" in guidance
    assert "likes thing 7" not in guidance
