"""What code mends in a model's extraction before the rules of the domain judge it."""

from pipeline.adapters.openai.mending.amending import amended

__all__ = ["amended"]
