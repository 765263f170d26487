"""The offline rules model behind the `Model` port: deterministic, English and Chinese, no network."""

from collections.abc import Sequence

from pipeline.adapters.rules.features import lasts, proposed_changes
from pipeline.adapters.rules.proposing import proposed
from pipeline.adapters.rules.summarising import summarised
from pipeline.adapters.rules.writing import answer_text, report_content
from pipeline.ports import AnswerRequest, Proposal, Reply, Said
from schemas.events import Cost
from schemas.features import KnownFeature, Summary

#: No tokens and no time are counted: nothing was asked of a language model.
_COST = Cost(model="rules", calls=1)


class RulesModel:
    """Proposes extractions by patterns and word lists, and writes answers that say where they come from."""

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        return Proposal(dict(proposed(question, history)), _COST)

    async def answer(self, request: AnswerRequest) -> Reply:
        return Reply(answer_text(request), _COST)

    async def report(self, request: AnswerRequest) -> Proposal:
        return Proposal(dict(report_content(request)), _COST)

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        return Proposal({"changes": proposed_changes(messages, known)}, _COST)

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        return Proposal(summarised(previous, messages), _COST)

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        return Proposal({"holds": [feature.slot for feature in features if lasts(feature)]}, _COST)

    async def aclose(self) -> None:
        """Nothing is open."""
