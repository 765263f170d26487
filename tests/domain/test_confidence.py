"""Confidence is arithmetic of ours, with its boundaries where the contract has them."""

import pytest

from pipeline.domain.confidence import earned, level, lowered, raised, started
from schemas.role import ConfidenceLevel, Identity


@pytest.mark.parametrize(
    ("score", "wanted"),
    [(0.0, "LOW"), (0.4999, "LOW"), (0.5, "MEDIUM"), (0.7, "MEDIUM"), (0.7001, "MEDIUM_HIGH"), (0.7999, "MEDIUM_HIGH"),
     (0.8, "HIGH"), (1.0, "HIGH")],
)  # fmt: skip
def test_levels_change_at_their_boundaries(score: float, wanted: ConfidenceLevel) -> None:
    """Below 0.5 LOW, to 0.7 inclusive MEDIUM, below 0.8 MEDIUM_HIGH, from 0.8 HIGH."""
    assert level(score) == wanted


def test_an_inferred_role_starts_at_its_score_below_high() -> None:
    """However sure the model is, a role that was only inferred does not start HIGH."""
    assert started("inferred", 0.55) == 0.55
    assert level(started("inferred", 1.0)) == "MEDIUM_HIGH"


def test_a_stated_role_starts_high_whatever_the_score() -> None:
    """What the user says outright is believed, and leaves room."""
    assert level(started("stated", 0.0)) == "HIGH"
    assert started("stated", 1.0) < 1


def test_agreement_always_raises_and_never_reaches_one() -> None:
    """Every agreeing turn counts, late ones less."""
    confidence = 0.0
    for _ in range(20):
        assert confidence < raised(confidence) < 1
        confidence = raised(confidence)


def test_contradiction_always_lowers_and_keeps_a_stated_role_above_low() -> None:
    """A stated role sinks towards MEDIUM and not below it; an inferred one has no floor."""
    stated, inferred = 0.9, 0.6
    for _ in range(30):
        assert lowered(stated, "stated") < stated
        stated, inferred = lowered(stated, "stated"), lowered(inferred, "inferred")
    assert level(stated) == "MEDIUM"
    assert level(inferred) == "LOW"


def test_a_later_identity_brings_what_it_has_earned() -> None:
    """Each turn that agreed with an identity while another led counts once it leads."""
    once = Identity(name="nurse", origin="inferred", support=1, last_turn=3, score=0.6)
    assert earned(once) == 0.6
    assert earned(once.model_copy(update={"support": 3})) == raised(raised(0.6))
