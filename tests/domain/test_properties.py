"""What holds of learning whatever was heard before."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.domain.arbitration import arbitrate
from pipeline.domain.confidence import level
from pipeline.domain.extraction import read_extraction
from pipeline.domain.merging import TURNS_TO_LEAD
from pipeline.domain.similarity import covers, lexical, relation
from pipeline.domain.spelling import spans
from schemas.role import (
    MAX_CHARACTERISTICS,
    MAX_DENIALS,
    MAX_EVIDENCE,
    MAX_IDENTITIES,
    MAX_OVERVIEW,
    WINDOW,
    Extraction,
    RoleMemory,
)
from schemas.wire import QuestionId
from tests.domain.factories import heard, talk
from tests.domain.strategies import ROLES, extractions, histories, proposals, questions, roles

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _again(memory: RoleMemory, extraction: Extraction, turn: int) -> RoleMemory:
    return arbitrate(
        memory, extraction, question_id=QuestionId("q"), turn=turn, similarity=lexical, threshold=0.8
    ).memory


@QUICK
@given(histories, extractions())
def test_same_in_same_out(history: list[Extraction], extraction: Extraction) -> None:
    """The same memory and extraction give the same outcome, so a replayed turn changes nothing."""
    before = talk(*history).memory
    frozen = before.model_dump_json()
    assert _again(before, extraction, 99) == _again(before, extraction, 99)
    assert before.model_dump_json() == frozen


@QUICK
@given(histories)
def test_the_memory_survives_storage(history: list[Extraction]) -> None:
    """What is written as JSON reads back as the same memory."""
    memory = talk(*history).memory
    assert RoleMemory.model_validate_json(memory.to_json()) == memory


@QUICK
@given(histories)
def test_bounds_hold(history: list[Extraction]) -> None:
    """No history makes the memory larger than its bounds, or its confidence leave 0 to 1."""
    memory = talk(*history).memory
    assert len(memory.identities) <= MAX_IDENTITIES
    assert len(memory.characteristics) <= MAX_CHARACTERISTICS
    assert len(memory.evidence) <= MAX_EVIDENCE
    assert len(memory.denied_identities) <= MAX_DENIALS
    assert len(memory.signals) <= WINDOW
    assert len(memory.user_overview) <= MAX_OVERVIEW
    assert 0 <= memory.confidence_score <= 1
    assert memory.identities or memory.confidence_score == 0


@QUICK
@given(histories)
def test_no_identity_is_denied_and_held(history: list[Extraction]) -> None:
    """What the user denied, and its more specific forms, is not in memory."""
    memory = talk(*history).memory
    for identity in memory.identities:
        assert not any(covers(denied, identity.name) for denied in memory.denied_identities)


@QUICK
@given(histories)
def test_every_identity_has_been_quoted(history: list[Extraction]) -> None:
    """No identity is in memory that no question had a quote for."""
    quoted = {name for extraction in history for quote in extraction.evidence for name in quote.supports}
    assert {identity.name for identity in talk(*history).memory.identities} <= quoted


@QUICK
@given(histories)
def test_evidence_supports_what_is_in_memory(history: list[Extraction]) -> None:
    """Each quote in memory supports something that is in memory."""
    memory = talk(*history).memory
    living = {identity.name for identity in memory.identities} | set(memory.denied_identities)
    living |= {item.name for item in memory.characteristics}
    assert all(item.supports and living.issuperset(item.supports) for item in memory.evidence)


@QUICK
@given(histories)
def test_the_overview_names_the_first_and_no_denied(history: list[Extraction]) -> None:
    """There is an overview exactly where there is an identity."""
    memory = talk(*history).memory
    assert bool(memory.user_overview) == bool(memory.identities)


@QUICK
@given(histories)
def test_a_stated_first_is_never_low(history: list[Extraction]) -> None:
    """A role that the user stated, and that has not moved, is at least MEDIUM."""
    conversation = talk()
    for extraction in history:
        conversation.hear(extraction)
        if extraction.states and conversation.memory.identities:
            assert level(conversation.memory.confidence_score) != "LOW"


@QUICK
@given(histories, roles)
def test_no_role_is_locked_in(history: list[Extraction], role: str) -> None:
    """After any history, enough agreeing turns put another role first, unless it was denied."""
    conversation = talk(*history)
    if any(covers(denied, role) for denied in conversation.memory.denied_identities):
        return
    for number in range(TURNS_TO_LEAD + 3):
        conversation.hear(heard(role, quote=f"again {number}"))
    assert covers(role, conversation.names[0])


@QUICK
@given(st.data(), questions)
def test_any_proposal_can_be_read(data: st.DataObject, question: str) -> None:
    """Whatever a model sends gives an extraction within its types, or none; never an error."""
    raw: Any = data.draw(proposals(question))
    extraction = read_extraction(raw, question)
    if extraction is None:
        assert not isinstance(raw, dict)
        return
    extraction.to_json()
    assert all(spans(quote.quote, question) for quote in extraction.evidence)
    supported = {name for quote in extraction.evidence for name in quote.supports}
    assert supported.issuperset(extraction.identities + extraction.characteristics + extraction.denies)
    assert set(extraction.states) <= set(extraction.identities)
    talk(extraction, extraction)


@pytest.mark.parametrize("one", ROLES)
def test_similarity_is_symmetric_and_bounded(one: str) -> None:
    """Two roles are as alike one way as the other, and a role is the same as itself."""
    assert lexical(one, one) == 1
    for other in ROLES:
        assert lexical(one, other) == lexical(other, one)
        assert 0 <= lexical(one, other) <= 1
        assert (relation(one, other) is relation(other, one)) or lexical(one, other) >= 0.8
