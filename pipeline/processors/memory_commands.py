"""Memory commands: what a user, or an administrator, wants remembered, corrected or forgotten."""

from collections.abc import Sequence
from datetime import datetime

from pipeline.domain.correcting import corrected, is_corrected_by
from pipeline.domain.features import UNKNOWN
from pipeline.domain.forgetting import to_render
from pipeline.domain.guards import hides, instructs
from pipeline.domain.masking import masked
from pipeline.domain.slots import folded, slot_of, subject_of
from pipeline.domain.track import standing
from pipeline.ports import Origin
from pipeline.processing import Output, Record, Services
from schemas.documents import Conversation
from schemas.events import derived_id
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange, UserFeature
from schemas.memory_events import CommandDone, FeaturesObserved, MemoryCommand, Refusal
from schemas.role import MAX_NAME, TrackEntry

_ANOTHERS = "the conversation is another user's"
_MASKED = "it holds personal data, which is masked, and a mask names nobody"
_INSTRUCTS = "it instructs a model instead of saying what is so of the user, and is not kept: say it as a plain fact"


async def handle(event: MemoryCommand, record: Record, services: Services) -> Sequence[Output]:
    """Carry a command out, as often as it is delivered; what is older than the user's forgetting is dropped."""
    command = _command(event, record, services)
    match command.kind:
        case "FORGET_USER":
            return await _forget(command, Origin(user_id=command.user_id, time=record.time), record, services)
        case "FORGET_CONVERSATION":
            return await _forget_conversation(command, record, services)
    if await services.tombstones.covers(Origin(command.user_id, command.conversation_id, record.time)):
        return []
    return [await _carried_out(command, record, services)]


async def _carried_out(command: MemoryCommand, record: Record, services: Services) -> Output:
    if wrong := _wrong_in(command):
        return _refused(command, wrong, record)
    match command.kind:
        case "FORGET_ROLE":
            return await _forget_role(command, record, services)
        case "CORRECT_ROLE":
            return await _correct_role(command, record, services)
    return await _observed(command, record, services)


def _wrong_in(command: MemoryCommand) -> str:
    """What of a command's text is not to be remembered, and why; what is to go may be called whatever it is."""
    texts = [("identities", name) for name in command.identities] + [("denies", name) for name in command.denies]
    if blank := next((field for field, text in texts if not folded(text)), ""):
        return f"{blank}: it says nothing"
    if hidden := next((field for field, text in texts if hides(text)), ""):
        return f"{hidden}: {_MASKED}"
    if command.kind != "DELETE_FEATURE":
        texts += [("slot", command.slot or ""), ("value", command.value or ""), ("content", command.content)]
        texts.append(("slot and value", f"{command.slot or ''}: {command.value or ''}"))
    return next((f"{field}: {_INSTRUCTS}" for field, text in texts if instructs(text)), "")


def _command(event: MemoryCommand, record: Record, services: Services) -> MemoryCommand:
    """The command with its id, and without personal data."""
    derived = derived_id("command", event.user_id, event.model_dump_json(), record.time.isoformat())

    def mask(text: str, length: int) -> str:
        return masked(text, services.policy.masked_kinds, services.policy.masked_words)[:length]

    return event.model_copy(
        update={
            "command_id": event.command_id or derived,
            "slot": event.slot and mask(event.slot, MAX_SLOT),
            "value": event.value and mask(event.value, MAX_VALUE),
            "content": mask(event.content, MAX_CONTENT),
            "identities": [mask(name, MAX_NAME) for name in event.identities],
            "denies": [mask(name, MAX_NAME) for name in event.denies],
        }
    )


async def _forget_conversation(command: MemoryCommand, record: Record, services: Services) -> Sequence[Output]:
    """One that is not logged yet is forgotten, too: its questions may be on their way."""
    origin = Origin(command.user_id, command.conversation_id, record.time)
    if not await services.tombstones.covers(origin):
        conversation = await _conversation(command, services)
        if conversation is not None and conversation.user_id != command.user_id:
            return [_refused(command, _ANOTHERS, record, "UNKNOWN")]
    return await _forget(command, origin, record, services)


async def _forget(command: MemoryCommand, origin: Origin, record: Record, services: Services) -> Sequence[Output]:
    """The tombstone comes first, so that what is in flight finds it; the profile is rendered of what is left."""
    await services.tombstones.add(origin)
    await services.tombstones.erase(origin)
    removed = await services.tombstones.removed(origin)  # some of it went with what was in flight
    done = _done(command, record, removed=removed)
    features = services.features
    # who removed some and ended there has left no profile, and has not counted them
    is_stripped = removed.get("user_features") or await features.profile(command.user_id) is None
    if is_stripped and await features.features(command.user_id):
        return [to_render(command.user_id, record.time), done]
    return [done]


async def _forget_role(command: MemoryCommand, record: Record, services: Services) -> CommandDone:
    conversation = await _conversation(command, services)
    if conversation is None:
        return _refused(command, "nothing is known of this conversation", record, "UNKNOWN")
    if conversation.user_id != command.user_id:
        return _refused(command, _ANOTHERS, record, "UNKNOWN")
    last = await _last_turn(conversation, record.time, services)
    name = conversation.conversation_id
    removed = await services.store.erase_role(name, last)
    return _done(command, record, removed=await services.store.note_erased(name, command.command_id or "", removed))


async def _last_turn(conversation: Conversation, until: datetime, services: Services) -> int:
    """The last turn that was asked before a command: a second delivery erases no more than the first."""
    turn, name = conversation.turn_count, conversation.conversation_id
    while turn > conversation.epoch:
        question = await services.store.question_at(name, turn)
        if question is None or question.record_time is None or question.record_time <= until:
            break
        turn -= 1
    return turn


async def _correct_role(command: MemoryCommand, record: Record, services: Services) -> CommandDone:
    """Until the newest entry is corrected: one that is added meanwhile is seen here, or sees the correction itself."""
    has_begun = False
    while True:
        conversation = await _conversation(command, services)
        if conversation is not None and conversation.user_id != command.user_id:
            return _refused(command, _ANOTHERS, record, "UNKNOWN")
        entry = await _newest(conversation, services) if conversation else None
        if entry is None:
            return _refused(command, "no role is known in this conversation yet", record)
        if is_corrected_by(entry, command):
            return _done(command, record, version=entry.turn)
        if not has_begun and command.version not in (None, entry.turn):
            moved_on = f"the role has moved on to turn {entry.turn} since it was read"
            return _refused(command, moved_on, record, "OUTDATED")
        if not has_begun and command.corrections is not None and entry.correction_count > command.corrections:
            moved_on = "the role has moved on: it was corrected since it was read"
            return _refused(command, moved_on, record, "OUTDATED")
        changed = corrected(
            entry,
            command,
            at=services.clock(),
            similarity=services.similarity,
            threshold=services.policy.similarity_threshold,
        )
        has_begun |= await services.store.replace_entry(changed, entry)


async def _newest(conversation: Conversation, services: Services) -> TrackEntry | None:
    """The newest entry, unless what it builds on was erased."""
    track = await services.store.track(conversation.conversation_id, None, 1)
    return standing(track, conversation.epoch)


async def _observed(command: MemoryCommand, record: Record, services: Services) -> Output:
    """What feature memory is to do about one feature; it answers the command."""
    known = None if command.kind == "ADD_FEATURE" else await _feature(command, services)
    slot = command.slot or (known and known.slot)
    if not slot:
        return _refused(command, UNKNOWN, record, "UNKNOWN")
    if known and command.slot and subject_of(known.slot) != subject_of(command.slot):
        return _refused(command, f"featureId: it is the one of {known.slot!r}", record)
    stays = known is not None and "category" not in command.model_fields_set
    change = FeatureChange(
        operation="FORGET" if command.kind == "DELETE_FEATURE" else "OBSERVE",
        slot=slot,
        value=command.value or "",
        content=command.content,
        category=known.category if known and stays else command.category,
        feature_id=command.feature_id,
        version=command.version,
    )
    return FeaturesObserved(
        user_id=command.user_id,
        observed_by="memory-commands",
        source="SYSTEM" if command.by == "admin" else "MANUAL",
        record_time=record.time,
        command_id=command.command_id,
        command_kind=command.kind,
        changes=[change],
    )


async def _feature(command: MemoryCommand, services: Services) -> UserFeature | None:
    """The feature that a command means, as merging finds it."""
    features = await services.features.features(command.user_id)
    if command.feature_id is not None:
        return next((one for one in features if one.feature_id == command.feature_id), None)
    slot = command.slot or ""
    exact = next((one for one in features if one.slot == slot_of(slot)), None)
    return exact or next((one for one in features if subject_of(one.slot) == subject_of(slot)), None)


async def _conversation(command: MemoryCommand, services: Services) -> Conversation | None:
    assert command.conversation_id is not None
    return await services.store.conversation(command.conversation_id)


def _done(
    command: MemoryCommand, record: Record, *, removed: dict[str, int] | None = None, version: int | None = None
) -> CommandDone:
    """The same for every delivery, so that its time is the command's."""
    return CommandDone(
        user_id=command.user_id,
        command_id=command.command_id or "",
        kind=command.kind,
        conversation_id=command.conversation_id,
        removed=removed or {},
        version=version,
        time=record.time,
    )


def _refused(command: MemoryCommand, reason: str, record: Record, refusal: Refusal | None = None) -> CommandDone:
    return _done(command, record).model_copy(update={"status": "refused", "reason": reason, "refusal": refusal})
