"""Any OpenAI-compatible server as a model."""

from pipeline.adapters.openai.model import OpenAIModel

__all__ = ["OpenAIModel"]
