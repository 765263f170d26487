"""Faults that other memories are known for, each as a conversation."""

from pipeline.domain.extraction import read_extraction
from tests.domain.factories import heard, preferring, talk


def test_a_verbatim_repeat_is_no_second_fact() -> None:
    """At most support, confidence and the last turn change."""
    said = heard(states=["school librarian"], traits=["likes rice"], quote="I work as a school librarian")
    known = talk(said, said, said)
    assert known.names == ["school librarian"]
    assert known.traits == ["likes rice"]
    assert len(known.quotes) == 1
    assert known.memory.user_overview == talk(said).memory.user_overview


def test_a_paraphrase_is_one_role_with_all_its_evidence() -> None:
    """Three ways to say one thing are one identity with three quotes."""
    known = talk(
        heard("lorry driver", quote="my lorry"), heard("trucker", quote="my rig"), heard("货车司机", quote="跑货")
    )
    assert known.names == ["lorry driver"]
    assert known.quotes == ["my lorry", "my rig", "跑货"]


def test_a_greeting_invents_no_profile() -> None:
    """Hello, thanks and a sum leave nothing."""
    known = talk(heard(), heard(), heard())
    assert known.names == known.traits == known.quotes == []
    assert known.memory.user_overview == ""


def test_what_the_assistant_said_supports_nothing() -> None:
    """A quote must be in the user's question, wherever else it may be."""
    extraction = read_extraction(
        {"identities": ["potter"], "evidence": ["You could take up pottery"]}, "Suggest a hobby."
    )
    assert extraction is not None
    assert extraction.identities == []


def test_a_change_of_mind_has_one_current_value() -> None:
    """The former role is not current any more, and does not come back by itself."""
    known = talk(heard(states=["nurse"], overview="A nurse."), heard(states=["baker"], denies=["nurse"]))
    assert known.names == ["baker"]
    assert "nurse" not in known.memory.user_overview.casefold()
    assert known.memory.denied_identities == ["nurse"]


def test_a_preference_that_changes_is_replaced_and_not_added() -> None:
    """A field holds one value, and a proposal without it leaves it as it was."""
    known = talk(preferring("conversation", detail_level="CONCISE"), preferring("stable", detail_level="COMPREHENSIVE"))
    known.hear(preferring("conversation", response_format="DETAILED"))
    assert known.memory.preferences.detail_level == "COMPREHENSIVE"
    assert known.memory.preferences.response_format == "DETAILED"


def test_six_hundred_minor_likes_stay_within_bounds() -> None:
    """The oldest and least supported leave first."""
    known = talk(*(heard(traits=[f"likes thing {number}"], quote=f"thing {number}") for number in range(600)))
    assert known.traits == [f"likes thing {number}" for number in range(592, 600)]
    assert len(known.quotes) == 8
