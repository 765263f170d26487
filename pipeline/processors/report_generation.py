"""Report generation: writes the answer or report that the guidance shapes, and stores it before it is published."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.domain.asks import asked_preferences, language_of
from pipeline.domain.context import context_of
from pipeline.domain.guidance import compose_guidance, preferences_in_force
from pipeline.domain.ids import answer_id
from pipeline.domain.recall import Recalled, recall
from pipeline.domain.report import read_report, report_markdown
from pipeline.domain.track import standing
from pipeline.errors import AlreadyStored, BadEvent, ModelFailed
from pipeline.ports import AnswerRequest, Reply, Said
from pipeline.processing import Failure, Output, Record, Services
from schemas.documents import Message
from schemas.events import AnswerReady, Cost, GuidanceIssued, ReportReady, TurnLogged, stored_answer
from schemas.features import UserFeature
from schemas.role import CommunicationPreferences, GuideScope

#: The longest answer that is kept, in characters.
_LONGEST_ANSWER = 100_000
_NOTHING = Recalled()


@dataclass(frozen=True)
class _Guiding:
    """What an answer is told, the turn that it was learnt by, and how far guidance reaches."""

    scope: GuideScope = "NONE"
    text: str = ""
    rules: Sequence[str] = ()
    turn: int | None = None
    recalled: Recalled = _NOTHING


async def handle(event: GuidanceIssued | TurnLogged, record: Record, services: Services) -> Sequence[Output]:
    """Answer a turn once, a failed one only by a replay."""
    # the question, its answer if there is one, and the context before them
    recent = await services.store.messages(event.conversation_id, event.turn, services.policy.context + 2)
    turn_messages = [m for m in recent if m.turn == event.turn and m.question_id == event.question_id]
    answered = next((m for m in turn_messages if m.role == "ASSISTANT"), None)
    if answered is not None and (answered.status == "ok" or not record.is_replay):
        return await _again(answered, event, services)
    question = next((m for m in turn_messages if m.role == "USER"), None)
    if question is None:
        raise BadEvent("questionId: the question is not in the conversation's log")
    turn = TurnLogged.from_stored(question.event or "")
    guiding = await _guiding(event, turn, services)
    before = [m for m in recent if m.turn < event.turn]
    earlier = context_of(before, question.create_time, services.policy.idle, services.policy.context)
    request = AnswerRequest(
        question=turn.text,
        context=[Said(role="user" if m.role == "USER" else "assistant", text=m.text) for m in earlier],
        guidance=guiding.text,
        rules=guiding.rules,
        sources=turn.sources,
        features=guiding.recalled.features,
        summary=guiding.recalled.summary,
        skill=guiding.recalled.skill,
    )
    answer = await _written(turn, request, guiding, services)
    return await _stored(turn, answer, guiding.scope, services)


def concerns(event: GuidanceIssued | TurnLogged, record: Record) -> bool:
    """A turn to be learnt from alone is not answered."""
    return event.mode != "log"


async def _again(message: Message, event: GuidanceIssued | TurnLogged, services: Services) -> Sequence[Output]:
    """What was published for a turn before; nothing where a client's own model has answered."""
    if message.event is None:
        return []
    answer = stored_answer(message.event)
    scope = event.guide_scope if isinstance(event, GuidanceIssued) else services.policy.guide_scope
    await _note_guided(answer, scope, services)
    return _outputs(answer)


def _outputs(answer: AnswerReady) -> Sequence[Output]:
    return [answer] if answer.status == "ok" else [answer, Failure(ModelFailed(answer.reason or ""))]


async def _guiding(event: GuidanceIssued | TurnLogged, turn: TurnLogged, services: Services) -> _Guiding:
    """The guidance to answer with: this turn's own, or at once what was known before it."""
    if isinstance(event, GuidanceIssued):
        recalled = Recalled(event.features, event.summary, event.skill)
        guiding = _Guiding(event.guide_scope, event.text, event.rules, event.turn, recalled)
    elif services.policy.memory:
        guiding = await _known_before(turn, services)
    else:
        return _Guiding()
    return guiding if guiding.text and await _in_scope(guiding.scope, turn, services) else _Guiding()


async def _known_before(turn: TurnLogged, services: Services) -> _Guiding:
    """The memory as it stands, under what this question plainly asks for."""
    track, conversation, features = await asyncio.gather(
        services.store.track(turn.conversation_id, turn.turn - 1, 1),
        services.store.conversation(turn.conversation_id),
        _features(turn, services),
    )
    known = standing(track, conversation.epoch if conversation else 0)
    recalled = recall(
        features,
        turn.text,
        summary=conversation.summary if conversation and services.policy.user_memory else None,
        turn=turn.turn,
        denied=known.denied_identities if known else (),
    )
    asked = asked_preferences(turn.text)
    wanted = CommunicationPreferences.model_validate({wish.field: wish.value for wish in asked})
    preferences = preferences_in_force(known, wanted, recalled.preferences)
    for_this_turn = [wish.field for wish in asked if wish.scope == "turn"]
    guidance = compose_guidance(known, preferences, for_this_turn, turn.text, recalled)
    told = replace(recalled, features=guidance.features)
    scope = services.policy.guide_scope
    return _Guiding(scope, guidance.text, guidance.rules, known.turn if known else turn.turn, told)


async def _features(turn: TurnLogged, services: Services) -> Sequence[UserFeature]:
    return await services.features.features(turn.user_id) if services.policy.user_memory else ()


async def _in_scope(scope: GuideScope, turn: TurnLogged, services: Services) -> bool:
    if scope != "ONCE":
        return scope == "EVERY"
    conversation = await services.store.conversation(turn.conversation_id)
    return conversation is None or conversation.guided_turn is None


async def _written(turn: TurnLogged, request: AnswerRequest, guiding: _Guiding, services: Services) -> AnswerReady:
    """The answer or report; a failed one, with the reason, where the model could not be used."""
    fields = {**turn.turn_fields(), "guidance_turn": guiding.turn, "metadata": turn.metadata}
    try:
        if turn.mode == "report":
            return await _report(turn, request, fields, services)
        reply = await services.model.answer(request)
        return AnswerReady(**fields, text=_text(reply), cost=reply.cost)
    except ModelFailed as exc:
        kind = ReportReady if turn.mode == "report" else AnswerReady
        fields["guidance_turn"] = None
        return kind(**fields, text="", status="failed", reason=str(exc), cost=Cost(**exc.spent))


def _text(reply: Reply) -> str:
    text = reply.text.replace("\x00", "").strip()[:_LONGEST_ANSWER]
    if not text:
        raise ModelFailed("the model's answer is empty", reply.cost.model_dump())
    return text


async def _report(turn: TurnLogged, request: AnswerRequest, fields: dict[str, Any], services: Services) -> ReportReady:
    proposal = await services.model.report(request)
    content = read_report(proposal.content, turn.sources)
    if content is None:
        raise ModelFailed("the model's reply holds no report that could be read", proposal.cost.model_dump())
    text = report_markdown(content, language_of(turn.text))
    return ReportReady(**fields, **vars(content), text=text, cost=proposal.cost)


async def _stored(turn: TurnLogged, answer: AnswerReady, scope: GuideScope, services: Services) -> Sequence[Output]:
    """Store what was written, or find what was stored first; a failed answer gives way."""
    message = Message(
        conversation_id=turn.conversation_id,
        message_id=answer_id(turn.question_id),
        user_id=turn.user_id,
        role="ASSISTANT",
        text=answer.text,
        question_id=turn.question_id,
        turn=turn.turn,
        create_time=services.clock(),
        record_time=turn.record_time,
        status=answer.status,
        event=answer.to_json().decode(),
    )
    try:
        await services.store.add_message(message)
    except AlreadyStored:
        await services.store.replace_failed_message(message)
        stored = await services.store.message(turn.conversation_id, message.message_id)
        if stored is None:
            raise  # the turn is another question's
        if stored.event is None:
            return []
        answer = stored_answer(stored.event)
    await _note_guided(answer, scope, services)
    return _outputs(answer)


async def _note_guided(answer: AnswerReady, scope: GuideScope, services: Services) -> None:
    """Under scope ONCE the first answer that used guidance is the last; a replay notes it again."""
    if scope == "ONCE" and answer.guidance_turn is not None and answer.turn is not None:
        await services.store.note_guided(answer.conversation_id, answer.turn)
