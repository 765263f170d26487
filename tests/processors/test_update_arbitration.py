"""Update arbitration: one entry and one guidance a turn, whoever delivers it, and faults that cost one turn."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from pipeline.domain.similarity import lexical
from pipeline.ports import Failure, Judgement
from pipeline.ports import Services as Worker
from pipeline.processors.update_arbitration import handle
from schemas.events import Cost, GuidanceIssued, RoleExtracted
from schemas.role import Extraction, TrackEntry
from tests.conftest import Names
from tests.domain.factories import heard, preferring
from tests.processors.factories import (
    COST,
    NOW,
    SPENT,
    C,
    Crash,
    Here,
    crash,
    database_of,
    meddled,
    only,
    record,
    turn,
)

SAID = Cost(model="judge", calls=1, prompt_tokens=30, completion_tokens=1, milliseconds=4)
EXTRACTIONS, REPLAYED = record("extractions"), record("extractions", replay=True)
NURSE, BAKER = heard(states=["nurse"]), heard(states=["baker"], denies=["nurse"])
AGREES, HINTS = heard("nurse"), heard("potter")
DOCKER, LONGSHOREMAN = heard("dock worker"), heard("longshoreman")


@pytest.fixture
async def here(services: Services, names: Names) -> AsyncIterator[Here]:
    async with database_of(services, names) as here:
        yield here


def learnt(number: int, extraction: Extraction | None, **changes: Any) -> RoleExtracted:
    """What role extraction left of a turn: an extraction, or for None a failure."""
    fields: dict[str, Any] = {**turn(number).turn_fields(), "text": f"question {number}", "mode": "answer"}
    fields |= {"extraction": extraction, "cost": COST}
    if extraction is None:
        fields |= {"failure": "the model is out of order", "cost": Cost.model_validate(SPENT)}
    return RoleExtracted(**(fields | changes))


async def decided(event: RoleExtracted, worker: Worker) -> GuidanceIssued:
    return only(await handle(event, EXTRACTIONS, worker), GuidanceIssued)


async def track(here: Here) -> list[TrackEntry]:
    return (await here.store.track(C, None, 99))[::-1]


def broken(one: str, other: str) -> float:
    """A measure of similarity that is out of order."""
    raise ZeroDivisionError


@dataclass
class FakeJudge:
    """The `Judge` port: says the same whatever it is asked on."""

    same: bool | None
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def same_role(self, one: str, other: str) -> Judgement:
        self.asked.append((one, other))
        return Judgement(self.same, SAID)


async def test_a_turn_leaves_one_entry_and_one_guidance(here: Here) -> None:
    """The guidance says what the entry holds, and the entry holds the guidance as it was published."""
    event = await decided(learnt(1, NURSE), here.worker(guide_scope="ONCE"))
    (entry,) = await track(here)
    assert entry.event == event.to_json().decode()
    assert (entry.decision, entry.user_query, entry.question_id) == ("CREATE", "question 1", "q1")
    assert (entry.create_time, entry.update_time) == (NOW + timedelta(minutes=1), None)
    assert event == GuidanceIssued(
        **turn(1).turn_fields(),
        mode="answer",
        decision="CREATE",
        reason=entry.reason,
        identities=["nurse"],
        confidence_score=entry.conversation_analysis.confidence_score,
        confidence_level="HIGH",
        user_overview=entry.user_overview,
        text=event.text,
        guide_scope="ONCE",
        cost=COST,
    )
    assert entry.reason
    assert "nurse" in event.text


async def test_each_turn_starts_from_the_entry_before_it(here: Here) -> None:
    """The decision compares with it, and `updateTime` is when the memory last changed."""
    extractions = (NURSE, AGREES, heard(), HINTS, BAKER)
    events = [await decided(learnt(n, extraction), here.worker()) for n, extraction in enumerate(extractions, 1)]
    decisions = ["CREATE", "UPDATE", "SKIPPED", "NONE_CHANGE", "UPDATE"]
    assert [event.decision for event in events] == decisions
    entries = await track(here)
    assert [entry.decision for entry in entries] == decisions
    assert [entry.identified_role.possible_identities for entry in entries] == [["nurse"]] * 4 + [["baker"]]
    hours = [1, 1, 1, 4]
    assert [entry.update_time for entry in entries] == [None, *(NOW + timedelta(hours=hour) for hour in hours)]
    assert [entry.conversation_analysis.interaction_count for entry in entries] == [1, 2, 3, 4, 5]


async def test_a_preference_for_this_turn_alone_shapes_guidance_and_is_not_stored(here: Here) -> None:
    """The stored one is in force again in the next turn."""
    await decided(learnt(1, preferring("conversation", NURSE, detail_level="COMPREHENSIVE")), here.worker())
    once = await decided(learnt(2, preferring("turn", detail_level="CONCISE")), here.worker())
    after = await decided(learnt(3, heard()), here.worker())
    assert (once.preferences.detail_level, once.turn_preferences) == ("CONCISE", ["detailLevel"])
    assert (after.preferences.detail_level, after.turn_preferences) == ("COMPREHENSIVE", [])
    assert {entry.communication_preferences.detail_level for entry in await track(here)} == {"COMPREHENSIVE"}


async def test_a_redelivered_extraction_is_not_decided_again(here: Here) -> None:
    """Also after later turns and as a replay: the same event, and the track is as it was."""
    first = await handle(learnt(1, NURSE), EXTRACTIONS, here.worker())
    await decided(learnt(2, BAKER), here.worker())
    before = await here.documents("role_tracks")
    for again in (EXTRACTIONS, REPLAYED):
        assert await handle(learnt(1, NURSE), again, here.worker(guide_scope="NONE")) == first
        assert await handle(learnt(1, BAKER), again, here.worker()) == first
    assert await here.documents("role_tracks") == before


async def test_two_workers_at_once_leave_one_entry(here: Here) -> None:
    """Both pass on the guidance that was stored first, though they were told different things."""
    events = [learnt(1, NURSE), learnt(1, BAKER)]
    one, other = await asyncio.gather(*(handle(event, EXTRACTIONS, here.worker()) for event in events))
    assert one == other
    assert len(await here.documents("role_tracks")) == 1


async def test_an_entry_that_another_worker_added_between_read_and_write(here: Here) -> None:
    """Theirs stands and is passed on."""
    await decided(learnt(1, NURSE), here.worker())
    theirs = here.worker()
    store = meddled(here.store, add_entry=lambda: handle(learnt(2, AGREES), EXTRACTIONS, theirs))
    event = await decided(learnt(2, BAKER), here.worker(store))
    assert event.identities == ["nurse"]
    assert [entry.event for entry in await track(here)][1] == event.to_json().decode()


async def test_a_crash_before_the_write_leaves_the_turn_to_the_redelivery(here: Here) -> None:
    """An entry is whole or not there."""
    with pytest.raises(Crash):
        await handle(learnt(1, NURSE), EXTRACTIONS, here.worker(meddled(here.store, add_entry=crash)))
    assert await track(here) == []
    assert (await decided(learnt(1, NURSE), here.worker())).decision == "CREATE"


async def test_what_a_newer_version_stored_still_reads(here: Here) -> None:
    """A field that we do not know is passed over, where it is passed on and where the next turn builds on it."""
    first = await handle(learnt(1, NURSE), EXTRACTIONS, here.worker())
    await here.written_by_newer_version("role_tracks")
    assert await handle(learnt(1, NURSE), EXTRACTIONS, here.worker()) == first
    assert (await decided(learnt(2, AGREES), here.worker())).decision == "UPDATE"


async def test_a_failed_extraction_leaves_a_failed_turn_that_knows_what_was_known(here: Here) -> None:
    """With the reason and what was spent; the memory guides as before, and the next turn learns again."""
    await decided(learnt(1, NURSE), here.worker())
    event = await decided(learnt(2, None), here.worker())
    assert (event.decision, event.cost) == ("FAILED", Cost.model_validate(SPENT))
    assert "the model is out of order" in event.reason
    assert "nurse" in event.text
    assert await handle(learnt(2, None), REPLAYED, here.worker()) == [event]
    assert (await decided(learnt(3, AGREES), here.worker())).decision == "UPDATE"
    first, failed, _ = await track(here)
    assert (failed.decision, failed.identity_decision) == ("FAILED", "FAILED")
    assert (failed.identities, failed.signals) == (first.identities, first.signals)


async def test_a_fault_in_the_rules_fails_the_turn_and_no_more(here: Here) -> None:
    """Never an exception: the known memory guides, and a replay of the dead letter decides it once they are mended."""
    await decided(learnt(1, NURSE), here.worker())
    event, failure = await handle(learnt(2, heard("ward sister")), EXTRACTIONS, here.worker(similarity=broken))
    assert isinstance(event, GuidanceIssued)
    assert isinstance(failure, Failure)
    assert event.decision == "FAILED"
    assert "ZeroDivisionError" in event.reason
    assert event.identities == ["nurse"]
    (mended,) = await handle(learnt(2, heard("ward sister")), REPLAYED, here.worker(similarity=lexical))
    assert isinstance(mended, GuidanceIssued)
    assert mended.decision != "FAILED"
    assert [entry.decision for entry in await track(here)] == ["CREATE", mended.decision]


async def test_a_replay_rewrites_a_failed_turn_that_is_the_last(here: Here) -> None:
    """The current memory moves with it, and later deliveries repeat it."""
    await decided(learnt(1, NURSE), here.worker())
    await decided(learnt(2, None), here.worker())
    replayed = await handle(learnt(2, BAKER), REPLAYED, here.worker())
    assert only(replayed, GuidanceIssued).identities == ["baker"]
    assert [entry.identified_role.possible_identities for entry in await track(here)] == [["nurse"], ["baker"]]
    for again in (EXTRACTIONS, REPLAYED):
        assert await handle(learnt(2, BAKER), again, here.worker()) == replayed
    assert (await decided(learnt(3, heard("baker")), here.worker())).identities == ["baker"]


async def test_a_replay_rewrites_its_own_turn_alone(here: Here) -> None:
    """It is decided against the entry before it, and later entries are as they were."""
    for number, extraction in enumerate((NURSE, None, AGREES), 1):
        await decided(learnt(number, extraction), here.worker())
    before = await here.documents("role_tracks")
    await handle(learnt(2, BAKER), REPLAYED, here.worker())
    after = await here.documents("role_tracks")
    assert [after[0], after[2]] == [before[0], before[2]]
    assert (after[1]["decision"], after[1]["identifiedRole"]["possibleIdentities"]) == ("UPDATE", ["baker"])
    assert (after[1]["_id"], after[1]["createTime"]) == (before[1]["_id"], before[1]["createTime"])


async def test_replays_of_turns_in_a_row_build_on_one_another(here: Here) -> None:
    """The second is decided against the mended entry before it, and not against what was known when it failed."""
    for number in (1, 2):
        await decided(learnt(number, None), here.worker())
    await handle(learnt(1, NURSE), REPLAYED, here.worker())
    (second,) = await handle(learnt(2, AGREES), REPLAYED, here.worker())
    assert isinstance(second, GuidanceIssued)
    assert second.decision == "UPDATE"
    assert [entry.identities[0].support for entry in await track(here)] == [1, 2]


async def test_a_failed_turn_is_not_decided_anew_by_a_redelivery(here: Here) -> None:
    """Only a replay on purpose does so, even where the extraction has been mended."""
    failed = await handle(learnt(1, None), EXTRACTIONS, here.worker())
    assert await handle(learnt(1, NURSE), EXTRACTIONS, here.worker()) == failed
    assert [entry.decision for entry in await track(here)] == ["FAILED"]


async def test_two_replays_at_once_publish_one_guidance(here: Here) -> None:
    """Where another worker has mended the turn between read and write, theirs is passed on: it is what is stored."""
    await decided(learnt(1, None), here.worker())
    theirs = here.worker()
    store = meddled(here.store, replace_failed_entry=lambda: handle(learnt(1, NURSE), REPLAYED, theirs))
    event = only(await handle(learnt(1, BAKER), REPLAYED, here.worker(store)), GuidanceIssued)
    (entry,) = await track(here)
    assert entry.event == event.to_json().decode()


async def test_mode_log_is_learnt_from(here: Here) -> None:
    """The guidance passes the mode on, so that nobody answers."""
    event = await decided(learnt(1, NURSE, mode="log"), here.worker())
    assert (event.mode, event.decision) == ("log", "CREATE")


@pytest.mark.parametrize(
    ("same", "decision", "similarity"),
    [(True, "UPDATE", 0.85), (False, "NONE_CHANGE", 0.0), (None, "NONE_CHANGE", 0.0)],
)
async def test_a_judge_is_asked_where_the_lists_cannot_tell(
    here: Here, same: bool | None, decision: str, similarity: float
) -> None:
    """Once, for the turn's one pair; a yes makes the two agree, anything else leaves the lists' word."""
    judge = FakeJudge(same)
    worker = replace(here.worker(), judge=judge)
    await decided(learnt(1, DOCKER), worker)
    event = await decided(learnt(2, LONGSHOREMAN), worker)
    assert judge.asked == [("longshoreman", "dock worker")]
    assert (event.decision, event.similarity) == (decision, similarity)
    spent = {"calls": 2, "prompt_tokens": 37, "completion_tokens": 4, "milliseconds": 24}
    assert event.cost == Cost(model="fake", **spent)


async def test_a_judge_is_not_asked_again_by_a_redelivery(here: Here) -> None:
    """What it said is in the stored decision, and a judge of another mind changes nothing."""
    await decided(learnt(1, DOCKER), here.worker())
    first = await handle(learnt(2, LONGSHOREMAN), EXTRACTIONS, replace(here.worker(), judge=FakeJudge(True)))
    other = FakeJudge(False)
    for again in (EXTRACTIONS, REPLAYED):
        assert await handle(learnt(2, LONGSHOREMAN), again, replace(here.worker(), judge=other)) == first
    assert other.asked == []


async def test_a_judge_is_not_asked_where_the_lists_can_tell(here: Here) -> None:
    """Agreement, another known role, a statement, and a failed turn: the cost is that of the extraction."""
    judge = FakeJudge(True)
    worker = replace(here.worker(), judge=judge)
    for number, extraction in enumerate((NURSE, AGREES, HINTS, BAKER, None), 1):
        await decided(learnt(number, extraction), worker)
    assert judge.asked == []
    assert (await track(here))[2].decision == "NONE_CHANGE"
