"""Names that say more of the user than the questions do."""

import re
from collections.abc import Iterable
from typing import Any

from pipeline.words import words

#: The keys of a proposal whose names are roles of the user.
ROLES = ("identities", "states")


def unsexed(proposal: dict[str, Any], questions: Iterable[str]) -> dict[str, Any]:
    """A mother or father by their words alone is a parent where no question says which of the two."""
    rules = words("amending")["sexes"]
    said = "\n".join(questions)
    if re.search(rules["signs"], said, re.IGNORECASE):
        return proposal
    neutral = {name: _neutral(name) for key in ROLES for name in proposal[key]}
    evidence = [
        item | {"supports": [neutral.get(name, name) for name in item["supports"]]} for item in proposal["evidence"]
    ]
    return proposal | {key: [neutral[name] for name in proposal[key]] for key in ROLES} | {"evidence": evidence}


def _neutral(name: str) -> str:
    for pattern, neutral in words("amending")["sexes"]["names"]:
        name = re.sub(pattern, neutral, name, flags=re.IGNORECASE)
    return name
