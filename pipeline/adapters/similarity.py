"""A language model's help with similarity, where a setting asks for it."""

from typing import Protocol

from pipeline.errors import ModelFailed
from pipeline.metrics import Metrics
from pipeline.ports import Judgement
from schemas.events import Cost


class _Model(Protocol):
    async def same_role(self, one: str, other: str) -> Judgement: ...


class ModelJudge:
    """The `Judge` port by a model, whose calls are counted; while it cannot be used it says nothing."""

    def __init__(self, model: _Model, metrics: Metrics) -> None:
        self._model, self._metrics = model, metrics

    async def same_role(self, one: str, other: str) -> Judgement:
        try:
            judgement, failed = await self._model.same_role(one, other), False
        except ModelFailed as failure:
            judgement, failed = Judgement(None, Cost(**failure.spent)), True
        self._metrics.model_call("update-arbitration", judgement.cost, failed=failed)
        return judgement
