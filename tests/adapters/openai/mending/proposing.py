"""Proposals as a model makes them, and what is learnt from one."""

from typing import Any

from pipeline.adapters.openai.mending import amended
from pipeline.domain.extraction import read_extraction
from schemas.role import Extraction


def proposal(*identities: str, quote: str = "", **more: Any) -> dict[str, Any]:
    """A proposal in which one quote supports every identity."""
    evidence = [{"quote": quote, "supports": list(identities)}] if quote else []
    return {"identities": list(identities), "evidence": evidence, "score": 0.6} | more


def learnt(said: Any, question: str, *history: str) -> Extraction:
    extraction = read_extraction(amended(said, question, history), question)
    assert extraction is not None
    return extraction
