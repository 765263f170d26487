"""Whether two descriptions mean the same role: one question to the model, of whose reply only a yes or no counts."""

import re

from pipeline.adapters.openai.chat import Ask, Message
from pipeline.adapters.openai.json_reading import without_reasoning
from pipeline.adapters.openai.prompting import fenced
from pipeline.prompts import prompt

#: A word is enough, but reasoning models think first.
JUDGING_TOKENS = 300
_YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


def judging_ask(model: str, one: str, other: str) -> Ask:
    """The rules, and the two descriptions as data; guidance waits for it, so that it is asked for once and shortly.

    It takes its permit with what else is learnt of a turn.
    """
    messages = Message("system", prompt("similarity").fixed), Message("user", fenced({"one": one, "other": other}))
    return Ask("role-extraction", model, messages, temperature=0.0, max_tokens=JUDGING_TOKENS, optional=True)


def read_judgement(reply: str) -> bool | None:
    """What the reply begins with; None where that is neither yes nor no."""
    found = _YES_OR_NO.match(without_reasoning(reply))
    return found[1].lower() == "yes" if found else None
