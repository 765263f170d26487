"""What a case is measured by: counted from the topics, the documents and the model's calls when all is over."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, cast

from motor.motor_asyncio import AsyncIOMotorDatabase
from pydantic.alias_generators import to_camel

from pipeline.domain.similarity import lexical
from pipeline.ports import FeatureStore, Model, Store, Tombstones
from pipeline.processing import Record, Services
from pipeline.processors import update_arbitration
from schemas.events import GuidanceIssued, RoleExtracted
from schemas.features import UserFeature
from schemas.role import TrackEntry
from tests.chaos.load import conversation_of, role_at, user_of
from tests.chaos.model import SLOT
from tests.chaos.witness import OUTPUTS, Witness

#: Documents of a turn: collection and the role that tells two messages apart.
_LEFT = (("messages", "USER"), ("extractions", None), ("role_tracks", None), ("messages", "ASSISTANT"))

Asked = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Figures:
    """One row of the table; what MUST_BE_ZERO names is 0 in every case."""

    case: str
    turns: int
    lost: int
    doubled: int
    disordered: int
    forked: int
    miscounted: int
    """Turns whose fact about their user was not learnt once, and users whose earlier values are not those told."""
    repeated_calls: int
    """Model calls for a turn that was stored."""
    overtaken_calls: int
    """Model calls that a worker had decided on before it was frozen, for turns stored while it stood still."""
    redelivered: int
    redelivered_by_kill: list[int]
    may_come_again: list[int]
    """What of it each kill explains: the events that come of the records that were not committed."""
    failed: int
    """Answers with `status: failed`."""
    dead_letters: int
    ends: int
    """How often something was ended, frozen or taken away."""
    drain: float
    """The longest stop of a worker by SIGTERM, in seconds."""
    resumed: float
    """The most seconds from the end of an outage to the first good answer after it."""
    taken_over: float
    """Seconds from the end of a worker to the first call of the one that stood by."""
    log_lines: int
    """What the workers logged beyond that they run and drain, in lines."""
    seconds: float

    @property
    def per_second(self) -> float:
        return self.turns / self.seconds

    def faults(self) -> list[str]:
        """What must never be, as "2 lost"."""
        return [f"{count} {name.replace('_', ' ')}" for name in MUST_BE_ZERO if (count := getattr(self, name))]

    def plain(self) -> dict[str, Any]:
        """By the names that are read elsewhere, rounded."""
        values = {**asdict(self), "per_second": self.per_second}
        return {
            to_camel(name): round(value, 1) if isinstance(value, float) else value for name, value in values.items()
        }


MUST_BE_ZERO = ("lost", "doubled", "disordered", "forked", "miscounted", "repeated_calls")


async def track_figures(
    asked: Asked, witness: Witness, database: AsyncIOMotorDatabase[dict[str, Any]]
) -> dict[str, int]:
    """Lost, doubled, disordered and forked turns."""
    whole = [question for questions in asked.values() for question in questions]
    found = [await _turns(database, collection, role) for collection, role in _LEFT]
    missing = {question for documents in found for question in whole if question not in documents}
    missing |= {question for topic in OUTPUTS for question in whole if question not in witness.first[topic]}
    return {
        "lost": len(missing),
        "doubled": sum(len(turns) - 1 for documents in found for turns in documents.values()) + witness.differing,
        "disordered": _misnumbered(asked, found) + _out_of_order(asked, witness) + witness.renumbered,
        "forked": await forked(database),
    }


async def _turns(
    database: AsyncIOMotorDatabase[dict[str, Any]], collection: str, role: str | None
) -> dict[str, list[int]]:
    """By question, the turn numbers of its documents."""
    turns: dict[str, list[int]] = {}
    query = {"role": role} if role else {}
    async for document in database[collection].find(query, {"questionId": 1, "turn": 1}):
        turns.setdefault(document["questionId"], []).append(document["turn"])
    return turns


def _misnumbered(asked: Asked, found: Sequence[Mapping[str, list[int]]]) -> int:
    """Documents whose turn is not the place of their question among those of its conversation."""
    place = {question: turn for questions in asked.values() for turn, question in enumerate(questions, 1)}
    return sum(
        turn != place.get(question) for documents in found for question in documents for turn in documents[question]
    )


def _out_of_order(asked: Asked, witness: Witness) -> int:
    """Events that came before one of an earlier turn of their conversation."""
    count = 0
    for topic in OUTPUTS:
        came: dict[str, list[str]] = {}
        for question in witness.first[topic]:
            came.setdefault(conversation_of(question), []).append(question)
        for conversation, questions in came.items():
            there = set(questions)
            wanted = [question for question in asked[conversation] if question in there]
            count += sum(one != other for one, other in zip(questions, wanted, strict=True))
    return count


async def miscounted(asked: Asked, database: AsyncIOMotorDatabase[dict[str, Any]]) -> int:
    """Turns that the one feature of their user has not heard once, and users whose values did not follow each other."""
    count = 0
    features = {feature["userId"]: feature async for feature in database["user_features"].find({"slot": SLOT})}
    for conversation, questions in asked.items():
        feature = features.get(user_of(conversation), {"heard": [], "history": [], "value": ""})
        heard = Counter(one["source"] for one in feature["heard"])
        count += sum(heard[question] != 1 for question in questions) + len(heard.keys() - {*questions})
        told = [value for value, _ in groupby(map(role_at, range(1, len(questions) + 1)))]
        count += [*(earlier["value"] for earlier in feature["history"]), feature["value"]] != told
    return count


class _Before:
    """As much of a store as arbitration needs: the entry before a turn; what is kept of the user was another then."""

    def __init__(self, previous: TrackEntry | None) -> None:
        self._previous = previous
        self.added: TrackEntry | None = None

    async def last_entries(self, *_: object) -> list[TrackEntry]:
        return [] if self._previous is None else [self._previous]

    async def conversation(self, *_: object) -> None:
        return None

    async def features(self, *_: object) -> list[UserFeature]:
        return []

    async def stands(self, *_: object) -> bool:
        return True

    async def add_entry(self, entry: TrackEntry) -> None:
        self.added = entry


async def forked(database: AsyncIOMotorDatabase[dict[str, Any]]) -> int:
    """Track entries that are not what arbitration makes of the entry before them and of their extraction."""
    extracted: dict[tuple[str, int], RoleExtracted] = {}
    async for document in database["extractions"].find({}, {"conversationId": 1, "turn": 1, "event": 1}):
        event = RoleExtracted.model_validate_json(document["event"])
        extracted[document["conversationId"], document["turn"]] = event
    count = Counter[bool]()
    previous: TrackEntry | None = None
    async for document in database["role_tracks"].find({}).sort([("conversationId", 1), ("turn", 1)]):
        entry = TrackEntry.model_validate(document, extra="ignore")
        if previous is not None and previous.conversation_id != entry.conversation_id:
            previous = None
        again = await _arbitrated(extracted[entry.conversation_id, entry.turn], previous, entry)
        count[again is None or _alone(entry) != _alone(again)] += 1
        previous = entry
    return count[True]


def _alone(entry: TrackEntry) -> TrackEntry:
    """The entry, without what its guidance recalls of the user."""
    recalled: dict[str, Any] = {"features": [], "summary": None, "skill": "", "text": ""}
    guidance = GuidanceIssued.from_stored(entry.event).model_copy(update=recalled)
    return entry.model_copy(update={"event": guidance.to_json().decode()})


async def _arbitrated(event: RoleExtracted, previous: TrackEntry | None, entry: TrackEntry) -> TrackEntry | None:
    before, at = _Before(previous), entry.update_time or entry.create_time
    services = Services(
        cast(Store, before), cast(Model, None), lexical, lambda: at, cast(FeatureStore, before), cast(Tombstones, None)
    )
    await update_arbitration.handle(event, cast(Record, None), services)
    return before.added
