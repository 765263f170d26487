"""What is learnt of a user who tells something, message by message."""

from pipeline.adapters.rules.features import proposed_changes
from pipeline.domain.observing import read_changes, with_plain_facts
from pipeline.domain.relevance import as_known
from pipeline.ports import Said
from schemas.features import UserFeature
from tests.domain.features import after, turn


def told(*messages: str) -> dict[str, UserFeature]:
    """What holds once the messages, a turn each, have been learnt from."""
    features: dict[str, UserFeature] = {}
    for number, text in enumerate(messages, 1):
        known = [as_known(feature) for feature in features.values() if feature.status == "ACTIVE"]
        read = read_changes({"changes": proposed_changes([Said("user", text)], known)}, text, known)
        changes = with_plain_facts(read.changes if read else [], text, [], known)
        features = after(turn(number, *changes), known=list(features.values()))
    return {slot: feature for slot, feature in features.items() if feature.status == "ACTIVE"}
