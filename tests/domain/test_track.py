"""A track entry holds the turn, and all that the next turn needs."""

from datetime import UTC, datetime, timedelta

from pipeline.domain.arbitration import Outcome, failed
from pipeline.domain.track import entry_of, memory_of, standing
from schemas.events import RoleExtracted
from schemas.role import Extraction, TrackEntry
from schemas.wire import ConversationId, QuestionId, UserId
from tests.domain.factories import Talk, heard, preferring

START = datetime(2030, 1, 1, tzinfo=UTC)


def _event(turn: int, extraction: Extraction | None) -> RoleExtracted:
    return RoleExtracted(
        conversation_id=ConversationId("c"),
        user_id=UserId("u"),
        question_id=QuestionId(f"q{turn}"),
        turn=turn,
        record_time=START,
        logged_at=START + timedelta(minutes=turn),
        text="how?",
        mode="answer",
        extraction=extraction,
        failure=None if extraction else "the model did not answer",
    )


def _entries(*extractions: Extraction) -> list[TrackEntry]:
    known, entries = Talk(), list[TrackEntry]()
    for turn, extraction in enumerate(extractions, 1):
        outcome: Outcome = known.hear(extraction)
        previous = entries[-1] if entries else None
        at = START + timedelta(hours=turn)
        entries.append(entry_of(_event(turn, extraction), outcome, previous, at=at))
    return entries


def test_the_memory_is_read_back_from_the_entry() -> None:
    """Nothing that arbitration needs is lost, also through JSON."""
    known = Talk()
    for extraction in (
        heard("nurse", "parent", traits=["works nights"], score=0.7, overview="A nurse."),
        preferring("stable", heard(denies=["doctor"]), detail_level="CONCISE"),
        heard("beekeeper"),
    ):
        outcome = known.hear(extraction)
        entry = entry_of(_event(known.turn, extraction), outcome, None, at=START)
        assert memory_of(entry) == outcome.memory
        assert memory_of(TrackEntry.model_validate_json(entry.to_json())) == outcome.memory


def test_the_update_time_moves_only_when_the_memory_changed() -> None:
    """It is null on CREATE and until the first update, and stays where nothing changed."""
    entries = _entries(heard(), heard("nurse"), heard(), heard("nurse"), heard("falconer"), heard())
    assert [entry.decision for entry in entries] == ["SKIPPED", "CREATE", "SKIPPED", "UPDATE", "NONE_CHANGE", "SKIPPED"]
    updated = START + timedelta(hours=4)
    assert [entry.update_time for entry in entries] == [None, None, None, updated, updated, updated]
    assert [entry.create_time for entry in entries] == [START + timedelta(minutes=turn) for turn in range(1, 7)]


def test_the_entry_says_what_users_query() -> None:
    """Names, quotes, level and the number of the turn are at the top."""
    entry = _entries(heard("nurse", traits=["works nights"], score=0.75, quote="on my ward"))[0]
    assert entry.identified_role.possible_identities == ["nurse"]
    assert entry.identified_role.primary_characteristics == ["works nights"]
    assert entry.identified_role.evidence_summary == ["on my ward"]
    assert entry.identified_role.confidence_level == "MEDIUM_HIGH"
    assert entry.conversation_analysis.interaction_count == 1


def test_a_failed_turn_has_an_entry_with_the_memory_unchanged() -> None:
    """The track has no gaps."""
    before = _entries(heard("nurse"))[0]
    outcome = failed(memory_of(before), "the model did not answer")
    entry = entry_of(_event(2, None), outcome, before, at=START)
    assert (entry.decision, entry.identity_decision, entry.turn) == ("FAILED", "FAILED", 2)
    assert memory_of(entry) == memory_of(before)
    assert entry.update_time == before.update_time


def test_an_entry_stands_that_builds_on_nothing_erased() -> None:
    """The newest of them, by the first turn that each builds on; none where all of them do."""
    first, second, third = (
        entry.model_copy(update={"since": since})
        for entry, since in zip(_entries(*[heard("nurse")] * 3), (1, 2, 2), strict=True)
    )
    newest_first = [third, second, first]
    assert [standing(newest_first, epoch) for epoch in (0, 1, 2)] == [third, third, None]
    assert standing([first, third], 1) == third
    assert standing([], 0) is None
