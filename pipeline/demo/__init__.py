"""The demo: asks the questions of a script on embedded services and shows, turn by turn, what is learnt."""

import asyncio
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from pipeline import bootstrap
from pipeline.client import Client, connect
from pipeline.errors import RolestreamError, SettingsInvalid
from pipeline.lines import numbered_lines
from pipeline.settings import Settings
from schemas.events import AnswerReady, GuidanceIssued, QuestionAsked

_SCRIPTS = ("dish-zh.jsonl", "engineer-en.jsonl")
_ANSWER_LINES = 6
_WIDTH = 110


async def run(settings: Settings, script: Path | None) -> int:
    """Ask every question of `script`, or of the two that come with us, and print what each one taught."""
    questions = read_script(script) if script else [q for name in _SCRIPTS for q in read_script(_packaged(name))]
    print("Starting the embedded broker and database, and a worker …", flush=True)
    async with bootstrap.embedded(settings, None) as (here, broken):
        stop, started = asyncio.Event(), asyncio.Event()
        worker = asyncio.create_task(
            bootstrap.run_worker(here, (), lambda: bootstrap.first_of(stop.wait(), broken()), started.set)
        )
        try:
            await bootstrap.first_of(started.wait(), asyncio.shield(worker))
            async with connect(here) as client:
                conversing = _converse(client, questions, memory=settings.short_term_memory.enabled)
                await bootstrap.first_of(conversing, asyncio.shield(worker))
        finally:
            stop.set()
            await worker
    return 0


def _packaged(name: str) -> Path:
    return Path(str(files(__package__).joinpath(name)))


def read_script(path: Path) -> list[QuestionAsked]:
    """One JSON question a line; conversation and user may be left out. Raises SettingsInvalid naming the line."""
    questions = []
    for number, line in numbered_lines(path):
        try:
            questions.append(_question(line))
        except (ValueError, RecursionError) as exc:
            raise SettingsInvalid(f"{path}, line {number}: {_first_error(exc)}") from exc
    if not questions:
        raise SettingsInvalid(f"the script {path} holds no question")
    return questions


def _question(line: str) -> QuestionAsked:
    said = json.loads(line)
    if not isinstance(said, dict):
        raise ValueError('a JSON object is needed: {"text": "…"}')  # noqa: TRY004  # it is the script that is wrong
    return QuestionAsked.model_validate({"conversationId": "demo", "userId": "demo", **said})


def _first_error(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        error = exc.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    return str(exc) or type(exc).__name__


async def _converse(client: Client, questions: list[QuestionAsked], *, memory: bool) -> None:
    told: dict[str, list[str]] = {}
    for question in questions:
        if question.conversation_id not in told:
            told[question.conversation_id] = []
            print(f"\n━━ conversation {question.conversation_id} ━━")
        await _turn(client, question, told if memory else None)


async def _turn(client: Client, question: QuestionAsked, told: dict[str, list[str]] | None) -> None:
    """Ask one question and print what it taught; `told` holds the guidance of each conversation so far, if any."""
    question_id = await client.ask(
        question.text,
        user_id=question.user_id,
        conversation_id=question.conversation_id,
        mode=question.mode,
        question_id=question.question_id,
        sources=question.sources,
        metadata=question.metadata,
    )
    print(f"\n▸ {question.text}")
    answer = await client.answer(question_id, within=180) if question.mode != "log" else None
    if told is not None:
        guidance = await client.guidance(question_id)
        memory, lines = await client.memory(question.conversation_id), _lines(guidance.text)
        evidence = memory.identified_role.evidence_summary if memory else []
        for line in _learnt(guidance, evidence, told[question.conversation_id], lines):
            print(line)
        told[question.conversation_id] = lines
    for line in _said(answer) if answer else ("    learnt from, not answered",):
        print(line)


def _lines(text: str) -> list[str]:
    """The lines of a guidance without the tags around it."""
    return text.splitlines()[1:-1]


def _learnt(guidance: GuidanceIssued, evidence: list[str], before: list[str], now: list[str]) -> Iterator[str]:
    wants = guidance.preferences.model_dump(by_alias=True, exclude_none=True)
    yield f"    decision     {guidance.decision}: {guidance.reason}"
    yield f"    identities   {', '.join(guidance.identities) or '-'}"
    yield f"    confidence   {guidance.confidence_score:.2f} {guidance.confidence_level}"
    yield f"    traits       {', '.join(guidance.characteristics) or '-'}"
    yield f"    preferences  {', '.join(f'{name} {value}' for name, value in wants.items()) or '-'}"
    yield f"    overview     {guidance.user_overview or '-'}"
    yield f"    evidence     {' | '.join(evidence) or '-'}"
    changes = [f"- {line}" for line in before if line not in now] + [f"+ {line}" for line in now if line not in before]
    for change in changes or ["(the same as before)"]:
        yield f"    guidance     {change}"


def _said(answer: AnswerReady) -> Iterator[str]:
    if answer.status == "failed":
        raise RolestreamError(f"no answer: {answer.reason}")
    lines = [line for line in answer.text.splitlines() if line.strip()]
    yield f"    {'report' if answer.text.startswith('# ') else 'answer'} by {answer.cost.model}"
    for line in lines[:_ANSWER_LINES]:
        yield f"      │ {line if len(line) <= _WIDTH else line[: _WIDTH - 1] + '…'}"
    if len(lines) > _ANSWER_LINES:
        yield f"      │ … {len(lines) - _ANSWER_LINES} more lines"
