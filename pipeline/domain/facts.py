"""What users say in plain words of themselves that lasts: likes, habits, where they live, how skilled they are."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

from pipeline.domain.changing import done_otherwise, shortened
from pipeline.domain.fact_clauses import Clause, clauses, finds, plain_of, sentences
from pipeline.domain.injected import without_injected
from pipeline.domain.landing import landed
from pipeline.domain.mentions import is_a_trade
from pipeline.domain.progress import goal_in
from pipeline.domain.quoting import own_words
from pipeline.domain.scripts import in_script_of
from pipeline.domain.slots import subject_of
from pipeline.domain.spelling import HAN
from pipeline.domain.stated import Stated, is_over, matches
from pipeline.domain.things import is_long, is_named, items_of, named, narrows, trimmed
from pipeline.domain.traits import kind_of, patterns
from pipeline.words import words
from schemas.features import MAX_CONTENT, MAX_SLOT, MAX_VALUE, FeatureChange, KnownFeature
from schemas.role import MAX_QUOTE

#: The most facts of one message, and how much of it is read.
MAX_FACTS = 8
_LONGEST = 6000
#: With what no habit ends that was cut short.
_AT_A_TIME = re.compile(r" (?:at|around|about|before|after|by|until|from) [^ ]*\d.*$")
#: What comes after a thing that is narrowed by it: milk without sugar, apples from my garden.
_BESIDE = re.compile(r"\s+(?:with|without|that|which|from|for|in)\s+")
_TRAILING = re.compile(r"(?: (?:to|by|the|an?|my|our|in|on|of|at|with|for|and|or|almost|nearly))+$")
#: The lists that stand in the patterns of the rules; the last ones tell what cannot be done.
_LISTS = (
    "diets",
    "traits",
    "age",
    "pets",
    "kin",
    "count",
    "number",
    "languages",
    "several",
    "unable",
    "using",
    "device",
)


def facts(text: str, earlier: Sequence[str] = (), known: Sequence[KnownFeature] = ()) -> list[FeatureChange]:
    """The lasting facts that a user says of themselves, at most eight; `earlier` tells what "it" may mean.

    A changed mind lands in the slot of what is `known`, or forgets it.
    """
    message = without_injected(text)[:_LONGEST]
    plain = plain_of(own_words(message))
    found: dict[str, FeatureChange] = {}
    for sentence, start in sentences(plain):
        if finds("scene", sentence):
            break
        if finds("supposed", sentence):
            continue
        last: list[FeatureChange] = []
        for clause in clauses(sentence, start, message, earlier, lambda clause: bool(_facts_of(clause, ()))):
            last = _narrowed(last, clause) or _facts_of(clause, known)
            found |= {
                subject: change for change in last if not _is_out((subject := subject_of(change.slot)), change, found)
            }
        if goal := _goal(sentence, start, message):
            found[subject_of(goal.slot)] = goal
        if len(found) >= MAX_FACTS:
            break
    return list(found.values())[:MAX_FACTS]


def _is_out(subject: str, change: FeatureChange, found: Mapping[str, FeatureChange]) -> bool:
    """Whether it says no more than that what has made room for something else is over."""
    return subject in found and found[subject].operation == "FORGET" and is_over(change)


def _narrowed(last: Sequence[FeatureChange], clause: Clause) -> list[FeatureChange]:
    """The one fact of the clause before, with which of its things a clause after it means: "but not sour ones"."""
    if len(last) != 1 or last[0].operation != "OBSERVE" or last[0].category == "PERSONAL_INFO":
        return []
    how, (change,) = narrows(clause.text, clause.language), last
    if not how:
        return []
    start = plain_of(clause.message).find(plain_of(change.quote))
    quote = clause.message[start : clause.start + len(clause.text)] if start >= 0 else change.quote
    comma, stop = ("，", "。") if clause.language == "zh" else (", ", ".")
    if clause.language == "zh":
        how = in_script_of((clause.message,), how)
    told = {"value": f"{change.value}{comma}{how}", "content": f"{change.content.rstrip(stop)}{comma}{how}{stop}"}
    return [change.model_copy(update={**told, "quote": " ".join(quote.split())[:MAX_QUOTE]})]


def _facts_of(clause: Clause, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    if otherwise := done_otherwise(clause, known):
        return otherwise
    found, slots = _by_rules(clause, known), {subject_of(one.slot) for one in known}
    if known and not _is_of(found, slots) and (shorter := shortened(clause)):
        changes = done_otherwise(shorter, known) or [
            one for one in _by_rules(shorter, known) if not _is_another_time(one, known)
        ]
        return changes if _is_of(changes, slots) else found
    return found


def _is_another_time(change: FeatureChange, known: Sequence[KnownFeature]) -> bool:
    """Whether it is a habit that is known, at a time that may be one more."""
    return change.category == "HABIT" and any(
        change.slot in change.value and one.category == "HABIT" and subject_of(one.slot) == subject_of(change.slot)
        for one in known
    )


def _is_of(changes: Sequence[FeatureChange], slots: Set[str]) -> bool:
    return any(subject_of(change.slot) in slots for change in changes)


def _by_rules(clause: Clause, known: Sequence[KnownFeature]) -> list[FeatureChange]:
    for rule, pattern in _rules(clause.language):
        match = pattern.match(clause.text)
        if match and _fits(rule, match, clause):
            made = [one for fact in _made(rule, match, clause) for one in landed(fact, known)]
            if made:
                return made
    return []


def _fits(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> bool:
    """Whether the clause speaks of the user, or goes on from one that does."""
    lacks = (
        "needs" in rule and not match[rule["needs"]],
        rule.get("mine") and not match["me"],
        rule.get("being") and not clause.is_being,
        rule.get("carried") and not clause.goes_on and not finds("mine", _around(clause)),
        rule.get("every_time") and not finds("every_time", clause.sentence),
        "then" in rule and not re.match(rule["then"], clause.rest, re.IGNORECASE),
        "beside" in rule and not re.search(rule["beside"], clause.sentence, re.IGNORECASE),
        match.groupdict().get("trade") and not is_a_trade(match["trade"]),
        rule.get("inability") and finds("trouble", plain_of(clause.message)),
    )
    return not any(lacks) and (clause.goes_on or not ("me" in match.groupdict() and match["me"] is None))


def _around(clause: Clause) -> str:
    """Where it may say that a clause is of the user: English says "for me" in a clause before."""
    return clause.text if clause.language == "zh" else clause.sentence


def _made(rule: Mapping[str, Any], match: re.Match[str], clause: Clause) -> Iterator[Stated]:
    language, fixed = clause.language, rule.get("slot", "")
    parts = {name: clause.written(*match.span(name)) for name, said in match.groupdict().items() if said}
    parts |= {
        "how": trimmed(parts.get("how", ""), language, tail_only=True),
        "old": trimmed(parts.get("old", ""), language),
    }
    is_fixed = fixed not in ("", "head", "activity", "counted", "kind") and "{what}" not in fixed
    for thing, turned in [(fixed, False)] if is_fixed else _things(rule, match, clause):
        if not thing:
            continue
        own = {**parts, "what": thing}
        if rule.get("inability"):
            own["verb"] = _deed(parts["verb"], thing, language)
        if "each" in rule:
            item = re.match(_filled(rule["each"], _lists(language)), plain_of(thing), re.IGNORECASE)
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
                lifts=rule.get("lifts", False),
            )


def _deed(verb: str, thing: str, language: str) -> str:
    """What cannot be done, in the word that stands for it: of sound, playing is hearing."""
    deeds, said = words("features")[language]["deeds"], verb.casefold()
    return str(deeds.get(f"{said} {thing.casefold()}") or deeds.get(said, verb))


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
        yield from ((thing, False) for thing, item in zip(own, items, strict=True) if not item.turned)
    elif rule.get("inability"):
        yield from ((trimmed(thing, clause.language), False) for thing in own)
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
    if opposite := lists["opposite"].get(value):
        return str(opposite)
    if base := next((base for base, said in lists["said"].items() if said == value), ""):
        return str(lists["negative"]).format(base)
    return value if re.match(lists["negated"], value) else ""


def _head(slot: str, fixed: str, language: str) -> str:
    """The thing that a longer name is about: "milk" of lactose-free milk; the deed of a habit, the kind of a trait."""
    lists = words("features")[language]
    if fixed == "kind":
        return kind_of(slot)
    if "{what}" in fixed:
        return fixed.format(what=slot)
    thing = _BESIDE.split(_AT_A_TIME.sub("", slot))[0]
    if fixed == "head" and language == "en" and thing == thing.casefold() and not re.search(r"ing\b", slot):
        return thing.rsplit(maxsplit=1)[-1]
    if fixed == "counted":
        slot = re.sub(_filled(lists["counted"], lists), "", slot, count=1, flags=re.IGNORECASE)
    if fixed in ("activity", "counted") and language == "en":
        return _TRAILING.sub("", " ".join(slot.split()[:4]))
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
    value = _place(_bare(value), lists) if slot in ("city", "城市") else value
    slot, value = slot.strip(" ,，.。")[:MAX_SLOT], value.strip(" ,，.。")[:MAX_VALUE]
    if not slot or not value or not is_named(slot) or finds("masked", f"{slot} {value}"):
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


def _bare(place: str) -> str:
    """A place without the address in it that is masked."""
    return re.split(words("features")["masked"], place)[0]


def _place(name: str, lists: Mapping[str, Any]) -> str:
    """The place without what is said beside it; empty where it is none that somebody lives in."""
    name = re.sub(lists["place_end"], "", name, flags=re.IGNORECASE).strip()
    kinds = (*words("changing")["families"], *(kind["things"] for kind in words("features_slots")["rivals"]))
    is_place = not re.search(lists["no_place"], plain_of(name), re.IGNORECASE)
    return name if is_place and not any(matches(kind, name) for kind in kinds) else ""


def _goal(sentence: str, start: int, message: str) -> FeatureChange | None:
    """What the user wants to reach, where the sentence says so."""
    goal = goal_in(sentence)
    if goal is None or finds("passing", sentence) or sentence.rstrip().endswith(("?", "？")):
        return None
    at = sentence.find(goal.text)
    said = message[start + at : start + at + len(goal.text)] if at >= 0 else goal.text
    rule = {"slot": "target", "value": "{how}", "category": "OTHER"}
    return _change(rule, "target", said, {}, Clause(said, 0, said, (), goes_on=False))


@cache
def _aside(language: str) -> re.Pattern[str]:
    return re.compile(words("features")[language]["aside"], re.IGNORECASE)


@cache
def _rules(language: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    lists, changing = _lists(language), words("changing")[language]
    space = r"\s*" if language == "en" else ""
    before = f"{lists['lead']}(?:(?P<me>{lists['me']}){space})?{lists['adverbs']}"
    compiled = [(rule, _compiled(before + rule["pattern"], lists)) for rule in lists["rules"]]
    free = [(rule, _compiled(lists["lead"] + rule["pattern"], lists)) for rule in lists["free"]]
    when = changing.get("times", "")
    first = [(rule, _compiled(before + when + rule["pattern"], lists)) for rule in changing["first"]]
    last = [(rule, _compiled(before + when + rule["pattern"], lists)) for rule in changing["last"]]
    last_free = [(rule, _compiled(lists["lead"] + rule["pattern"], lists)) for rule in changing["free"]]
    return (*first, *free, *compiled, *last_free, *last)


def _compiled(pattern: str, lists: Mapping[str, Any]) -> re.Pattern[str]:
    """The pattern with its lists in it; "im" and "dont" are read as well."""
    pattern = _filled(pattern, lists)
    for contracted in ("'m", "'ve", "n't"):
        pattern = pattern.replace(contracted, contracted.replace("'", "'?"))
    return re.compile(pattern, re.IGNORECASE)


def _lists(language: str) -> Mapping[str, Any]:
    return {**words("features")[language], "traits": patterns(language)}


def _filled(pattern: str, lists: Mapping[str, Any]) -> str:
    for name in _LISTS:
        pattern = pattern.replace("{" + name + "}", f"(?:{lists.get(name, '(?!)')})")
    return pattern.replace("{HAN}", HAN)
