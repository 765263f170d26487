"""The summary of a conversation: when it is due, what it reads, and what of a model's proposal is kept."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from pipeline.domain.injected import without_injected
from pipeline.domain.languages import fits_language, language_name
from pipeline.domain.progress import (
    clauses,
    gives_up,
    goal_in,
    is_problem,
    is_solved,
    names_any_goal,
    says_nothing,
    sentences,
    without_planted,
)
from pipeline.domain.proposals import object_of, text_of
from pipeline.domain.quoting import ground_of
from pipeline.domain.relevance import terms
from pipeline.domain.slots import SKILL, TARGET, folded
from pipeline.domain.spelling import has_han
from pipeline.ports import Json, Said
from schemas.documents import Message
from schemas.features import MAX_CONTENT, Summary, UserFeature
from schemas.wire import ConversationId

#: A summary is due when so many messages have come since the last one.
EVERY = 6
#: The most turns that one summary reads; the next one goes on from there.
MOST_TURNS = 12
#: The share of a text's words that are in another where it says the same, or speaks of it.
_SHARE = 1 / 3
#: The share of a fact's words by which a text says it.
_MOST_WORDS = 2 / 3
_NAMES = ("target", "blocker", "suggestion", "next_step")
#: A sentence with what ends it.
_PIECE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\S))*[.!?。！？\n]*", re.DOTALL)
#: How much of a part that is too long is read.
_READ = 4 * MAX_CONTENT
#: The languages whose goals, problems and names the rules know; elsewhere the model is believed.
_KNOWN = ("English", "中文")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: A name: a capital that begins no sentence.
_NAME = re.compile(r"(?<=[^\W_])[\s,'\"(+/-]+([A-Z][a-z][A-Za-z0-9]*)|(?<=[\u3400-\u9fff])([A-Z][a-z][A-Za-z0-9]*)")


def may_be_due(covered: int, turn: int) -> bool:
    """Whether there can be EVERY messages: a turn has two at most, and one late answer of the covered turn."""
    return 2 * (turn - covered) + 1 >= EVERY


def read_up_to(covered: int, turn: int) -> int:
    """The last turn that the summary after the `covered` one reads, of those up to `turn`."""
    return min(turn, covered + MOST_TURNS)


def since(messages: Sequence[Message], previous: Summary) -> list[Message]:
    """Those that the previous summary has not read: an answer may have come after it."""
    return [
        message
        for message in messages
        if message.status == "ok"
        and (
            message.turn > previous.turn
            or (
                message.turn == previous.turn
                and message.role == "ASSISTANT"
                and previous.update_time is not None
                and message.create_time > previous.update_time
            )
        )
    ]


def without_deleted(message: Message, features: Iterable[UserFeature]) -> str:
    """The text of a message without the sentences about what the user had deleted since it was said."""
    deleted = [
        feature
        for feature in features
        if feature.status == "DELETED"
        and feature.forgotten_until is not None
        and (message.record_time or message.create_time) <= feature.forgotten_until
    ]
    if not deleted:
        return message.text
    return "".join(part for part in _PIECE.findall(message.text) if not any(_is_about(part, one) for one in deleted))


def _is_about(sentence: str, deleted: UserFeature) -> bool:
    if deleted.slot == TARGET:
        return any(map(goal_in, sentences(sentence)))
    slot = set(terms(deleted.slot))
    return bool(slot) and slot <= set(terms(sentence))


def without_fact(summary: Summary, fact: UserFeature) -> Summary:
    """The summary without the parts that say a fact, or what was so before it."""
    earlier = [fact.model_copy(update={"value": one.value, "content": one.content}) for one in fact.history]
    gone = {part: "" for part in _NAMES if any(tells_of(getattr(summary, part), one) for one in (fact, *earlier))}
    return summary.model_copy(update=gone) if gone else summary


def tells_of(text: str, fact: UserFeature) -> bool:
    """Whether a text says a fact: most words of its value, and of its slot where the value is a word at most."""
    is_short = len(terms(fact.value)) <= 1 and fact.slot not in (SKILL, TARGET)
    needed = [part for part in ((fact.value, fact.slot) if is_short else (fact.value,)) if terms(part)]
    return bool(needed) and all(_holds(text, part) for part in needed)


def _holds(text: str, part: str) -> bool:
    if has_han(part) and folded(part) in folded(text):
        return True
    words = set(terms(part))
    return len(words.intersection(terms(text))) >= _MOST_WORDS * len(words)


def told_elsewhere(features: Iterable[UserFeature], conversation_id: ConversationId) -> list[UserFeature]:
    """What is known of the user from other conversations and commands: only memory can have brought it here."""
    return [
        feature
        for feature in features
        if feature.value and all(seen.conversation_id != conversation_id for seen in feature.evidence)
    ]


def cleaned(said: Sequence[Said]) -> list[Said]:
    """What a summary is made of: without what memory injected, and without what was planted for it."""
    read = [Said(one.role, without_planted(without_injected(one.text))) for one in said]
    return [one for one in read if one.text]


def read_summary(
    content: Json,
    previous: Summary,
    messages: Sequence[Said],
    *,
    turn: int,
    at: datetime,
    elsewhere: Sequence[UserFeature] = (),
) -> Summary | None:
    """The previous summary with what the proposal has of the messages; None where it holds no object.

    A part that is missing, empty, invented, planted or in another language leaves the previous one. What is known
    from `elsewhere` is quoted in none, so that it can be forgotten there alone.
    """
    proposal = object_of(content)
    if proposal is None:
        return None
    own = [message.text for message in messages if message.role == "user"]
    everything = [*(message.text for message in messages), *_parts(previous)]
    brought = [fact for fact in elsewhere if not any(tells_of(sentence, fact) for sentence in _all_sentences(own))]

    def unquoted(part: str) -> str:
        return "" if any(tells_of(part, fact) for fact in brought) else part

    suggestion = _part(proposal.get("suggestion"), everything, own)
    step = _part(proposal.get("nextStep", proposal.get("next_step")), everything, own)
    return Summary(
        target=_target(_part(proposal.get("target"), [*own, previous.target], own), previous.target, own),
        blocker=_blocker(unquoted(_part(proposal.get("blocker"), everything, own)), unquoted(previous.blocker), own),
        suggestion=unquoted(suggestion) or unquoted(previous.suggestion),
        next_step=unquoted(step) or unquoted(previous.next_step),
        turn=max(turn, previous.turn),
        update_time=at,
    )


def _parts(summary: Summary) -> list[str]:
    return [getattr(summary, name) for name in _NAMES]


def _all_sentences(texts: Sequence[str]) -> list[str]:
    return [sentence for text in texts for sentence in sentences(text)]


def _part(value: object, sources: Sequence[str], own: Sequence[str]) -> str:
    """One line within its bound, in the user's language and in words of the sources; else empty."""
    if isinstance(value, list):
        value = "; ".join(item for item in value if isinstance(item, str))
    text = text_of(value[:_READ], _READ) if isinstance(value, str) else None
    text = _shortened(without_injected(text)) if text else ""
    if says_nothing(text) or ground_of(text).planted:
        return ""
    asked_in = "\n".join(own or sources)
    return text if fits_language(text, asked_in) and _is_grounded(text, sources) else ""


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_CONTENT else text[: MAX_CONTENT - 1].rstrip() + "…"


def _is_grounded(text: str, sources: Sequence[str]) -> bool:
    """Whether its words are of the sources, as far as they may be others, and its numbers and names all are."""
    source = "\n".join(sources).casefold()
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(source)):
        return False
    names = [name for found in _NAME.findall(text) for name in found if name]
    if language_name(text) in _KNOWN and not all(name.casefold() in source for name in names):
        return False
    return _share(text, *sources) >= _SHARE


def _share(text: str, *others: str) -> float:
    """The share of the words of `text` that are in the others; 0 of a text that has none."""
    wanted = set(terms(text))
    there = {term for other in others for sentence in sentences(other) for term in terms(sentence)}
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _target(proposed: str, previous: str, own: Sequence[str]) -> str:
    """An aside changes no goal: another one needs the user's own words that it is one."""
    said = _all_sentences(own)
    if previous and any(_is_given_up(previous, clause) for sentence in said for clause in clauses(sentence)):
        previous = ""
        proposed = proposed if any(_aims_at(proposed, sentence) for sentence in said) else ""
    if not previous or not proposed:
        return proposed or previous
    told = language_name("\n".join(own)) not in (*_KNOWN, None)
    kept = _share(previous, proposed) >= _SHARE or any(_aims_at(proposed, sentence) for sentence in said)
    return proposed if kept or told else previous


def _is_given_up(goal: str, clause: str) -> bool:
    return gives_up(clause) and (names_any_goal(clause) or bool(set(terms(goal)) & set(terms(clause))))


def _aims_at(target: str, sentence: str) -> bool:
    goal = goal_in(sentence)
    return goal is not None and _share(goal.text, target) >= _SHARE


def _blocker(proposed: str, previous: str, own: Sequence[str]) -> str:
    """The proposed one or else the previous one, unless the user said after it was last spoken of that it is solved."""
    said = [clause for sentence in _all_sentences(own) for clause in clauses(sentence)]
    return next((one for one in (proposed, previous) if one and not _is_solved(one, said)), "")


def _is_solved(blocker: str, said: Sequence[str]) -> bool:
    spoken_of = [at for at, clause in enumerate(said) if is_problem(clause) and _share(clause, blocker) >= _SHARE]
    return any(map(is_solved, said[spoken_of[-1] :] if spoken_of else said))
