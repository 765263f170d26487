"""Names that say more of the user than the questions do."""

import re
from collections.abc import Iterable
from typing import Any

from pipeline.words import words

_NAMED = ("identities", "states")


def unsexed(proposal: dict[str, Any], questions: Iterable[str]) -> dict[str, Any]:
    """A mother or father by their words alone is a parent where no question says which of the two."""
    rules = words("amending")["sexes"]
    said = "\n".join(questions)
    if re.search(rules["signs"], said, re.IGNORECASE):
        return proposal

    def plain(name: Any) -> Any:
        for pattern, neutral in rules["names"]:
            name = re.sub(pattern, neutral, name, flags=re.IGNORECASE) if isinstance(name, str) else name
        return name

    evidence = [item | {"supports": list(map(plain, item["supports"]))} for item in proposal["evidence"]]
    return proposal | {key: list(map(plain, proposal[key])) for key in _NAMED} | {"evidence": evidence}
