"""A model's help with similarity: it is counted, it may be away, and it is there only where a setting asks for it."""

import pytest

from pipeline.adapters.similarity import ModelJudge
from pipeline.bootstrap import chosen_processors, worker_parts
from pipeline.errors import ModelFailed, SettingsInvalid
from pipeline.metrics import Metrics
from pipeline.ports import Judgement
from pipeline.settings import Settings
from schemas.events import Cost

COST = Cost(model="small", calls=1, prompt_tokens=7)


class Says:
    """A model that says one thing, or fails with it."""

    def __init__(self, said: bool | ModelFailed) -> None:
        self._said = said

    async def same_role(self, one: str, other: str) -> Judgement:
        if isinstance(self._said, ModelFailed):
            raise self._said
        return Judgement(self._said, COST)


async def test_a_model_that_can_be_used_is_passed_on() -> None:
    """With its cost, which is counted as update arbitration's."""
    metrics = Metrics()
    assert await ModelJudge(Says(True), metrics).same_role("one", "other") == Judgement(True, COST)
    assert b'rolestream_model_calls_total{stage="update-arbitration"} 1.0' in metrics.text()


async def test_a_model_that_is_away_says_nothing() -> None:
    """The turn goes on by the lists alone; the failure and its cost are counted."""
    metrics = Metrics()
    away = ModelFailed("it is away", {"model": "small", "calls": 4})
    judgement = await ModelJudge(Says(away), metrics).same_role("one", "other")
    assert judgement == Judgement(None, Cost(model="small", calls=4))
    assert b'rolestream_model_failures_total{stage="update-arbitration"} 1.0' in metrics.text()


async def test_help_needs_a_server() -> None:
    """The offline rules cannot tell either: the setting without a server is an error, and no silence."""
    memory = {"user_role_memory": {"model_helps_similarity": True}}
    settings = Settings(_env_file=None, short_term_memory=memory)
    with pytest.raises(SettingsInvalid, match=r"MODEL_HELPS_SIMILARITY.*ROLESTREAM_MODEL__BASE_URL"):
        async with worker_parts(settings, chosen_processors(settings, ["update-arbitration"])):
            pass
