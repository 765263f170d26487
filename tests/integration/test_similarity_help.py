"""A model's help with similarity through the whole chain, from a worker that arbitrates and nothing else."""

from pipeline.adapters.embedded import Services
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working
from tests.scripted_model import Call, Reply, ScriptedModel, default_extraction, gives, says

MEMORY = {"user_role_memory": {"model_helps_similarity": True}}
ROLES = {"our belfry": "bell ringer", "our tower": "campanologist"}


def reply(call: Call) -> Reply:
    """What each of two questions hints at; and yes, both are the same."""
    if "campanologist" in call.last and "bell ringer" in call.last:
        return says("Yes.")
    question = call.data["question"]
    quote, role = next((quote, role) for quote, role in ROLES.items() if quote in question)
    hint = {"identities": [role], "evidence": [{"quote": quote, "supports": [role]}], "score": 0.6}
    return gives(default_extraction(question) | hint)


async def test_a_yes_of_the_model_makes_two_extractions_agree(services: Services, names: Names) -> None:
    """One more call, on the bill of the turn's guidance."""
    async with ScriptedModel(otherwise=reply) as model:
        server = {"api_key": "k", "name": "scripted", "retries": 0, "base_url": model.base_url}
        settings = settings_for(services, names, model=server, short_term_memory=MEMORY)
        async with (
            deployed(settings) as here,
            working(settings, "conversation-logging", "role-extraction"),
            working(settings, "update-arbitration"),
        ):
            await here.ask("how do we keep our belfry dry in winter?")
            await here.ask("what gloves are best for long peals in our tower?")
            first, second = await here.events("guidance", 2)
    assert (first["decision"], first["cost"]["calls"]) == ("CREATE", 1)
    assert (second["decision"], second["similarity"], second["cost"]["calls"]) == ("UPDATE", 0.85, 2)
    assert second["identities"] == ["bell ringer", "campanologist"]
    assert len(model.calls) == 3
