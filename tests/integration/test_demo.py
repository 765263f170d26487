"""The demo's scripts through the whole chain with the rules model: what each promises is on the track."""

import json
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from pipeline.adapters.embedded import Services
from pipeline.demo import read_script
from schemas.role import TrackEntry
from tests.conftest import Names
from tests.deployment import Deployment, deployed, settings_for, working


async def ask_all(here: Deployment, script: str) -> list[TrackEntry]:
    """Ask a packaged script's questions, each once the one before is answered, as the demo does; then the track."""
    questions = read_script(Path(str(files("pipeline.demo").joinpath(script))))
    reports = 0
    for number, question in enumerate(questions, 1):
        await here.publish("questions", question.model_dump(mode="json", by_alias=True, exclude_none=True))
        if (await here.events("guidance", number))[-1]["mode"] == "report":
            reports += 1
            await here.records("reports", reports)
        else:
            await here.records("answers", number - reports)
    documents = await here.documents("role_tracks")
    return [TrackEntry.model_validate(document, extra="ignore") for document in documents]


def grows(lists: Sequence[list[str]]) -> bool:
    """Whether nothing is ever lost and something comes."""
    kept = all(set(before) <= set(after) for before, after in pairwise(lists))
    return kept and len(lists[-1]) > len(lists[0])


async def test_the_cook_is_known_better_with_every_question(services: Services, names: Names) -> None:
    """Identities stay, characteristics and evidence grow, the detail goes up, and the third is a report."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        track = await ask_all(here, "dish-zh.jsonl")
        assert [entry.decision for entry in track] == ["CREATE", "UPDATE", "UPDATE"]
        roles = [entry.identified_role for entry in track]
        assert roles[0].possible_identities
        assert [role.possible_identities for role in roles] == [roles[0].possible_identities] * 3
        assert grows([role.primary_characteristics for role in roles])
        assert grows([role.evidence_summary for role in roles])
        details = [entry.communication_preferences.detail_level for entry in track]
        assert (details[0], details[-1]) == ("CONCISE", "COMPREHENSIVE")
        scores = [entry.conversation_analysis.confidence_score for entry in track]
        assert scores == sorted(scores)
        assert [entry.conversation_analysis.interaction_count for entry in track] == [1, 2, 3]
        (report,) = await here.events("reports", 1)
        assert (report["turn"], report["status"], report["guidanceTurn"]) == (3, "ok", 3)
        assert report["text"].startswith("# ")
        assert [answer["turn"] for answer in await here.events("answers", 2)] == [1, 2]


async def test_the_engineer_survives_a_detour_and_becomes_a_teacher(services: Services, names: Names) -> None:
    """The one-off question moves neither role nor stored preferences, the real change puts the teacher first."""
    settings = settings_for(services, names)
    async with deployed(settings) as here, working(settings):
        track = await ask_all(here, "engineer-en.jsonl")
        decisions = ["CREATE", "UPDATE", "NONE_CHANGE", "UPDATE", "UPDATE", "UPDATE"]
        assert [entry.decision for entry in track] == decisions
        assert [json.loads(entry.event)["decision"] for entry in track] == decisions
        firsts = [entry.identified_role.possible_identities[0] for entry in track]
        assert firsts == ["backend engineer"] * 4 + ["maths teacher"] * 2
        before, detour = track[1], track[2]
        assert before.communication_preferences.detail_level == "COMPREHENSIVE"
        assert detour.communication_preferences == before.communication_preferences
        assert detour.identified_role == before.identified_role
        guidance = json.loads(detour.event)
        assert (guidance["preferences"]["detailLevel"], guidance["turnPreferences"]) == ("CONCISE", ["detailLevel"])
        assert json.loads(track[3].event)["preferences"]["detailLevel"] == "COMPREHENSIVE"
        after = [entry.identified_role.possible_identities for entry in track[4:]]
        assert not any("engineer" in name for identities in after for name in identities)
        assert {entry.identified_role.confidence_level for entry in track} == {"HIGH"}
        answers = await here.events("answers", 5)
        assert [(answer["turn"], answer["status"]) for answer in answers] == [(turn, "ok") for turn in range(1, 6)]
        (report,) = await here.events("reports", 1)
        assert (report["turn"], report["status"]) == (6, "ok")
