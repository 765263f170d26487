"""Whether the memory that is told with a question holds what answers it, and what a turn of a long conversation costs.

On LoCoMo, conversations of two people over months: the observations that it draws from their turns are given as
features, a slot each; the question is one of its `qa`, or the conversation is fed turn by turn with a scripted model.
"""

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

from pipeline.adapters.embedded import embedded_services
from pipeline.adapters.openai.chat import Message
from pipeline.adapters.openai.prompting import answer_messages, extraction_messages
from pipeline.domain.guidance import compose_guidance
from pipeline.domain.recall import recall
from pipeline.ports import AnswerRequest, Proposal, Reply, Said
from pipeline.processing import Failure
from pipeline.processing import Services as Worker
from pipeline.processors import topology
from schemas.events import AnswerReady, Cost, QuestionAsked
from schemas.features import KnownFeature, Summary, UserFeature
from schemas.role import CommunicationPreferences
from schemas.topics import BY_EVENT
from schemas.wire import Wire
from tests.conftest import Names
from tests.measures.public_data import Missing
from tests.processors.factories import Here, database_of, record

_TURN = re.compile(r"D\d+:\d+")
#: The relevance of facts was tuned on these alone; the other conversations count.
DEVELOPMENT = ("conv-26", "conv-41")
#: The adversarial questions have no answer in the conversation.
_UNANSWERABLE = 5
#: From this turn on a conversation's memory is full, and what a turn costs must not grow.
SETTLED = 50
_CHARACTERS_A_TOKEN = 4
#: More than a role memory holds, so that each leaves and comes again.
_TRAITS = ("works at night", "likes to paint", "sings in a choir", "left-handed", "runs marathons",
           "new to the town", "grows tomatoes", "studies law", "plays the cello", "former sailor", "keeps horses",
           "learns Greek")  # fmt: skip
#: What the scripted model answers, in characters.
_REPLY = "So it is. " * 30
_COST = Cost(model="scripted", calls=1)


@dataclass(frozen=True)
class Observation:
    """A fact about a speaker, and the turns that it comes from."""

    text: str
    turns: frozenset[str]


@dataclass(frozen=True)
class Utterance:
    turn: str
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True)
class Question:
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Talk:
    """One conversation of the data set."""

    name: str
    speakers: tuple[str, str]
    said: Sequence[Utterance]
    observed: dict[str, list[Observation]]
    questions: Sequence[Question]
    """The answerable ones."""


def talks(file: Path) -> list[Talk]:
    """The conversations of the file; raises Missing where there is no such file."""
    if not file.is_file():
        raise Missing(f"there is no {file}: get LoCoMo, github.com/snap-research/locomo")
    return [_talk(one) for one in json.loads(file.read_text(encoding="utf-8"))]


def _talk(data: dict[str, Any]) -> Talk:
    speakers = (data["conversation"]["speaker_a"], data["conversation"]["speaker_b"])
    observed: dict[str, list[Observation]] = {speaker: [] for speaker in speakers}
    for session in data["observation"].values():
        for speaker, lines in session.items():
            observed[speaker].extend(Observation(text, frozenset(_turns(turns))) for text, turns in lines)
    questions = [
        Question(str(asked["question"]), tuple(_turns(asked["evidence"])))
        for asked in data["qa"]
        if asked["category"] != _UNANSWERABLE
    ]
    return Talk(data["sample_id"], speakers, list(_said(data["conversation"])), observed, questions)


def _turns(names: str | list[str]) -> list[str]:
    return _TURN.findall(names if isinstance(names, str) else " ".join(names))


def _order(turn: str) -> tuple[int, int]:
    session, _, number = turn.removeprefix("D").partition(":")
    return int(session), int(number)


def _said(conversation: dict[str, Any]) -> Iterator[Utterance]:
    """All utterances in their order, a minute apart; a photo is told by its caption."""
    for number in range(1, len(conversation)):
        session = conversation.get(f"session_{number}")
        if session:
            began = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            for minute, one in enumerate(session):
                caption = f" [{one['blip_caption']}]" if one.get("blip_caption") else ""
                time = began.replace(tzinfo=UTC) + timedelta(minutes=minute)
                yield Utterance(one["dia_id"], one["speaker"], one["text"] + caption, time)


def feature(number: int, observation: Observation, user: str, at: datetime) -> UserFeature:
    """An observation as it is kept: a slot of its own, named by its number."""
    return UserFeature(
        feature_id=str(number),
        user_id=user,
        slot=f"observation {number}",
        value=observation.text[:200],
        content=observation.text[:300],
        category="OTHER",
        source="CHAT_EXTRACT",
        create_time=at,
        update_time=at,
        last_seen_time=at,
        record_time=at,
    )


@dataclass
class Recall:
    """How many answerable questions there are, and for how many the memory injected holds an evidence observation."""

    questions: int = 0
    observed: int = 0
    """Those for which an observation of an evidence turn exists at all, of the speaker who is asked about."""
    held: int = 0


def recalled(talk: Talk) -> Recall:
    """The memory is that of the speaker whom a question names; else of the one who said the first evidence."""
    found, at = Recall(), talk.said[-1].time
    speaker_of = {one.turn: one.speaker for one in talk.said}
    kept = {
        user: [feature(number, one, user, at) for number, one in enumerate(observations)]
        for user, observations in talk.observed.items()
    }
    for question in talk.questions:
        found.questions += 1
        named = [speaker for speaker in talk.speakers if speaker in question.text]
        named = named if len(named) == 1 else [speaker_of[turn] for turn in question.evidence if turn in speaker_of]
        if not named:
            continue
        evidence = {one.text for one in talk.observed[named[0]] if one.turns & set(question.evidence)}
        found.observed += bool(evidence)
        told = _injected(kept[named[0]], question.text)
        found.held += any(f"\n- {' '.join(text.split())}\n" in told for text in evidence)
    return found


def _injected(kept: Sequence[UserFeature], question: str) -> str:
    """The guidance of a question in a new conversation."""
    background = recall(kept, question, turn=1)
    return compose_guidance(None, CommunicationPreferences(), [], question, background).text


@dataclass(frozen=True)
class Flatness:
    """Of the settled turns' prompts: the slope in tokens a turn, the largest and the median."""

    slope: float
    largest: float
    middle: float

    @property
    def ratio(self) -> float:
        return self.largest / self.middle


def flatness(tokens: Mapping[int, float]) -> Flatness:
    """From the tokens by turn; those up to SETTLED do not count."""
    settled = {turn: one for turn, one in tokens.items() if turn > SETTLED}
    slope = linear_regression(list(settled), list(settled.values())).slope
    return Flatness(slope, max(settled.values()), median(settled.values()))


class ScriptedModel:
    """The `Model` port: what it says is always as long, and it counts the tokens that it reads, by turn."""

    def __init__(self) -> None:
        self.turn = 0
        self.answer_tokens: dict[int, float] = {}
        self.extraction_tokens: dict[int, float] = {}
        self.calls: Counter[str] = Counter()

    async def extract(self, question: str, history: Sequence[str]) -> Proposal:
        """Each question brings a characteristic, so that the role memory fills up to its bounds."""
        self.calls["extraction"] += 1
        self.extraction_tokens[self.turn] = _tokens(extraction_messages(question, history))
        trait, quote = _TRAITS[self.turn % len(_TRAITS)], question.strip()[:60].strip()
        return Proposal({"characteristics": [trait], "evidence": [{"quote": quote, "supports": [trait]}]}, _COST)

    async def answer(self, request: AnswerRequest) -> Reply:
        self.calls["answer"] += 1
        self.answer_tokens[self.turn] = _tokens(answer_messages(request))
        return Reply(_REPLY, _COST)

    async def report(self, request: AnswerRequest) -> Proposal:
        raise AssertionError("every turn is of mode answer")

    async def extract_features(self, messages: Sequence[Said], known: Sequence[KnownFeature]) -> Proposal:
        """None: the data's own are given."""
        self.calls["features"] += 1
        return Proposal({"changes": []}, _COST)

    async def summarise(self, previous: Summary, messages: Sequence[Said]) -> Proposal:
        self.calls["summary"] += 1
        return Proposal(dict.fromkeys(("target", "blocker", "suggestion", "nextStep"), _REPLY[:100]), _COST)

    async def still_hold(self, features: Sequence[KnownFeature], days: int) -> Proposal:
        raise AssertionError("no weekly check is run")

    async def aclose(self) -> None: ...


def _tokens(messages: Sequence[Message]) -> float:
    return sum(len(message.content) for message in messages) / _CHARACTERS_A_TOKEN


async def fed(talk: Talk, here: Here) -> ScriptedModel:
    """Every utterance as a question of one user in one conversation, each observation kept after its turn."""
    model, now = ScriptedModel(), talk.said[0].time
    worker = replace(here.worker(), model=model, clock=lambda: now)
    observed = [one for observations in talk.observed.values() for one in observations]
    for number, one in enumerate(talk.said, 1):
        now = one.time
        model.turn = number
        fields = {
            "conversationId": talk.name,
            "userId": "u",
            "questionId": one.turn,
            "text": one.text,
            "mode": "answer",
        }
        await _through(QuestionAsked.model_validate(fields), worker, now)
        for at, observation in enumerate(observed):
            if max(observation.turns, key=_order, default="") == one.turn:
                await here.features.add_feature(feature(at, observation, "u", now))
    return model


async def _through(asked: QuestionAsked, worker: Worker, now: datetime) -> None:
    """Through every processor of the whole chain, in the order in which the events come."""
    waiting = deque[Wire]([asked])
    while waiting:
        event = waiting.popleft()
        topic = BY_EVENT[type(event)].name
        came_with = record(topic, time=now, producer=b"" if event is asked else b"rolestream")
        for processor in topology(memory=True, user_memory=True, guidance="fresh"):
            if topic in processor.reads:
                outputs = await processor.handle(event, came_with, worker)
                assert not any(isinstance(output, Failure) for output in outputs), outputs
                waiting.extend(output for output in outputs if not isinstance(output, Failure))
        if isinstance(event, AnswerReady):
            assert event.status == "ok", event.reason


async def report(file: Path) -> None:
    """Print both measures, conversation by conversation; raises Missing."""
    found = talks(file)
    _recall_table([(talk.name, recalled(talk)) for talk in found])
    print(
        f"\n{'conversation':<14}{'turns':>6} {'prompt':<11}{'slope':>8}{'median':>8}{'largest':>8}{'ratio':>7}  calls"
    )
    async with embedded_services() as services:
        for talk in found:
            async with database_of(services, Names()) as here:
                model = await fed(talk, here)
            calls = ", ".join(f"{kind} {count}" for kind, count in sorted(model.calls.items()))
            for name, tokens in (("answer", model.answer_tokens), ("extraction", model.extraction_tokens)):
                flat = flatness(tokens)
                print(
                    f"{talk.name:<14}{len(talk.said):>6} {name:<11}{flat.slope:>8.3f}{flat.middle:>8.0f}"
                    f"{flat.largest:>8.0f}{flat.ratio:>7.2f}  {calls if name == 'answer' else ''}"
                )


def _recall_table(rows: Sequence[tuple[str, Recall]]) -> None:
    print(f"{'conversation':<14}{'answerable':>11}{'observed':>10}{'held':>6}{'share':>7}")
    halves = (("development", True), ("held out", False))
    sums = [(half, _sum(one for name, one in rows if (name in DEVELOPMENT) == tuned)) for half, tuned in halves]
    for name, one in (*rows, *sums, ("all", _sum(one for _, one in rows))):
        share = f"{one.held / one.questions:>7.1%}" if one.questions else ""
        print(f"{name:<14}{one.questions:>11}{one.observed:>10}{one.held:>6}{share}")


def _sum(rows: Iterable[Recall]) -> Recall:
    total = Recall()
    for row in rows:
        total = Recall(total.questions + row.questions, total.observed + row.observed, total.held + row.held)
    return total
