"""Update arbitration: one entry and one guidance a turn, whoever delivers it, and faults that cost one turn."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from pipeline.adapters.embedded import Services
from pipeline.domain.similarity import lexical
from pipeline.ports import Judgement
from pipeline.processing import Failure
from pipeline.processing import Services as Worker
from pipeline.processors import update_arbitration
from pipeline.processors.update_arbitration import handle
from schemas.events import Cost, GuidanceIssued, RoleExtracted
from schemas.features import FeatureChange, KnownFeature, Summary, UserFeature
from schemas.memory_events import FeaturesObserved
from schemas.role import CommunicationPreferences, Extraction, TrackEntry
from tests.conftest import Names
from tests.domain.factories import heard, preferring
from tests.domain.features import kept
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
RINGER, CAMPANOLOGIST = heard("bell ringer"), heard("campanologist")


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
    store = meddled(here.store, replace_entry=lambda: handle(learnt(1, NURSE), REPLAYED, theirs))
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
    await decided(learnt(1, RINGER), worker)
    event = await decided(learnt(2, CAMPANOLOGIST), worker)
    assert judge.asked == [("campanologist", "bell ringer")]
    assert (event.decision, event.similarity) == (decision, similarity)
    spent = {"calls": 2, "prompt_tokens": 37, "completion_tokens": 4, "milliseconds": 24}
    assert event.cost == Cost(model="fake", **spent)


async def test_a_judge_is_not_asked_again_by_a_redelivery(here: Here) -> None:
    """What it said is in the stored decision, and a judge of another mind changes nothing."""
    await decided(learnt(1, RINGER), here.worker())
    first = await handle(learnt(2, CAMPANOLOGIST), EXTRACTIONS, replace(here.worker(), judge=FakeJudge(True)))
    other = FakeJudge(False)
    for again in (EXTRACTIONS, REPLAYED):
        assert await handle(learnt(2, CAMPANOLOGIST), again, replace(here.worker(), judge=other)) == first
    assert other.asked == []


async def test_a_judge_is_not_asked_where_the_lists_can_tell(here: Here) -> None:
    """Agreement, another known role, a statement, and a failed turn: the cost is that of the extraction."""
    judge = FakeJudge(True)
    worker = replace(here.worker(), judge=judge)
    for number, extraction in enumerate((NURSE, AGREES, HINTS, BAKER, None), 1):
        await decided(learnt(number, extraction), worker)
    assert judge.asked == []
    assert (await track(here))[2].decision == "NONE_CHANGE"


async def keep(here: Here, *features: UserFeature) -> None:
    for feature in features:
        await here.features.add_feature(feature)


async def test_what_is_kept_of_the_user_guides_every_conversation(here: Here) -> None:
    """The facts that matter first, the preferences to be followed, the level of skill; others' facts never."""
    await keep(
        here,
        kept("city", "Lyon", "Lives in Lyon."),
        kept("carrots", "likes", "Likes carrots.", category="PREFERENCE"),
        kept("skill", "beginner"),
        kept("detaillevel", "CONCISE", category="PREFERENCE"),
        kept("tea", "green", userId="somebody else"),
    )
    event = await decided(learnt(1, heard(), text="do I like carrots?"), here.worker())
    assert event.features == [
        KnownFeature(slot="carrots", value="likes", content="Likes carrots.", category="PREFERENCE"),
        KnownFeature(slot="city", value="Lyon", content="Lives in Lyon."),
    ]
    assert (event.skill, event.preferences.detail_level) == ("beginner", "CONCISE")
    assert event.turn_preferences == []
    assert event.rules == ["prefers short answers that come to the point"]
    for said in ("- Likes carrots.", "- Lives in Lyon.", "level of this user: beginner"):
        assert said in event.text


async def test_a_stable_preference_gives_way_to_what_the_conversation_asks_for(here: Here) -> None:
    """And holds again where nothing was asked for."""
    await keep(here, kept("detaillevel", "CONCISE"), kept("contentdepth", "PRACTICAL"))
    asked = preferring("conversation", detail_level="COMPREHENSIVE")
    event = await decided(learnt(1, asked), here.worker())
    wanted = CommunicationPreferences(detail_level="COMPREHENSIVE", content_depth="PRACTICAL")
    assert event.preferences == wanted
    assert (await decided(learnt(2, heard()), here.worker())).preferences == wanted


async def test_the_summary_of_the_conversation_guides(here: Here) -> None:
    """As it stood before the turn."""
    await here.logged(1)
    summary = Summary(target="A stall of her own", turn=1)
    await here.store.put_summary(C, summary, after=0)
    event = await decided(learnt(2, heard()), here.worker())
    assert event.summary == summary
    assert "A stall of her own" in event.text
    assert (await decided(learnt(1, heard()), here.worker())).summary is None


async def test_wishes_shape_the_guidance_of_their_own_turn(here: Here) -> None:
    """What is to be remembered is told at once, what is to be forgotten is told no more, and both are observed."""
    await keep(here, kept("dog", "Oliver", "Has a dog called Oliver."))
    wishes = [
        FeatureChange(slot="apples", value="not sour", category="PREFERENCE", quote="remember: no sour apples"),
        FeatureChange(operation="FORGET", slot="my dog"),
    ]
    guidance, observed = await handle(learnt(1, heard(), wishes=wishes), EXTRACTIONS, here.worker())
    assert isinstance(guidance, GuidanceIssued)
    assert [feature.slot for feature in guidance.features] == ["apples"]
    assert "Oliver" not in guidance.text
    assert observed == FeaturesObserved(
        user_id="u",
        observed_by="update-arbitration",
        source="CHAT_EXTRACT",
        record_time=NOW,
        conversation_id="c",
        question_id="q1",
        turn=1,
        changes=wishes,
    )


@pytest.mark.parametrize(
    ("text", "content", "quote"),
    [
        ("I always want short answers. Tides?", "prefers short answers that come to the point", "short answers"),
        ("我一向喜欢简短的回答，潮汐是什么", "喜欢简短、直接的回答", "简短"),
    ],
)
async def test_a_stable_preference_becomes_a_feature(here: Here, text: str, content: str, quote: str) -> None:
    """With the user's words and a sentence in their language; one for this conversation or turn does not."""
    for number, scope in enumerate(("stable", "conversation", "turn", "inferred"), 1):
        extraction = preferring(scope, detail_level="CONCISE")  # type: ignore[arg-type]  # each is a scope
        _, *observed = await handle(learnt(number, extraction, text=text), EXTRACTIONS, here.worker())
        assert len(observed) == (scope == "stable")
        for event in observed:
            assert isinstance(event, FeaturesObserved)
            (change,) = event.changes
            assert (change.slot, change.value, change.category) == ("detailLevel", "CONCISE", "PREFERENCE")
            assert change.content == content
            assert quote in change.quote
            assert change.quote in text


async def test_what_was_observed_is_repeated_by_a_replay(here: Here) -> None:
    """To the byte, from the entry, though the wish and what is kept have changed since."""
    wish = FeatureChange(slot="tea", value="green")
    first = await handle(learnt(1, NURSE, wishes=[wish]), EXTRACTIONS, here.worker())
    await keep(here, kept("city", "Lyon"))
    for again in (EXTRACTIONS, REPLAYED):
        assert await handle(learnt(1, NURSE), again, here.worker()) == first
    (entry,) = await track(here)
    assert isinstance(first[1], FeaturesObserved)
    assert entry.observed == first[1].to_json().decode()


async def test_a_failed_turn_still_hears_its_wishes(here: Here) -> None:
    """They are found by rule, so that the model's absence costs them nothing."""
    wish = FeatureChange(slot="tea", value="green")
    guidance, observed = await handle(learnt(1, None, wishes=[wish]), EXTRACTIONS, here.worker())
    assert isinstance(guidance, GuidanceIssued)
    assert isinstance(observed, FeaturesObserved)
    assert (guidance.decision, observed.changes) == ("FAILED", [wish])


async def test_a_planted_instruction_is_noted(here: Here) -> None:
    """In the reason of its turn alone."""
    planted = await decided(learnt(1, heard(), planted=True), here.worker())
    plain = await decided(learnt(2, heard()), here.worker())
    assert ["planted" in event.reason for event in (planted, plain)] == [True, False]


async def test_after_the_role_memory_was_erased_the_next_turn_starts_afresh(here: Here) -> None:
    """Entries up to the epoch do not count, also one that was added since, and questions up to it teach nothing."""
    for number in (1, 2, 3):
        await here.logged(number)
    await decided(learnt(1, NURSE), here.worker())
    await here.store.erase_role(C, 2)
    late = await decided(learnt(2, NURSE), here.worker())
    assert (late.decision, late.identities, late.text) == ("SKIPPED", [], "")
    assert "erased" in late.reason
    event = await decided(learnt(3, heard("baker")), here.worker())
    assert (event.decision, event.identities) == ("CREATE", ["baker"])
    assert "nurse" not in str(await here.documents("role_tracks"))


async def test_wishes_of_a_turn_whose_role_was_erased_are_kept(here: Here) -> None:
    """They are about the user and not about the role; its stable preferences are evidence like the rest, and go."""
    await here.logged(1)
    await here.store.erase_role(C, 1)
    wish = FeatureChange(slot="tea", value="green")
    extraction = preferring("stable", detail_level="CONCISE")
    _, observed = await handle(learnt(1, extraction, wishes=[wish]), EXTRACTIONS, here.worker())
    assert isinstance(observed, FeaturesObserved)
    assert observed.changes == [wish]


async def test_without_user_memory_nothing_beyond_the_role_is_told_or_observed(here: Here) -> None:
    """The role guides as before."""
    await here.logged(1)
    await here.store.put_summary(C, Summary(target="A stall", turn=1), after=0)
    await keep(here, kept("city", "Lyon"), kept("skill", "beginner"))
    extraction = preferring("stable", NURSE, detail_level="CONCISE")
    wish = FeatureChange(slot="tea", value="green")
    event = await decided(learnt(2, extraction, wishes=[wish]), here.worker(user_memory=False))
    assert (event.features, event.summary, event.skill) == ([], None, "")
    assert event.identities == ["nurse"]
    assert event.preferences.detail_level == "CONCISE"


async def test_a_turn_is_decided_anew_where_the_role_is_erased_while_it_is_written(here: Here) -> None:
    """Its own question where that is erased, else the entry before it, counts no more."""
    await here.logged(1)
    erased = meddled(here.store, add_entry=lambda: here.store.erase_role(C, 1))
    event = await decided(learnt(1, NURSE), here.worker(erased))
    assert (event.identities, event.text) == ([], "")
    await here.logged(2)
    await decided(learnt(2, NURSE), here.worker())
    await here.logged(3)
    erased = meddled(here.store, add_entry=lambda: here.store.erase_role(C, 2))
    event = await decided(learnt(3, heard("potter")), here.worker(erased))
    assert (event.decision, event.identities) == ("CREATE", ["potter"])
    assert [(entry.turn, entry.since) for entry in await track(here)] == [(3, 3)]
    assert "nurse" not in str(await here.documents("role_tracks"))


async def test_an_entry_that_builds_on_what_is_erased_is_decided_anew_by_a_redelivery(here: Here) -> None:
    """Its worker ended between the write and the look at what it had been decided on."""
    await here.logged(1)
    await decided(learnt(1, NURSE), here.worker())
    await here.logged(2)
    with pytest.raises(Crash):
        await handle(learnt(2, AGREES), EXTRACTIONS, here.worker(meddled(here.store, stands=crash)))
    await here.database["conversations"].update_one({}, {"$set": {"epoch": 1}})
    first = await handle(learnt(2, heard("potter")), EXTRACTIONS, here.worker())
    assert only(first, GuidanceIssued).identities == ["potter"]
    assert await handle(learnt(2, BAKER), EXTRACTIONS, here.worker()) == first


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("Forget my job", [FeatureChange(operation="FORGET", slot="job", quote="Forget my job")]),
        ("Forget everything", [FeatureChange(operation="FORGET", slot="*", quote="Forget everything")]),
        ("I started eating meat again", []),
    ],
)
async def test_a_role_that_is_over_leaves(here: Here, text: str, wishes: list[FeatureChange]) -> None:
    """By a wish to forget whatever the user is, and by a fact that ends it; the words are its quote."""
    worker = here.worker()
    await decided(learnt(1, heard(states=["vegetarian"])), worker)
    await handle(learnt(2, Extraction(), text=text, wishes=wishes), EXTRACTIONS, worker)
    entry = (await track(here))[-1]
    assert (entry.identified_role.possible_identities, entry.denied_identities) == ([], ["vegetarian"])
    assert text in entry.identified_role.evidence_summary


@pytest.mark.parametrize(
    ("text", "left"), [("I switched careers; I'm a baker now", ["mother"]), ("I'm a baker too", ["mother", "nurse"])]
)
async def test_a_change_of_trade_ends_the_trade_that_was_known(here: Here, text: str, left: list[str]) -> None:
    """The one stated now comes in its place; without such words, and of what is no trade, both hold."""
    worker = here.worker()
    await decided(learnt(1, heard(states=["nurse", "mother"])), worker)
    await decided(learnt(2, heard(states=["baker"]), text=text), worker)
    entry = (await track(here))[-1]
    first, *others = entry.identified_role.possible_identities
    assert (first, sorted(others)) == ("baker", left)


def of_trade(value: str, slot: str = "job") -> UserFeature:
    return kept(slot, value, category="PERSONAL_INFO")


async def over(here: Here, extraction: Extraction, text: str, *wishes: FeatureChange) -> dict[str, str]:
    """The facts that a turn ends, with what comes in their place."""
    outputs = await handle(learnt(1, extraction, text=text, wishes=wishes), EXTRACTIONS, here.worker())
    events = [output for output in outputs if isinstance(output, FeaturesObserved)]
    changes = [change for event in events for change in event.changes if change.operation == "OBSERVE"]
    return {change.slot: change.value for change in changes}


@pytest.mark.parametrize(
    ("known", "extraction", "text", "told"),
    [
        ("works as a nurse", BAKER, "I'm a baker, not a nurse", {"job": "baker"}),
        ("ward nurse", heard(denies=["nurse"]), "I'm not a nurse any more", {"job": "not ward nurse"}),
        ("护士", heard(denies=["护士"]), "我不是护士了", {"job": "不是护士"}),
        ("nurse", heard(denies=["护士"]), "我不是护士了", {"job": "不是nurse"}),
        ("is working as a nurse, ten years", BAKER, "I'm a baker, not a nurse", {"job": "baker"}),
        ("nurse", heard(states=["mother"], denies=["nurse"]), "I'm a mother and no nurse", {"job": "not nurse"}),
        ("wants to become a teacher", heard(denies=["teacher"]), "I'm not a teacher", {}),
        ("works from home", heard(states=["baker"]), "I switched careers; I'm a baker now", {}),
        ("dungeon master", heard(states=["baker"]), "I switched careers; I'm a baker now", {}),
        ("nurse", heard(states=["baker"]), "I switched careers; I'm a baker now", {"job": "baker"}),
    ],
)
async def test_a_fact_about_the_trade_is_over_with_it(
    here: Here, known: str, extraction: Extraction, text: str, told: dict[str, str]
) -> None:
    """Another trade comes in its place; a plan, a way to work and a part that one plays are no trade."""
    await keep(here, of_trade(known), of_trade(known, "wife"))
    assert await over(here, extraction, text) == told


async def test_a_style_that_is_given_up_keeps_no_trade_from_being_over(here: Here) -> None:
    """A wish to forget something else does not either; one to forget the job itself does, for it is deleted."""
    await keep(here, of_trade("nurse"))
    wish = FeatureChange(operation="FORGET", slot="responseFormat", quote="No more bullet points")
    assert await over(here, BAKER, "No more bullet points. I'm not a nurse, I'm a baker", wish) == {"job": "baker"}


async def test_a_fault_in_the_rules_of_facts_costs_no_answer(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry and the guidance are there, and so is what was asked to be remembered."""

    def fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(update_arbitration, "facts_left", fault)
    wish = FeatureChange(slot="tea", value="green")
    guidance, observed = await handle(learnt(1, NURSE, wishes=[wish]), EXTRACTIONS, here.worker())
    assert isinstance(guidance, GuidanceIssued)
    assert guidance.identities == ["nurse"]
    assert isinstance(observed, FeaturesObserved)
    assert observed.changes == [wish]
