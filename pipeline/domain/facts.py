"""What users say in plain words of themselves that lasts: likes, habits, where they live, how skilled they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipeline.domain.injected import without_injected
from pipeline.domain.landing import Stated, landed
from pipeline.domain.progress import goal_in
from pipeline.domain.quoting import own_words
from pipeline.domain.scripts import in_script_of
from pipeline.domain.slots import subject_of
from pipeline.domain.spelling import has_han, simplified
from pipeline.domain.things import ends_list, is_long, is_named, is_turned, items_of, lists_on, named, trimmed
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature
from schemas.role import MAX_QUOTE

#: The most facts of one message, and how much of it is read.
MAX_FACTS = 8
_LONGEST = 6000
_LONGEST_CLAUSE = 200
#: How far back in its own message an "it" looks.
_SIGHT = 200
#: The lists that stand in the patterns of the rules; the last ones tell what cannot be done.
_LISTS = ("diets", "traits", "pets", "kin", "number", "languages", "several", "unable", "using", "device")
_ENDS = " .!?。！？\n"
#: A clause of no more characters than this may be nothing but "just this time".
_LONGEST_ADVERB = {"en": 24, "zh": 6}
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:\.(?!\s|$)[^.!?。！？\n]*)*(?:[!?。！？\n]+|\.(?=\s|$)|$)")


@dataclass(frozen=True)
class Clause:
    """A piece of a sentence, read with simplified characters, and where it stands in the message."""

    text: str
    start: int
    message: str
    """As it was written."""
    before: Sequence[str]
    """What was said before, oldest first: the messages, and the beginning of this one."""
    goes_on: bool
    """Another clause of its sentence, before it, speaks of the user."""
    sentence: str = ""
    more: str = ""
    """The clauses right after it, where they go on with its list: ", coffee and milk"."""

    @property
    def language(self) -> str:
        return "zh" if has_han(self.text) else "en"

    def written(self, start: int, end: int) -> str:
        return self.message[self.start + start : self.start + end].strip()

    @property
    def quote(self) -> str:
        return " ".join(self.written(0, len(self.text + self.more)).split())[:MAX_QUOTE]


def facts(text: str, earlier: Sequence[str] = (), known: Sequence[KnownFeature] = ()) -> list[FeatureChange]:
    """The lasting facts that a user says of themselves, at most eight; `earlier` tells what "it" may mean.

    A changed mind lands in the slot of what is `known`, or forgets it.
    """
    message = without_injected(text)[:_LONGEST]
    plain = _plain(own_words(message))
    found: dict[str, FeatureChange] = {}
    for sentence, start in _sentences(plain):
        if _finds("scene", sentence):
            break
        if _finds("supposed", sentence):
            continue
        for clause in _clauses(sentence, start, message, earlier):
            for change in _facts_of(clause, known):
                found[subject_of(change.slot)] = change
        if goal := _goal(sentence, start, message):
            found[subject_of(goal.slot)] = goal
        if len(found) >= MAX_FACTS:
            break
    return list(found.values())[:MAX_FACTS]


def _plain(text: str) -> str:
    return simplified(text).replace("’", "'")


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    for match in _SENTENCE.finditer(text):
        if match.group().strip():
            yield match.group(), match.start()


def _clauses(sentence: str, start: int, message: str, earlier: Sequence[str]) -> Iterator[Clause]:
    """The clauses that may say something of the user that lasts, each with the rest of its list."""
    pieces = _pieces(sentence)
    question, mine, at = sentence.rstrip().endswith(("?", "？")), False, 0
    while at < len(pieces):
        first, stop = pieces[at]
        after = _after_list(sentence, pieces, at)
        end = pieces[after - 1][1]
        text = sentence[first:stop].rstrip(_ENDS)
        more = sentence[stop:end].rstrip(_ENDS) if after > at + 1 else ""
        asks = _finds("asked", text) or (question and after == len(pieces))
        if text.strip() and len(text) <= _LONGEST_CLAUSE and not asks and not _is_passing(sentence, pieces, at, after):
            here = start + first
            before = [*earlier, message[max(here - _SIGHT, 0) : here]]
            yield Clause(text, here, message, before, goes_on=mine, sentence=sentence, more=more)
        mine = mine or _speaks(text)
        at = after


def _pieces(sentence: str) -> list[tuple[int, int]]:
    """Where the clauses stand."""
    found, at = [], 0
    for end in _pattern("clause_end").finditer(sentence):
        found.append((at, end.start()))
        at = end.end()
    return [piece for piece in (*found, (at, len(sentence))) if sentence[slice(*piece)].strip()]


def _after_list(sentence: str, pieces: Sequence[tuple[int, int]], at: int) -> int:
    """The first clause after those that go on with a list: ", coffee and milk"; a lone ", thanks" is none."""
    language = "zh" if has_han(sentence) else "en"
    after, closed, is_more = at + 1, False, False
    while after < len(pieces):
        start, stop = pieces[after]
        text, between = sentence[start:stop].rstrip(_ENDS), sentence[pieces[after - 1][1] : start].strip()
        is_no = is_turned(text, language)
        if between not in ("", ",", "，", "、") or not (between or is_no) or not lists_on(text, language):
            break
        if _facts_of(Clause(text, 0, text, (), goes_on=True), ()):
            break
        closed, is_more = closed or is_no or ends_list(text, language), True
        after += 1
    is_whole = after == len(pieces) and after - at > 2
    is_followed = after < len(pieces) and ends_list(sentence[slice(*pieces[after])], language)
    return after if is_more and (closed or is_whole or is_followed) else at + 1


def _is_passing(sentence: str, pieces: Sequence[tuple[int, int]], at: int, after: int) -> bool:
    """Whether it is said of this time alone, there or in a "just this once" beside it."""
    if _finds("passing", sentence[pieces[at][0] : pieces[after - 1][1]]):
        return True
    beside = [*([pieces[0]] if at == 1 else []), *pieces[after : after + 1]]
    return any(is_moment(sentence[slice(*piece)]) for piece in beside)


def is_moment(clause: str) -> bool:
    """Whether a clause says no more than "just this once"."""
    text = _plain(clause).strip()
    is_short = len(text) <= _LONGEST_ADVERB["zh" if has_han(text) else "en"]
    return is_short and _finds("passing", text) and not _finds("writer", text)


def is_wish_of_now(clause: str) -> bool:
    """Whether a clause asks for something once: "I'll have plain milk", 想吃辣的."""
    return _finds("wished", _plain(clause)) and not _finds("regular", _plain(clause))


def _speaks(text: str) -> bool:
    lists = words("features")
    return any(re.match(lists[kind]["lead"] + lists[kind]["me"], text, re.IGNORECASE) for kind in ("en", "zh"))


def _facts_of(clause: Clause, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    for rule, pattern in _rules(clause.language):
        match = pattern.match(clause.text)
        if match and _fits(rule, match, clause):
            made = [one for fact in _made(rule, match, clause) for one in landed(fact, known)]
            if made:
                return made
    return []


def _fits(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> bool:
    """Whether the clause speaks of the user, or goes on from one that does."""
    if "needs" in rule and not match[rule["needs"]]:
        return False
    if rule.get("carried") and not clause.goes_on and "我" not in clause.text:
        return False
    if rule.get("every_time") and not _finds("every_time", clause.sentence):
        return False
    if rule.get("inability") and _finds("trouble", _plain(clause.message)):
        return False
    return clause.goes_on or not ("me" in match.groupdict() and match["me"] is None)


def _made(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> Iterator[Stated]:
    language, fixed = clause.language, rule.get("slot", "")
    parts = {name: clause.written(*match.span(name)) for name, said in match.groupdict().items() if said}
    if rule.get("inability"):
        parts["verb"] = words("features")[language]["deeds"].get(parts["verb"].casefold(), parts["verb"])
    parts |= {
        "how": trimmed(parts.get("how", ""), language, tail_only=True),
        "old": trimmed(parts.get("old", ""), language),
    }
    is_fixed = fixed not in ("", "head", "activity")
    for thing, turned in [(fixed, False)] if is_fixed else _things(rule, match, clause):
        if not thing:
            continue
        own = {**parts, "what": thing}
        if "each" in rule:
            item = re.match(_filled(rule["each"], words("features")[language]), _plain(thing), re.IGNORECASE)
            if not item:
                continue
            own |= {name: thing[slice(*item.span(name))] for name in ("how", "what")}
        slot = _head(own["what"] if "each" in rule else thing, fixed, language)
        value = _value(rule["value"], own | {"slot": slot}, language)
        if turned:
            value = _turned(value, language)
        if change := _change(rule, slot, value, own, clause, turned=turned):
            yield Stated(
                change,
                thing,
                full=_value(rule["value"], own | {"slot": ""}, language),
                old=own["old"],
                is_switch=rule.get("switch", False),
                is_again=rule.get("again", False),
                only_known=rule.get("known", False),
            )


def _things(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> Iterator[tuple[str, bool]]:
    """The things of the clause's list, and of the clauses that go on with it, and which of them are turned."""
    start, end = match.span("what")
    if aside := _aside(clause.language).search(clause.text[start:end]):
        start, end = (start, start + aside.start()) if aside.start() else (start + aside.end(), end)
    if re.fullmatch(words("features")[clause.language]["ends"], clause.text[end:], re.IGNORECASE):
        end = len(clause.text)
    goes_on = end == len(clause.text) and rule.get("slot") != "activity"
    text = clause.text[start:end] + (clause.more if goes_on else "")
    items = list(items_of(text, clause.language))
    own = [clause.written(start + item.start, start + item.end) for item in items]
    if "each" in rule:
        yield from ((thing, False) for thing in own)
    elif start == end and rule.get("it"):
        yield named("", clause.language, clause.before), False
    elif not any(is_long(thing, clause.language) for thing in own):
        yield from (
            (named(thing, clause.language, clause.before), item.turned) for thing, item in zip(own, items, strict=True)
        )
    elif own:
        yield named(own[0], clause.language, clause.before), items[0].turned


def _turned(value: str, language: str) -> str:
    """The value of what stands after a "not"; empty where none can be told."""
    lists = words("features")[language]
    if base := next((base for base, said in lists["said"].items() if said == value), ""):
        return str(lists["negative"]).format(base)
    return str(lists["opposite"].get(value, value if re.match(lists["negated"], value) else ""))


def _head(slot: str, fixed: str, language: str) -> str:
    """The thing that a longer name is about: "milk" of lactose-free milk; the deed of a habit."""
    if fixed == "head" and language == "en" and slot == slot.casefold() and not re.search(r"ing\b", slot):
        return slot.rsplit(maxsplit=1)[-1]
    if fixed == "activity" and language == "en":
        return " ".join(slot.split()[:4])
    return slot


def _value(form: str, parts: Mapping[str, str], language: str) -> str:
    """The value in its form; a slot that is the whole thing is not said again in it."""
    if parts["slot"] == parts["what"] and form.startswith(("{verb}", "{how}")):
        form = form.replace("{what}", "")
    return " ".join(form.format(**_said(parts, language)).split())


def _said(parts: Mapping[str, str], language: str) -> dict[str, str]:
    said: Mapping[str, str] = words("features")[language]["said"]
    verb = parts.get("verb", "").casefold()
    return {"old": "", "act": "", "value": "", **parts, "verb": said.get(verb, verb), "base": verb}


def _change(
    rule: Mapping[str, Any], slot: str, value: str, parts: Mapping[str, str], clause: Clause, *, turned: bool = False
) -> FeatureChange | None:
    lists = words("features")[clause.language]
    slot, value = slot.strip(" ,，.。")[:MAX_SLOT], value.strip(" ,，.。")[:MAX_VALUE]
    if not slot or not value or not is_named(slot):
        return None
    told = "content_of_value" if "slot" in rule or "{how}" in rule["value"] else "content"
    if slot in value:
        told = "content_of_deed"
    said = _said(parts, clause.language) | {"slot": lists["labels"].get(slot, slot), "value": value}
    content = rule.get("turned_content" if turned else "content", lists[told]).format(**said)
    if clause.language == "zh":
        slot, value, content = (in_script_of((clause.message,), part) for part in (slot, value, content))
    return FeatureChange(
        slot=slot,
        value=value,
        content=content[:MAX_CONTENT],
        category=rule["category"],
        quote=clause.quote,
    )


def _goal(sentence: str, start: int, message: str) -> FeatureChange | None:
    """What the user wants to reach, where the sentence says so."""
    goal = goal_in(sentence)
    if goal is None or _finds("passing", sentence) or sentence.rstrip().endswith(("?", "？")):
        return None
    at = sentence.find(goal.text)
    said = message[start + at : start + at + len(goal.text)] if at >= 0 else goal.text
    rule = {"slot": "target", "value": "{how}", "category": "OTHER"}
    return _change(rule, "target", said, {}, Clause(said, 0, said, (), goes_on=False))


def _finds(kind: str, text: str) -> bool:
    return _pattern(kind).search(text) is not None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(words("features")[kind], re.IGNORECASE)


@cache
def _aside(language: str) -> re.Pattern[str]:
    return re.compile(words("features")[language]["aside"], re.IGNORECASE)


@cache
def _rules(language: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    lists = words("features")[language]
    space = r"\s*" if language == "en" else ""
    before = f"{lists['lead']}(?:(?P<me>{lists['me']}){space})?{lists['adverbs']}"
    compiled = [(rule, _compiled(before + rule["pattern"], lists)) for rule in lists["rules"]]
    free = [(rule, _compiled(lists["lead"] + rule["pattern"], lists)) for rule in lists["free"]]
    return (*free, *compiled)


def _compiled(pattern: str, lists: Mapping[str, Any]) -> re.Pattern[str]:
    """The pattern with its lists in it; "im" and "dont" are read as well."""
    pattern = _filled(pattern, lists)
    for contracted in ("'m", "'ve", "n't"):
        pattern = pattern.replace(contracted, contracted.replace("'", "'?"))
    return re.compile(pattern, re.IGNORECASE)


def _filled(pattern: str, lists: Mapping[str, Any]) -> str:
    for name in _LISTS:
        pattern = pattern.replace("{" + name + "}", f"(?:{lists.get(name, '(?!)')})")
    return pattern
