"""The model port connected to a scripted server."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pipeline.adapters.openai import OpenAIModel
from tests.scripted_model import Call, Reply, ScriptedModel, default_reply


def model_at(base_url: str, **changes: Any) -> OpenAIModel:
    settings: dict[str, Any] = {"api_key": "sk-secret", "extraction_name": "small", "answer_name": "large"}
    settings |= {"timeout": 60.0, "retries": 2, "first_wait": 0.01, "longest_wait": 0.1}
    return OpenAIModel(base_url=base_url, **(settings | changes))


@asynccontextmanager
async def serving(
    *script: Reply, otherwise: Callable[[Call], Reply] = default_reply, **changes: Any
) -> AsyncIterator[tuple[OpenAIModel, ScriptedModel]]:
    async with ScriptedModel(script, otherwise=otherwise) as server:
        model = model_at(server.base_url, **changes)
        try:
            yield model, server
        finally:
            await model.aclose()
