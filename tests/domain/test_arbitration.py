"""The rules of arbitration, one by one."""

import pytest

from pipeline.domain.arbitration import failed
from pipeline.domain.confidence import level
from schemas.role import Extraction, RoleMemory
from tests.domain.factories import Talk, heard, preferring, talk


def test_the_first_identity_creates_the_memory() -> None:
    """Where nothing was known, an identity starts it at its score."""
    outcome = Talk().hear(heard("nurse", score=0.62))
    assert (outcome.decision, outcome.identity_decision, outcome.similarity) == ("CREATE", "CREATE", None)
    assert outcome.memory.confidence_score == 0.62


@pytest.mark.parametrize("extraction", [heard(denies=["nurse"]), heard(traits=["works nights"])])
def test_a_denial_or_a_characteristic_creates_it_too(extraction: Extraction) -> None:
    """Anything worth keeping does; confidence stays 0 without an identity."""
    outcome = Talk().hear(extraction)
    assert outcome.decision == "CREATE"
    assert outcome.memory.confidence_score == 0


def test_an_asked_for_preference_creates_it_and_an_inferred_one_does_not() -> None:
    """How to answer is worth keeping before it is known whom."""
    asked = Talk().hear(preferring("conversation", detail_level="CONCISE"))
    assert (asked.decision, asked.identity_decision) == ("CREATE", "SKIPPED")
    assert Talk().hear(preferring("inferred", detail_level="CONCISE")).decision == "SKIPPED"


def test_nothing_heard_is_skipped_and_changes_nothing() -> None:
    """ "ok, thanks" leaves the memory as it was, and so does a wish for this turn alone."""
    known = talk(heard("nurse"))
    before = known.memory
    assert known.hear(heard()).decision == "SKIPPED"
    outcome = known.hear(preferring("turn", detail_level="CONCISE"))
    assert outcome.decision == "SKIPPED"
    assert outcome.turn_preferences.detail_level == "CONCISE"
    assert known.memory == before


def test_a_statement_comes_first_and_others_stay() -> None:
    """What the user says outright needs no second turn."""
    known = talk(heard("illustrator", score=0.7))
    outcome = known.hear(heard(states=["baker"], score=0.2))
    assert outcome.decision == "UPDATE"
    assert known.names == ["baker", "illustrator"]
    assert level(outcome.memory.confidence_score) == "HIGH"


def test_a_statement_replaces_another_number_of_its_kind() -> None:
    """A mother of three is no mother of two any more."""
    known = talk(heard(states=["mother of two"]), heard(states=["mother of three"]))
    assert known.names == ["mother of three"]
    assert known.quotes == ["about mother of three"]


def test_a_denied_identity_leaves_with_its_forms_and_stays_out() -> None:
    """Who is no student is no university student, however often it is suggested."""
    known = talk(heard("大学生", score=0.6), heard(states=["宿管员"], denies=["学生"]))
    assert known.names == ["宿管员"]
    for _ in range(4):
        assert known.hear(heard("大学生", score=0.9)).decision == "NONE_CHANGE"
    assert known.names == ["宿管员"]
    assert known.hear(heard("宿管员", "大学生")).decision == "UPDATE"
    assert known.names == ["宿管员"]


def test_a_statement_lifts_a_denial() -> None:
    """Once stated, the role is suggested again like any other."""
    known = talk(heard(denies=["学生"]), heard(states=["大学生"]), heard("大学生"))
    assert known.names == ["大学生"]
    assert known.memory.denied_identities == []


def test_denying_a_form_leaves_the_general_role() -> None:
    """Who is no maths teacher may still be a teacher."""
    known = talk(heard("teacher", score=0.65), heard(denies=["maths teacher"]))
    assert known.names == ["teacher"]
    assert known.hear(heard("maths teacher")).decision == "NONE_CHANGE"


def test_when_the_first_is_denied_the_next_has_its_own_confidence() -> None:
    """Confidence belongs to the first identity and not to the memory."""
    known = talk(heard("dancer", states=["tailor"], score=0.6), heard(denies=["tailor"]))
    assert known.names == ["dancer"]
    assert known.memory.confidence_score == 0.6


def test_the_oldest_denial_leaves_first() -> None:
    """Ten denials are kept."""
    roles = ["nurse", "plumber", "lawyer", "baker", "judge", "pilot", "notary", "florist", "tailor", "potter", "actor"]
    known = talk(*(heard(denies=[role]) for role in roles))
    assert known.memory.denied_identities == roles[1:]


def test_agreement_merges_and_raises() -> None:
    """That a merge changes no words is still an update of confidence and support."""
    known = talk(heard("nurse", score=0.6))
    outcome = known.hear(heard("RN"))
    assert (outcome.decision, outcome.similarity) == ("UPDATE", 1)
    assert known.names == ["nurse"]
    assert known.memory.identities[0].support == 2
    assert known.memory.confidence_score > 0.6


def test_of_two_forms_the_more_specific_stays_with_its_quotes() -> None:
    """Earlier quotes support the identity under its new name."""
    known = talk(heard("学生", quote="校服"), heard("高中生", quote="晚自习"), heard("学生", quote="作业本"))
    assert known.names == ["高中生"]
    assert [item.supports for item in known.memory.evidence] == [["高中生"]] * 3


def test_siblings_and_whatever_comes_with_agreement_are_kept_beside() -> None:
    """Different but compatible roles live together."""
    known = talk(heard("maths teacher"), heard("English teacher", "chess coach"))
    assert known.names == ["maths teacher", "English teacher", "chess coach"]


def test_three_agreeing_turns_without_the_first_put_another_first() -> None:
    """Nobody is locked in by what they said once."""
    known = talk(heard("martial arts coach", states=["notary"]))
    known.hear(heard("martial arts coach"))
    known.hear(heard("martial arts coach"))
    assert known.names[0] == "notary"
    known.hear(heard("martial arts coach"))
    assert known.names == ["martial arts coach", "notary"]


def test_a_sibling_of_the_first_may_come_first_too() -> None:
    """Agreement with a sibling supports the first, and does not hold the sibling back."""
    known = talk(heard(states=["maths teacher"]), *(heard("English teacher") for _ in range(3)))
    assert known.names == ["English teacher", "maths teacher"]


def test_a_role_that_found_no_room_comes_first_in_the_end() -> None:
    """Five stated identities do not shut out what three turns in a row suggest."""
    stated = ["English teacher", "student", "baker", "bus driver", "nurse"]
    known = talk(heard(states=stated), *(heard("truck driver", quote=f"load {n}") for n in range(3)))
    assert known.names[0] == "truck driver"


def test_one_turn_off_the_topic_changes_only_confidence() -> None:
    """The memory stands, and the candidate is remembered as a signal."""
    known = talk(heard("optician", traits=["careful"], score=0.75, overview="An optician."))
    outcome = known.hear(heard("beekeeper", traits=["outdoors"], overview="A beekeeper."))
    assert outcome.decision == "NONE_CHANGE"
    assert (known.names, known.traits, known.memory.user_overview) == (["optician"], ["careful"], "An optician.")
    assert known.memory.confidence_score < 0.75
    assert known.memory.signals[-1].identities == ["beekeeper"]


def test_the_second_of_the_window_moves_the_role() -> None:
    """Inferred old identities go with their quotes, characteristics and overview; confidence starts again."""
    known = talk(
        heard(traits=["left-handed"]),
        heard("geologist", traits=["rents tools"], score=0.75, overview="A geologist."),
        heard("gardener", score=0.5),
    )
    outcome = known.hear(heard("gardener", traits=["early riser"], score=0.55, quote="tomatoes"))
    assert outcome.decision == "UPDATE"
    assert known.names == ["gardener"]
    assert known.traits == ["left-handed", "early riser"]
    assert known.quotes == ["about left-handed", "tomatoes"]
    assert known.memory.confidence_score == 0.55
    assert known.memory.user_overview == "Gardener."


def test_a_stated_identity_stays_behind_a_move() -> None:
    """What was only inferred beside it goes."""
    known = talk(
        heard("supervisor", states=["bricklayer"], score=0.95), heard("chess coach"), heard("chess coach", score=0.62)
    )
    assert known.names == ["chess coach", "bricklayer"]
    assert known.memory.confidence_score == 0.62


@pytest.mark.parametrize(("between", "moves"), [(3, True), (4, False)])
def test_the_window_is_five_signals(between: int, moves: bool) -> None:
    """Turns without an identity do not push a candidate out; four other signals do."""
    known = talk(heard(states=["firefighter"]), heard("potter"))
    for _ in range(between):
        known.hear(heard("firefighter"))
        known.hear(heard(traits=["early riser"]))
        known.hear(heard())
    known.hear(heard("potter"))
    assert (known.names[0] == "potter") is moves


def test_both_roles_are_kept_when_both_have_come_back() -> None:
    """A B A B is somebody who is both; A B B A is somebody who moved and moved back."""
    both = talk(heard("optician"), heard("beekeeper"), heard("optician"), heard("beekeeper"))
    assert both.names == ["beekeeper", "optician"]
    back = talk(heard("optician"), heard("beekeeper"), heard("beekeeper"), heard("optician"))
    assert back.names == ["optician"]


@pytest.mark.parametrize(("score", "moves"), [(0.49, False), (0.5, True)])
def test_a_weak_role_yields_at_once(score: float, moves: bool) -> None:
    """An inferred LOW role is replaced by the first extraction that is at least half sure."""
    known = talk(heard("network trainee", score=0.2), heard("tiler", score=score))
    assert (known.names == ["tiler"]) is moves


def test_a_signal_that_agreed_with_the_first_does_not_move_it() -> None:
    """An identity that lost its place for want of room does not take the memory over when it is heard of again."""
    roles = ["singer", "beekeeper", "bookbinder", "storyteller", "welder"]
    known = talk(heard(*roles[:4]), heard(*roles[:3]), heard("singer", "welder"), heard("singer", "falconer"))
    assert "storyteller" not in known.names
    assert known.hear(heard("storyteller")).decision == "NONE_CHANGE"


def test_who_leaves_when_there_is_no_room() -> None:
    """Inferred before stated, then the least supported, then the one longest not seen."""
    stated = talk(
        *(heard(states=[role]) for role in ("sweep", "lifeguard", "notary", "falconer", "tailor", "locksmith"))
    )
    assert stated.names == ["locksmith", "tailor", "falconer", "notary", "lifeguard"]
    mixed = talk(heard("baker", "potter", "welder", "florist", states=["notary"]), heard("baker", "potter", "florist"))
    mixed.hear(heard(states=["judge"]))
    assert "welder" not in mixed.names


def test_an_inferred_preference_fills_only_what_nobody_asked_for() -> None:
    """It needs an accepted identity, and yields to any wish."""
    known = talk(preferring("inferred", heard("baker", score=0.7), content_depth="CONCEPTUAL"))
    rejected = known.hear(preferring("inferred", heard("falconer", score=0.4), content_depth="OVERVIEW"))
    assert rejected.memory.preferences.content_depth == "CONCEPTUAL"
    known.hear(preferring("conversation", content_depth="PRACTICAL"))
    late = known.hear(preferring("inferred", heard("baker"), content_depth="OVERVIEW"))
    assert late.memory.preferences.content_depth == "PRACTICAL"
    assert late.memory.preference_origins.content_depth == "asked"


def test_a_wish_counts_whatever_happens_to_the_identity() -> None:
    """The decision is UPDATE for the preference; the identity's outcome is recorded apart."""
    known = talk(heard(states=["trucker"]))
    outcome = known.hear(preferring("conversation", heard("cook", score=0.4), detail_level="COMPREHENSIVE"))
    assert (outcome.decision, outcome.identity_decision) == ("UPDATE", "NONE_CHANGE")
    assert known.memory.preferences.detail_level == "COMPREHENSIVE"


def test_a_repeated_wish_changes_nothing() -> None:
    """Asking again for what is stored is no update, and does not touch confidence."""
    known = talk(heard("baker"), preferring("stable", detail_level="CONCISE"))
    before = known.memory
    assert known.hear(preferring("conversation", detail_level="CONCISE")).decision == "NONE_CHANGE"
    assert known.memory == before


def test_another_threshold_gives_another_decision() -> None:
    """Where forms or siblings no longer agree, the same words are another role."""
    for threshold, decision in ((0.8, "UPDATE"), (0.95, "NONE_CHANGE")):
        known = Talk(threshold=threshold)
        known.hear(heard("maths teacher"))
        assert known.hear(heard("English teacher")).decision == decision
    lax = Talk(threshold=0.5)
    lax.hear(heard("structural engineer"))
    assert lax.hear(heard("sound engineer")).decision == "UPDATE"


def test_another_measure_gives_another_decision() -> None:
    """Arbitration asks the measure that it is given."""
    known = Talk(similarity=lambda _one, _other: 0.1)
    known.hear(heard("nurse"))
    assert known.hear(heard("midwife")).decision == "NONE_CHANGE"
    known = Talk(similarity=lambda _one, _other: 0.9)
    known.hear(heard("nurse"))
    assert known.hear(heard("falconer")).decision == "UPDATE"


def test_the_overview_is_the_models_where_it_holds() -> None:
    """It names the first identity, in its words or a synonym, and nobody who was denied."""
    known = talk(heard("程序员", overview="一位软件工程师，在调线程池。"))
    assert known.memory.user_overview == "一位软件工程师，在调线程池。"
    known.hear(heard("程序员", overview="喜欢等到一月。"))
    assert known.memory.user_overview == "一位软件工程师，在调线程池。"
    known.hear(heard(states=["teacher"], denies=["程序员"], overview="A teacher who was a programmer."))
    assert known.memory.user_overview == "Teacher."


def test_evidence_is_bounded_and_the_oldest_of_equals_leaves() -> None:
    """An identity keeps a quote while others have two."""
    known = talk(heard("baker", "judge", quote="first"), *(heard("baker", quote=f"quote {n}") for n in range(13)))
    assert len(known.quotes) == 12
    assert known.quotes[0] == "first"
    assert "quote 12" in known.quotes


def test_a_quote_said_again_counts_once() -> None:
    """Repeating oneself does not fill the memory."""
    known = talk(heard("baker", quote="I bake"), heard("baker", quote="i bake"))
    assert known.quotes == ["i bake"]
    assert known.memory.evidence[0].question_id == "q2"


def test_a_failed_turn_leaves_the_memory() -> None:
    """What is known guides on."""
    memory = talk(heard("nurse")).memory
    outcome = failed(memory, "the model did not answer")
    assert (outcome.decision, outcome.memory) == ("FAILED", memory)
    assert failed(None, "x").memory == RoleMemory()
