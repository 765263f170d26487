"""Any OpenAI-compatible server as a model."""

from pipeline.adapters.openai.chat import PATIENCE_WITH_RATE_LIMITS
from pipeline.adapters.openai.model import OpenAIModel

__all__ = ["PATIENCE_WITH_RATE_LIMITS", "OpenAIModel"]
