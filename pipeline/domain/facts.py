"""What users say in plain words of themselves that lasts: likes, habits, where they live, how skilled they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipeline.domain.injected import without_injected
from pipeline.domain.progress import goal_in
from pipeline.domain.quoting import own_words
from pipeline.domain.scripts import in_script_of
from pipeline.domain.slots import subject_of
from pipeline.domain.spelling import HAN, has_han, simplified
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange
from schemas.role import MAX_QUOTE

#: The most facts of one message, and how much of it is read.
MAX_FACTS = 8
_LONGEST = 6000
_LONGEST_CLAUSE = 200
_MOST_WORDS, _MOST_HAN = 6, 14
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:\.(?!\s|$)[^.!?。！？\n]*)*(?:[!?。！？\n]+|\.(?=\s|$)|$)")
_ALSO = re.compile(rf"\s*(?:、|,|，|\band\b|\bor\b|&|(?<=[{HAN}])[和与跟](?=[{HAN}]))\s*", re.IGNORECASE)


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

    @property
    def language(self) -> str:
        return "zh" if has_han(self.text) else "en"

    def written(self, start: int, end: int) -> str:
        return self.message[self.start + start : self.start + end].strip()

    @property
    def quote(self) -> str:
        return " ".join(self.written(0, len(self.text)).split())[:MAX_QUOTE]


def facts(text: str, earlier: Sequence[str] = ()) -> list[FeatureChange]:
    """The lasting facts that a user says of themselves, at most eight; `earlier` tells what "it" may mean.

    What somebody switched from is forgotten beside.
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
            for change in _facts_of(clause):
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
    """The clauses that may say something of the user that lasts."""
    at, mine = 0, False
    question = sentence.rstrip().endswith(("?", "？"))
    for end in (*_pattern("clause_end").finditer(sentence), None):
        stop = end.start() if end else len(sentence)
        text = sentence[at:stop].rstrip(" .!?。！？\n")
        asks = _finds("asked", text) or (question and end is None)
        if text.strip() and len(text) <= _LONGEST_CLAUSE and not asks and not _finds("passing", text):
            yield Clause(text, start + at, message, [*earlier, _plain(message[: start + at])], goes_on=mine)
        mine = mine or _speaks(text)
        at = end.end() if end else stop


def _speaks(text: str) -> bool:
    lists = words("features")
    return any(re.match(lists[kind]["lead"] + lists[kind]["me"], text, re.IGNORECASE) for kind in ("en", "zh"))


def _facts_of(clause: Clause) -> list[FeatureChange]:
    for rule, pattern in _rules(clause.language):
        match = pattern.match(clause.text)
        if match and _fits(rule, match, clause) and (made := list(_made(rule, match, clause))):
            return made
    return []


def _fits(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> bool:
    """Whether the clause speaks of the user, or goes on from one that does."""
    if "needs" in rule and not match[rule["needs"]]:
        return False
    if rule.get("carried") and not clause.goes_on and "我" not in clause.text:
        return False
    return clause.goes_on or not ("me" in match.groupdict() and match["me"] is None)


def _made(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> Iterator[FeatureChange]:
    language, fixed = clause.language, rule.get("slot", "")
    parts = {name: clause.written(*match.span(name)) for name, said in match.groupdict().items() if said}
    for number in ("", "2"):
        what = parts.get(f"what{number}", "")
        if number and not what:
            continue
        how = _trimmed(parts.get(f"how{number}", ""), language, tail_only=True)
        named = [fixed] if fixed and fixed not in ("head", "activity") else _things(what, clause)
        for thing in named:
            value = _value(rule["value"], parts | {"how": how, "what": thing}, language)
            if change := _change(rule, _head(thing, fixed, language), value, clause.quote, clause.message):
                yield change
    if old := _trimmed(parts.get("old", ""), language):
        yield FeatureChange(operation="FORGET", slot=old[:MAX_SLOT], quote=clause.quote)


def _head(slot: str, fixed: str, language: str) -> str:
    """The thing that a longer name is about: "milk" of lactose-free milk; the deed of a habit."""
    if fixed == "head" and language == "en":
        return slot.rsplit(maxsplit=1)[-1]
    if fixed == "activity" and language == "en":
        return " ".join(slot.split()[:4])
    return slot


def _value(form: str, parts: Mapping[str, str], language: str) -> str:
    said: Mapping[str, str] = words("features")[language]["said"]
    verb = parts.get("verb", "").casefold()
    filled = {"old": "", "act": "", "value": "", **parts, "verb": said.get(verb, verb), "base": verb}
    return " ".join(form.format(**filled).split())


def _change(rule: Mapping[str, Any], slot: str, value: str, quote: str, message: str) -> FeatureChange | None:
    language = "zh" if has_han(quote) else "en"
    lists = words("features")[language]
    slot, value = slot.strip(" ,，.。")[:MAX_SLOT], value.strip(" ,，.。")[:MAX_VALUE]
    if not slot or not value:
        return None
    told = "content_of_value" if "slot" in rule or "{how}" in rule["value"] else "content"
    if slot in value:
        told = "content_of_deed"
    content = rule.get("content", lists[told]).format(slot=slot, value=value)
    if language == "zh":
        slot, value, content = (in_script_of((message,), part) for part in (slot, value, content))
    return FeatureChange(
        slot=slot,
        value=value,
        content=content[:MAX_CONTENT],
        category=rule["category"],
        quote=quote,
    )


def _things(what: str, clause: Clause) -> Iterator[str]:
    """The things of a list, without what is no part of them; "it" is the thing that was spoken of last."""
    language, lists = clause.language, words("features")[clause.language]
    parts = _ALSO.split(what)
    short = language == "zh" or all(len(part.split()) <= _MOST_WORDS for part in parts)
    for part in parts if short else parts[:1]:
        thing = _trimmed(part, language)
        if re.search(lists["pronoun"], _plain(thing), re.IGNORECASE):
            thing = _spoken_of(clause.before, language)
        too_long = len(thing) > _MOST_HAN if language == "zh" else len(thing.split()) > _MOST_WORDS
        if thing and not too_long and not re.search(lists["no_thing"], _plain(thing), re.IGNORECASE):
            yield thing


def _spoken_of(before: Sequence[str], language: str) -> str:
    """What a clause or a message before was about, the newest first; empty where none tells."""
    for text in reversed(before):
        for clause in reversed(re.split(r"[,.;!?，。；！？\n]|\bbut\b|但是?|不过", text)):
            for pattern in words("features")[language]["spoken_of"]:
                match = re.search(pattern, clause.strip(), re.IGNORECASE)
                if match and not re.search(rf"(?:{words('features')[language]['kin']})$", match["what"], re.IGNORECASE):
                    return _trimmed(match["what"], language)
    return ""


def _trimmed(text: str, language: str, *, tail_only: bool = False) -> str:
    lists = words("features")[language]
    text, before = text.strip(" ,，.。!！"), ""
    while text != before:
        before = text
        if not tail_only:
            text = re.sub(lists["begins"], "", text, flags=re.IGNORECASE)
        text = re.sub(lists["ends"], "", text, flags=re.IGNORECASE).strip(" ,，.。!！")
    return text


def _goal(sentence: str, start: int, message: str) -> FeatureChange | None:
    """What the user wants to reach, where the sentence says so."""
    goal = goal_in(sentence)
    if goal is None or _finds("passing", sentence) or sentence.rstrip().endswith(("?", "？")):
        return None
    at = sentence.find(goal.text)
    said = message[start + at : start + at + len(goal.text)] if at >= 0 else goal.text
    rule = {"slot": "target", "value": "{how}", "category": "OTHER"}
    return _change(rule, "target", said, " ".join(said.split())[:MAX_QUOTE], message)


def _finds(kind: str, text: str) -> bool:
    return _pattern(kind).search(text) is not None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(words("features")[kind], re.IGNORECASE)


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
    for name in ("diets", "traits", "pets", "kin", "number", "languages"):
        pattern = pattern.replace("{" + name + "}", f"(?:{lists.get(name, '(?!)')})")
    for contracted in ("'m", "'ve", "n't"):
        pattern = pattern.replace(contracted, contracted.replace("'", "'?"))
    return re.compile(pattern, re.IGNORECASE)
