"""The offline model: rules and word lists in place of a language model, and honest about it."""

from pipeline.adapters.rules.model import RulesModel

__all__ = ["RulesModel"]
