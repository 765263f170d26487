"""The `import` command: old conversations are logged and learnt from, and nothing is answered."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints, ValidationError

from pipeline.client import Client, connect
from pipeline.errors import BadEvent, SettingsInvalid
from pipeline.lines import numbered_lines
from pipeline.settings import Settings
from schemas.events import derived_id
from schemas.wire import MAX_TEXT, ConversationId, Identifier, Moment, QuestionId, UserId, Wire

_PATIENCE = 10.0
#: How many conversations are on their way at once.
_BESIDE = 32
#: How many wrong lines are named.
_MOST_NAMED = 20
#: The longest answer, in characters.
_LONGEST_ANSWER = 200_000


def _not_blank(text: str) -> str:
    if not text.strip() or "\x00" in text:
        raise ValueError("text is empty or holds a NUL character")
    return text


class _Line(Wire):
    """One message of an old conversation."""

    conversation_id: Annotated[ConversationId, Identifier]
    user_id: Annotated[UserId, Identifier]
    role: Literal["USER", "ASSISTANT"]
    text: Annotated[str, StringConstraints(max_length=_LONGEST_ANSWER), AfterValidator(_not_blank)]
    create_time: Moment

    @property
    def question_id(self) -> QuestionId:
        """The same whenever the line is imported."""
        said = (self.conversation_id, self.user_id, self.text, self.create_time.isoformat())
        return QuestionId(derived_id("import", *said))


@dataclass
class _Turn:
    """A question and what the assistant said to it."""

    number: int
    """Of its line."""
    question: _Line
    answer: str = ""


@dataclass
class _Tally:
    """What has come of the lines so far."""

    turns: int
    counts: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)

    def one_more(self) -> None:
        """Say how far it is, about twenty times."""
        self.counts["done"] += 1
        if self.counts["done"] % max(1, self.turns // 20) == 0:
            print(f"  {self.counts['done']} of {self.turns} turns", file=sys.stderr, flush=True)


async def imported(arguments: argparse.Namespace, settings: Settings) -> int:
    """Take in old conversations, one message a line: they are learnt from, and nothing is answered."""
    conversations, passed_over = _read(arguments.file)
    tally = _Tally(sum(map(len, conversations)))
    room = asyncio.Semaphore(_BESIDE)
    async with connect(settings, patience=min(_PATIENCE, arguments.timeout)) as client:

        async def take_in(turns: Sequence[_Turn]) -> None:
            async with room:
                await _import(turns, client, tally, arguments.timeout)

        try:
            async with asyncio.TaskGroup() as group:
                for turns in conversations:
                    group.create_task(take_in(turns))
        except BaseExceptionGroup as exc:  # the first ends the others
            raise exc.exceptions[0] from exc
    for reason in tally.refused[:_MOST_NAMED]:
        print(f"rolestream: {reason}", file=sys.stderr)
    if passed_over:
        print(f"assistant lines before any question, passed over: {passed_over}", file=sys.stderr)
    counted = tally.counts
    print(f"{counted['questions']} questions and {counted['answers']} answers in {len(conversations)} conversations")
    return 1 if tally.refused else 0


async def _import(turns: Sequence[_Turn], client: Client, tally: _Tally, within: float) -> None:
    """One conversation, in order: an answer once its question is a turn."""
    for turn in turns:
        asked = turn.question
        user_id, conversation_id = asked.user_id, asked.conversation_id
        question_id = await client.ask(
            asked.text,
            user_id=user_id,
            conversation_id=conversation_id,
            mode="log",
            question_id=asked.question_id,
            asked_at=asked.create_time,
        )
        try:
            await client.logged(question_id, within=within)
        except BadEvent as exc:
            tally.refused.append(f"line {turn.number}: {exc}")
        else:
            tally.counts["questions"] += 1
            if turn.answer:
                await client.give(
                    turn.answer, question_id=question_id, user_id=user_id, conversation_id=conversation_id
                )
                tally.counts["answers"] += 1
        tally.one_more()


def _read(path: Path) -> tuple[list[list[_Turn]], int]:
    """The turns of each conversation, and how many lines no question comes before.

    Raises SettingsInvalid naming the lines that are wrong.
    """
    conversations: dict[str, list[_Turn]] = {}
    seen: set[_Line] = set()
    wrong, passed_over = [], 0
    for number, text in numbered_lines(path):
        try:
            line = _Line.model_validate_json(text, extra="ignore")
            if line not in seen:  # the same message twice is one
                turns = conversations.setdefault(line.conversation_id, [])
                if turns or line.role == "USER":
                    _take(line, number, turns)
                else:  # many exports begin with a greeting
                    passed_over += 1
                seen.add(line)
        except ValidationError as exc:
            wrong.append(f"line {number}: {_what_is_wrong(exc)}")
        except ValueError as exc:
            wrong.append(f"line {number}: {exc}")
    if wrong:
        more = f"; and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise SettingsInvalid(f"{path}: {'; '.join(wrong[:_MOST_NAMED])}{more}")
    return [turns for turns in conversations.values() if turns], passed_over


def _take(line: _Line, number: int, turns: list[_Turn]) -> None:
    """Add a line to its conversation, a question first; raises ValueError where it does not fit."""
    if turns and turns[0].question.user_id != line.user_id:
        raise ValueError(f"userId: line {turns[0].number} says that the conversation is another user's")
    if line.role == "USER":
        if len(line.text) > MAX_TEXT:
            raise ValueError(f"text: a question has at most {MAX_TEXT} characters")
        turns.append(_Turn(number, line))
        return
    answer = "\n\n".join(filter(None, (turns[-1].answer, line.text)))
    if len(answer) > _LONGEST_ANSWER:
        raise ValueError(f"text: what was answered to one question has more than {_LONGEST_ANSWER} characters")
    turns[-1].answer = answer


def _what_is_wrong(exc: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, error['loc'])) or 'line'}: {error['msg']}"
        for error in exc.errors(include_url=False, include_input=False)
    )
