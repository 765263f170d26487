"""What a processor is: the records that it is given, what it works with, and what it returns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from pipeline.ports import Clock, FeatureStore, Judge, Model, Similarity, Store, Tombstones
from schemas.role import GuideScope
from schemas.topics import TopicName
from schemas.wire import Wire

#: Set by the replay of a dead letter to its attempts so far, and passed on to every event that comes of it.
REPLAY_HEADER = "__rolestream.replay"
#: Of that number; a client may write anything there.
_MOST_DIGITS = 9


@dataclass(frozen=True)
class Record:
    """A Kafka record as it was read; `topic` is without the prefix."""

    topic: TopicName
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    time: datetime
    headers: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_replay(self) -> bool:
        """Whether a dead letter was replayed on purpose, here or before: a failed turn is tried anew."""
        return REPLAY_HEADER in self.headers

    @property
    def attempts(self) -> int:
        """How often the record that was replayed has been tried, this time included."""
        earlier = self.headers.get(REPLAY_HEADER, b"")[:_MOST_DIGITS]
        return 1 + (int(earlier) if earlier.isdigit() else 0)


@dataclass(frozen=True)
class Failure:
    """A handler's word that its record belongs to the dead letters, though the turn went on."""

    exception: Exception


Output = Wire | Failure


@dataclass(frozen=True)
class Policy:
    """The settings that handlers decide by."""

    similarity_threshold: float = 0.8
    history: int = 10
    """How many earlier questions an extraction reads."""
    context: int = 6
    """How many earlier messages an answer reads."""
    guide_scope: GuideScope = "EVERY"
    memory: bool = True
    """False: report generation answers without guidance."""
    user_memory: bool = True
    """False: nothing is known beyond one conversation's role, and nothing is observed for it."""
    masked_kinds: tuple[str, ...] = ("phone", "email", "card", "id", "address")
    """Personal data that conversation logging masks."""
    masked_words: tuple[str, ...] = ()
    """The operator's own words to mask."""
    raw_log: bool = False
    """True: a message also keeps its text unmasked."""
    idle: timedelta = timedelta(minutes=30)
    """After so long without a message a conversation's context is over, and it is summarised."""
    stale: timedelta = timedelta(days=90)
    """After so long unconfirmed a feature is looked at again, and not injected until it holds."""
    key: str = "rolestream"
    """The key of the hashes by which forgotten things are known."""


@dataclass(frozen=True)
class Services:
    """What handlers work with; built in bootstrap."""

    store: Store
    model: Model
    similarity: Similarity
    clock: Clock
    features: FeatureStore
    tombstones: Tombstones
    policy: Policy = Policy()
    judge: Judge | None = None
    """Asked once a turn at most; None where the similarity decides alone."""


class Handler(Protocol):
    """Handles one event of one record and returns what the runner publishes; raises BadEvent."""

    async def __call__(self, event: Any, record: Record, services: Services, /) -> Sequence[Output]: ...


@dataclass(frozen=True)
class Job:
    """Work that no record asks for; several workers may do it at once, and it may end at any point."""

    name: str
    period: timedelta
    run: Callable[[Services], Awaitable[Sequence[Wire]]]
    """Returns what is to be published."""


@dataclass(frozen=True)
class Processor:
    """One stream processor: a consumer group of its own that reads some topics with one handler."""

    name: str
    reads: tuple[TopicName, ...]
    handle: Handler
    sees_forgotten: bool = False
    """True: it decides itself about what stems from a forgotten user or conversation, which others never see."""
    concerns: Callable[[Any, Record], bool] = lambda event, record: True
    """Whether a record of these topics is for it; others are passed over."""
    jobs: tuple[Job, ...] = ()
    """What it does now and then beside its records."""
