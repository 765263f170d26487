"""How often an identity above LOW is learnt where a text gives none, and how often where it states one."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.adapters.rules import RulesModel
from pipeline.domain.confidence import level
from pipeline.processing import Policy
from schemas.role import RoleMemory
from tests.measures.conversation import memories
from tests.measures.public_data import Missing, Questions, Texts

#: By what a text says of its speaker, by group and by half, the ids of the texts.
Labels = dict[str, dict[str, dict[str, list[str]]]]


@dataclass(frozen=True)
class Learnt:
    """A text, and the identities that it taught above LOW."""

    label: str
    questions: Questions
    identities: Sequence[str]


@dataclass(frozen=True)
class Row:
    """Texts of one kind, group and half."""

    kind: str
    group: str
    half: str
    learnt: Sequence[Learnt]

    @property
    def above_low(self) -> int:
        return sum(bool(one.identities) for one in self.learnt)


def hand_labels() -> Labels:
    """The labels of `labels.toml`, which says what they mean."""
    tables = tomllib.loads(Path(__file__).with_name("labels.toml").read_text(encoding="utf-8"))
    return {
        kind: {group: {half: ids.split() for half, ids in halves.items()} for group, halves in groups.items()}
        for kind, groups in tables.items()
    }


async def measure(found: Texts, labels: Labels) -> list[Row]:
    """A row for each half of each group; raises Missing where a labelled text is not among those found."""
    return [
        Row(kind, group, half, [await _learnt(label, _text(found, group, label)) for label in ids])
        for kind, groups in labels.items()
        for group, halves in groups.items()
        for half, ids in halves.items()
    ]


def _text(found: Texts, group: str, label: str) -> Questions:
    """A group is named after its data set, up to the first underscore."""
    data = group.partition("_")[0]
    if label not in found[data]:
        raise Missing(f"the data of {data} does not hold {label}: get the whole data set")
    return found[data][label]


async def _learnt(label: str, questions: Questions) -> Learnt:
    """What is believed at the first turn that brings an identity above LOW."""
    after = await memories(questions, RulesModel(), Policy())
    above = next((memory for memory in after if level(memory.confidence_score) != "LOW"), RoleMemory())
    return Learnt(label, questions, [identity.name for identity in above.identities])
