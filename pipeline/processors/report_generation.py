"""Report generation: writes the answer or report that the guidance shapes, and stores it before it is published."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.domain.asks import asked_preferences, language_of
from pipeline.domain.guidance import compose_guidance, preferences_in_force
from pipeline.domain.ids import answer_id
from pipeline.domain.report import read_report, report_markdown
from pipeline.errors import AlreadyStored, BadEvent, ModelFailed
from pipeline.ports import AnswerRequest, Failure, Output, Record, Said, Services
from schemas.documents import Message
from schemas.events import AnswerReady, GuidanceIssued, ReportReady, TurnLogged
from schemas.role import CommunicationPreferences, GuideScope

#: The longest answer that is kept, in characters.
_LONGEST_ANSWER = 100_000


@dataclass(frozen=True)
class _Guiding:
    """What an answer is told, and the turn that it was learnt by."""

    text: str = ""
    rules: Sequence[str] = ()
    turn: int | None = None


async def handle(event: GuidanceIssued | TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Answer a turn once; a turn to be learnt from alone is not answered."""
    if event.mode == "log":
        return []
    # the question, its answer if there is one, and the context before them
    recent = await services.store.messages(event.conversation_id, event.turn, services.policy.context + 2)
    answered = next((m for m in recent if m.turn == event.turn and m.role == "ASSISTANT"), None)
    if answered is not None:
        return [_read_answer(answered)] if answered.event else []
    question = next((m for m in recent if m.turn == event.turn and m.role == "USER"), None)
    if question is None:
        raise BadEvent("questionId: the question is not in the conversation's log")
    turn = TurnLogged.model_validate_json(question.event or "")
    guiding = await _guiding(event, turn, services)
    earlier = [m for m in recent if m.turn < event.turn][-services.policy.context :]
    request = AnswerRequest(
        question=turn.text,
        context=[Said(role="user" if m.role == "USER" else "assistant", text=m.text) for m in earlier],
        guidance=guiding.text,
        rules=guiding.rules,
        sources=turn.sources,
    )
    return await _answer(turn, request, guiding, services)


async def _guiding(event: GuidanceIssued | TurnLogged, turn: TurnLogged, services: Services) -> _Guiding:
    """The guidance to answer with: this turn's own, or at once what was known before it."""
    if isinstance(event, GuidanceIssued):
        guiding, scope = _Guiding(event.text, event.rules, event.turn), event.guide_scope
    elif services.policy.memory:
        guiding, scope = await _known_before(turn, services), services.policy.guide_scope
    else:
        return _Guiding()
    return guiding if guiding.text and await _in_scope(scope, turn, services) else _Guiding()


async def _known_before(turn: TurnLogged, services: Services) -> _Guiding:
    """The memory as it stands, under what this question plainly asks for."""
    track = await services.store.track(turn.conversation_id, turn.turn - 1, 1)
    known, asked = (track[0] if track else None), asked_preferences(turn.text)
    preferences = preferences_in_force(
        known.communication_preferences if known else CommunicationPreferences(),
        CommunicationPreferences.model_validate({wish.field: wish.value for wish in asked}),
    )
    for_this_turn = [wish.field for wish in asked if wish.scope == "turn"]
    guidance = compose_guidance(known, preferences, for_this_turn, language_of(turn.text))
    return _Guiding(guidance.text, guidance.rules, known.turn if known else turn.turn)


async def _in_scope(scope: GuideScope, turn: TurnLogged, services: Services) -> bool:
    if scope != "ONCE":
        return scope == "EVERY"
    conversation = await services.store.conversation(turn.conversation_id)
    return conversation is None or conversation.guided_turn is None


async def _answer(turn: TurnLogged, request: AnswerRequest, guiding: _Guiding, services: Services) -> Sequence[Output]:
    try:
        answer = await _written(turn, request, guiding, services)
    except ModelFailed as exc:
        kind = ReportReady if turn.mode == "report" else AnswerReady
        return [kind(**_fields(turn, guiding), text="", status="failed", reason=str(exc)), Failure(exc)]
    message = Message(
        conversation_id=turn.conversation_id,
        message_id=answer_id(turn.question_id),
        user_id=turn.user_id,
        role="ASSISTANT",
        text=answer.text,
        question_id=turn.question_id,
        turn=turn.turn,
        create_time=services.clock(),
        event=answer.to_json().decode(),
    )
    try:
        await services.store.add_message(message)
    except AlreadyStored:
        stored = await services.store.message(turn.conversation_id, message.message_id)
        if stored is not None:
            return [_read_answer(stored)] if stored.event else []
    if guiding.text and services.policy.guide_scope == "ONCE":
        await services.store.note_guided(turn.conversation_id, turn.turn)
    return [answer]


async def _written(turn: TurnLogged, request: AnswerRequest, guiding: _Guiding, services: Services) -> AnswerReady:
    """Have the model write; raises ModelFailed."""
    fields = _fields(turn, guiding)
    if turn.mode == "answer":
        reply = await services.model.answer(request)
        text = reply.text.replace("\x00", "").strip()[:_LONGEST_ANSWER]
        if not text:
            raise ModelFailed("the model's answer is empty", reply.cost.model_dump())
        return AnswerReady(**fields, text=text, cost=reply.cost)
    proposal = await services.model.report(request)
    content = read_report(proposal.content, turn.sources)
    if content is None:
        raise ModelFailed("the model's reply holds no report that could be read", proposal.cost.model_dump())
    text = report_markdown(content, language_of(turn.text))
    return ReportReady(**fields, **vars(content), text=text, cost=proposal.cost)


def _fields(turn: TurnLogged, guiding: _Guiding) -> dict[str, Any]:
    return {**turn.turn_fields(), "guidance_turn": guiding.turn, "metadata": turn.metadata}


def _read_answer(message: Message) -> AnswerReady:
    """The answer as it was published: a report is told by its title."""
    event = json.loads(message.event or "")
    kind = ReportReady if "title" in event else AnswerReady
    return kind.model_validate(event, extra="ignore")
