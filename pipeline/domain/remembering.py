"""What a user plainly asks to be remembered or forgotten, and text that plants what a memory is to hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pipeline.domain.answering import ended_in, meant_in
from pipeline.domain.fact_clauses import finds
from pipeline.domain.facts import MAX_FACTS, facts
from pipeline.domain.injected import without_injected
from pipeline.domain.mentions import is_a_role
from pipeline.domain.quoting import Span, ground_of
from pipeline.domain.slots import EVERYTHING, subject_of
from pipeline.domain.spelling import has_han, simplified
from pipeline.domain.things import is_named
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange
from schemas.role import MAX_NAME, MAX_QUOTE

_LONGEST = 6000
_LONGEST_SENTENCE = 500
_SENTENCE = re.compile(r"[^!?。！？\n.]*(?:\.(?!\s|$)[^!?。！？\n.]*)*(?:[!?。！？\n]+|\.(?=\s|$)|$)")
_CLAUSE_END = re.compile(r"[,;，；–—]")
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”|「[^」]*」|『[^』]*』", re.DOTALL)


@dataclass(frozen=True)
class Unwished:
    """A wish to forget something of who the user is, or not to remember it."""

    roles: tuple[str, ...]
    """Those that the word lists know; a model may see others in the wish."""
    quote: str
    place: Span


def wishes(text: str) -> list[FeatureChange]:
    """What the message asks to be remembered or forgotten, in its order; what is planted or quoted asks nothing."""
    found: dict[tuple[str, str], FeatureChange] = {}
    is_played = False
    for sentence, quote, _ in _own_sentences(without_injected(text)[:_LONGEST]):
        is_played = is_played or finds("scene", _plain(sentence))
        if not is_planted(quote):
            changes = _forgotten(sentence, quote) or _kept(sentence, quote)
            for change in changes or ([] if is_played else _of_answers(sentence, quote)):
                found[change.operation, subject_of(change.slot)] = change
    return list(found.values())[:MAX_FACTS]


def unwished(text: str) -> list[Unwished]:
    """The wishes to forget that speak of the user, with the roles that they name; what is planted asks nothing."""
    found = []
    for sentence, quote, start in _own_sentences(text[:_LONGEST]):
        match = _match("forget", sentence)
        if match and _whole("of_me").search(match["words"]) and _forgotten(sentence, quote) and not is_planted(quote):
            roles = tuple(role for role in _roles_in(sentence[slice(*match.span("words"))]) if is_a_role(role))
            found.append(Unwished(roles, quote, (start, start + match.end("words"))))
    return found


def forgets_who(change: FeatureChange) -> bool:
    """Whether a wish means all that the user is: "forget my job", or everything."""
    is_wish = change.operation == "FORGET"
    return is_wish and (change.slot == EVERYTHING or _whole("who").fullmatch(_plain(change.slot)) is not None)


def _roles_in(said: str) -> Iterator[str]:
    """What the words say the user to be."""
    begin = _whole("being").search(_plain(said))
    rest = said[begin.end() :] if begin else ""
    for match in _whole("roles").finditer(_plain(rest)):
        yield rest[slice(*match.span("role" if match["role"] else "zh_role"))].strip()[:MAX_NAME]


def outside_wishes(text: str) -> str:
    """The text without what it asks to be remembered or forgotten: how to answer is asked for outside of that.

    A wish to remember that is itself about answers stays.
    """
    letters = list(text)
    for match in _SENTENCE.finditer(text, 0, min(len(text), _LONGEST)):
        sentence = match.group().strip()
        if not sentence or len(sentence) > _LONGEST_SENTENCE:
            continue
        kept = _said("keep", sentence) and not _whole("about_answers").search(_plain(sentence))
        if _forgotten(sentence, sentence) or (kept and wishes(sentence)):
            letters[slice(*match.span())] = " " * len(match.group())
    return "".join(letters)


def is_planted(text: str) -> bool:
    """Whether the text tells a memory what to hold in another's name: a system's, a tool's, or of "the user"."""
    plain = _plain(text[:_LONGEST])
    if _finds("poses", plain) and _finds("orders", plain):
        return True
    own = without_injected(plain)
    if own != plain and _finds("keeps_it", own):
        return True
    outside = _QUOTED.sub(" ", own)
    return any(
        pattern.search(sentence) and not _asks_about(sentence)
        for sentence in re.split(r"[。！!?？\n]|\.(?=\s)", outside)
        for pattern in _planted()
    )


def _asks_about(sentence: str) -> bool:
    return _finds("about", sentence)


def _own_sentences(text: str) -> Iterator[tuple[str, str, int]]:
    """The sentences without what is quoted or code, as they were written, and where they begin."""
    # "Remember: I …" names no speaker, and "Don't remember that." ends the sentence before it.
    ground = ground_of(_whole("looks_back").sub(",", _whole("before_colon").sub(r"\1–", text)))
    letters = list(ground.text)
    for start, end in (*ground.quoted, *ground.code):
        letters[start:end] = " " * (end - start)
    for match in _SENTENCE.finditer("".join(letters)):
        if match.group().strip() and len(match.group()) <= _LONGEST_SENTENCE:
            start = match.end() - len(match.group().lstrip())
            yield match.group().strip(), " ".join(text[slice(*match.span())].split())[:MAX_QUOTE], start


def _kept(sentence: str, quote: str) -> list[FeatureChange]:
    plain = _plain(sentence)
    said = _said("keep", sentence)
    if quote.endswith(("?", "？")) and not _whole("requests").search(plain):
        return []
    if not said or _whole("asks").search(plain) or _whole("not_kept").search(_plain(said)):
        return []
    if _whole("tasks").search(_plain(said)) or _whole("other").search(_plain(said)):
        return []
    known = [change.model_copy(update={"quote": quote}) for change in facts(said) if change.operation == "OBSERVE"]
    found = known or ([] if _is_role(said) else _note(said, quote))
    return [change for change in found if not finds("masked", f"{change.slot} {change.value} {change.content}")]


def _is_role(said: str) -> bool:
    """Whether it says no more than what somebody does or is, which the memory of roles learns."""
    match = re.search(words("remembering")["note"]["role"], _plain(said), re.IGNORECASE)
    return match is not None and is_a_role(match["role"] or match["zh_role"] or "")


def _note(said: str, quote: str) -> list[FeatureChange]:
    """A wish that is no fact of a known kind, by the words it begins with."""
    note = words("remembering")["note"]
    match = re.match(note["zh_subject" if has_han(said) else "subject"], _plain(said), re.IGNORECASE)
    if match and not re.fullmatch(note["nobody"], match["slot"], re.IGNORECASE):
        slot, value = (said[slice(*match.span(part))] for part in ("slot", "value"))
    else:
        begin = re.match(note["begins"], _plain(said), re.IGNORECASE)
        value = said[begin.end() :] if begin else said
        slot = _slot_of_habit(said) or _named_in(value)
    slot, value = slot.strip(" ,，.。'")[:MAX_SLOT], value.strip(" ,，.。")[:MAX_VALUE]
    if not value or not is_named(slot):
        return []
    return [FeatureChange(slot=slot, value=value, content=said[:MAX_CONTENT], category="OTHER", quote=quote)]


def _slot_of_habit(said: str) -> str:
    """The slot that it has as a habit, which plain words may have told before; empty where it is none."""
    note = words("remembering")["note"]
    if not (me := _compiled(note["mine"]).match(said)):
        return ""
    habit = note["zh_habit" if has_han(me["me"]) else "habit"]
    slots = [one.slot for one in facts(f"{me['me']}{habit}{said[me.end() :]}") if one.category == "HABIT"]
    return slots[0] if len(slots) == 1 else ""


def _named_in(value: str) -> str:
    """What a note is about: what it says that is mine, or stands after its verb; else its words from there."""
    note, plain = words("remembering")["note"], _plain(value)
    for pattern in note["zh_named" if has_han(value) else "named"]:
        match = re.search(pattern, plain, re.IGNORECASE)
        if match and is_named(slot := value[slice(*match.span("slot"))]):
            return slot
    return ""


def _forgotten(sentence: str, quote: str) -> list[FeatureChange]:
    said, plain = _said("forget", sentence), _plain(sentence)
    is_order = not quote.endswith(("?", "？")) and _whole("forget_orders").match(plain)
    asks = _whole("asks").search(plain) and not (is_order or _whole("forget_asked").match(plain))
    if not said or asks or _whole("not_forgotten").search(_plain(said)) or _is_passed_over(sentence):
        return []
    if _whole("everything").search(_plain(said)):
        return [FeatureChange(operation="FORGET", slot=EVERYTHING, quote=quote)]
    end = _whole("forget_ends").search(_plain(said))
    meant = said[: end.start()] if end else said
    begin = _whole("forget_begins").match(_plain(meant))
    meant = (meant[begin.end() :] if begin else meant).strip(" ,，.。:：")[:MAX_SLOT]
    if not meant:
        return []
    return [FeatureChange(operation="FORGET", slot=slot, quote=quote) for slot in (meant, *meant_in(meant))]


def _is_passed_over(sentence: str) -> bool:
    """Whether another thing comes in the place of what is to be forgotten: "forget the guitar, try drums"."""
    if (match := _match("forget", sentence)) is None:
        return False
    said, *rest = _CLAUSE_END.split(sentence[match.start("words") :])
    if _whole("forget_mine").search(_plain(said)) and not sentence.endswith(("?", "？")):
        return False
    return not all(
        _whole("forget_beside").match(_plain(clause)) or _said("forget", clause) or _said("keep", clause)
        for clause in rest
    )


def _of_answers(sentence: str, quote: str) -> list[FeatureChange]:
    """What is over of how answers should be, and what always holds of them that is no preference of its own."""
    if quote.endswith(("?", "？")) and not _whole("requests").search(_plain(sentence)):
        return []
    always = _standing(sentence, quote)
    gone = [over.slot for over in ended_in(sentence)]
    for rival in (rival for one in always for rival in _rivals(one.slot)):
        gone.append(words("remembering")["always"]["zh_gone" if has_han(rival) else "gone"].format(rival))
    return [*always, *(FeatureChange(operation="FORGET", slot=slot[:MAX_SLOT], quote=quote) for slot in gone)]


def _standing(sentence: str, quote: str) -> list[FeatureChange]:
    """The language or the units of the answers, from now on."""
    always = words("remembering")["always"]
    if not finds("every_time", _plain(sentence)):
        return []
    found = facts(sentence)
    if use := _compiled(always["use"]).search(_plain(sentence)):
        found += [*facts(f"always use {use['words']}"), *facts(f"always answer in {use['words']}")]
    if speak := _compiled(always["zh_speak"]).search(_plain(sentence).rstrip("。！!. ")):
        found += facts(f"以后都用{speak['what']}回答")
    if use := _compiled(always["zh_use"]).search(_plain(sentence)):
        told = {part: always[f"zh_{part}"].format(use["what"]) for part in ("slot", "value", "content")}
        found.append(FeatureChange(category="PREFERENCE", **told))
    of_answers = [one for one in found if _compiled(always["in_answers"]).search(f"{one.slot}: {one.value}")]
    return [one.model_copy(update={"quote": quote}) for one in {one.slot: one for one in of_answers}.values()]


def _rivals(slot: str) -> list[str]:
    """What answers cannot hold beside: the metric and the imperial units."""
    always, subject = words("remembering")["always"], subject_of(slot)
    for rivals in always["rivals"]:
        if own := next((side for side in rivals if any(name in subject for name in side)), None):
            return [name for side in rivals if side is not own for name in side]
    return []


def _said(kind: str, sentence: str) -> str:
    """What the sentence asks to be kept or forgotten, as it was written; empty where it does not."""
    match = _match(kind, sentence)
    return sentence[slice(*match.span("words"))].strip(" .!。！?？") if match else ""


def _match(kind: str, sentence: str) -> re.Match[str] | None:
    plain = _plain(sentence)
    return next((match for pattern in _wished(kind) if (match := pattern.search(plain))), None)


def _plain(text: str) -> str:
    return simplified(text).replace("’", "'")


def _finds(kind: str, text: str) -> bool:
    return _sign(kind).search(text) is not None


@cache
def _sign(kind: str) -> re.Pattern[str]:
    return re.compile(words("remembering")["planted"][kind], re.IGNORECASE)


@cache
def _planted() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in words("remembering")["planted"]["plain"])


@cache
def _wished(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in words("remembering")[kind])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _whole(kind: str) -> re.Pattern[str]:
    return re.compile(words("remembering")[kind], re.IGNORECASE)
