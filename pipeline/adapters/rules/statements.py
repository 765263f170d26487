"""What a question says outright: who the user is, is not, was, or wants to become."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pipeline.adapters.rules.own_words import OwnWords, Span
from pipeline.adapters.rules.patterns import compiled, first, listed
from pipeline.adapters.rules.role_names import RoleName, chinese_role, english_role, latin_role
from pipeline.adapters.rules.topics import forms
from pipeline.domain.extraction import asks
from pipeline.domain.guards import clauses
from pipeline.words import words

Claimed = Literal["states", "denies", "past", "wishes"]
# Another role of a list: "a nurse and a mother", "not a lawyer, paralegal or recruiter".
_ALSO = re.compile(r"\s*(?:,\s*)?(?:(and|&|/|or|nor)\b(?: also| i.?m| i am)?(?= )|(?<=,)(?= ?\w))", re.IGNORECASE)
_HAS_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Claim:
    """One role that the user names, and where."""

    kind: Claimed
    name: str
    start: int
    end: int


def claims(own: OwnWords) -> list[Claim]:
    """In the order of the question; a role that is denied, past or wished for is not stated by the same words."""
    found: list[Claim] = []
    for sentence in (*own.sentences, *_before_acting(own)):
        for claim in (*_english(sentence), *_chinese(sentence), *_other(sentence)):
            if asks(claim.name) or (own.fiction and _is_invented(claim, sentence)):
                continue
            if not any(claim.start < other.end and other.start < claim.end for other in found):
                found.append(claim)
    return sorted(found, key=lambda claim: claim.start)


def _before_acting(own: OwnWords) -> Iterator[Span]:
    """What a sentence says before it speaks of a part, where it names a trade of parts: 我是演员，扮演医生."""
    scenes = words("scenes")
    for sentence in own.invented:
        for start, end in clauses(sentence.text):
            clause = sentence.text[start:end]
            if first(scenes["imagined"], clause) or not compiled(scenes["makes_fiction"]).search(clause):
                break
            yield Span(clause, sentence.start + start)


def _is_invented(claim: Claim, sentence: Span) -> bool:
    """In a sentence about fiction, only a trade that makes or reads fiction is the user's own."""
    scenes = words("scenes")
    if compiled(scenes["makes_fiction"]).search(claim.name) or compiled(scenes["besides"]).search(sentence.text):
        return False
    ends = (end for _, end in clauses(sentence.text) if end >= claim.end - sentence.start)
    up_to_claim = sentence.text[: next(ends, None)]
    return bool(first(scenes["fiction"], sentence.text) or first(scenes["fiction_or_work"], up_to_claim))


def _english(sentence: Span) -> Iterator[Claim]:
    rules = words("statements")["en"]
    not_mine = compiled(rules["not_mine"])
    for kind in ("denies", "past", "wishes", "states"):
        for pattern in rules[kind]:
            for match in compiled(pattern).finditer(sentence.text):
                rest = sentence.text[match.end() :]
                if kind == "states" and (compiled(rules["not_meant"]).match(rest) or _not_mine(not_mine, match)):
                    continue
                if kind == "denies" and compiled(rules["not_denied"]).search(sentence.text[: match.start()]):
                    continue
                yield from _roles(kind, sentence, match, rest)
    for match in compiled(rules["as_a"]).finditer(sentence.text):
        if compiled(rules["likened"]).search(sentence.text[: match.start()]):
            continue
        role = english_role(sentence.text[match.end() :])
        if role and re.match(
            r"\s*([,)]|\bi\b|\bi'|myself|$)", sentence.text[match.end() + role.length :], re.IGNORECASE
        ):
            yield _claim("states", sentence, match, role)
    if being := compiled(rules["being"]).search(sentence.text):
        role = english_role(sentence.text[being.end() :], listed_only=True)
        if role and re.match(r"\s*,.*\b(i|i'm|im|my|me)\b", sentence.text[being.end() + role.length :], re.IGNORECASE):
            yield _claim("states", sentence, being, role)
    if office := compiled(rules["office"].replace("{heads}", rules["heads"])).search(sentence.text):
        yield Claim("states", office["what"], sentence.start + office.start(), sentence.start + office.end())
    yield from _english_deeds(sentence, not_mine)
    here = compiled(rules["here"]).match(sentence.text)
    if here and (role := english_role(here.group(1), listed_only=True)) and role.length == len(here.group(1)):
        yield Claim("states", role.name, sentence.start + here.start(1), sentence.start + here.end())


def _not_mine(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    """The words before the match make it a question, somebody's opinion, a condition or a joke."""
    before = match.string[: match.start()]
    asked: str = words("statements")["en"]["asked"]
    return pattern.search(before) is not None or compiled(asked).search(before) is not None


def _roles(kind: str, sentence: Span, match: re.Match[str], rest: str) -> Iterator[Claim]:
    """The role after the match, and those listed after it."""
    role = english_role(rest)
    field = _field(rest) if kind == "denies" and not role else None
    if field:
        yield _claim("denies", sentence, match, field)
    if not role:
        return
    yield _claim(kind, sentence, match, role)
    end = match.end() + role.length
    while another := _ALSO.match(sentence.text, end):
        start, listed_only = another.end(), another.group(1) is None
        other = english_role(sentence.text[start:], listed_only=listed_only)
        if not other:
            return
        end = start + other.length
        yield Claim(_kind(kind), other.name, sentence.start + start, sentence.start + end)


def _kind(kind: str) -> Claimed:
    return next(known for known in ("states", "denies", "past", "wishes") if known == kind)


def _claim(kind: str, sentence: Span, match: re.Match[str], role: RoleName) -> Claim:
    return Claim(_kind(kind), role.name, sentence.start + match.start(), sentence.start + match.end() + role.length)


def _field(rest: str) -> RoleName | None:
    """ "I left engineering" denies the engineer."""
    for field, role in words("statements")["en"]["fields"].items():
        match = re.match(rf"\s*{re.escape(field)}\b", rest, re.IGNORECASE)
        if match:
            return RoleName(role, match.end())
    return None


def _english_deeds(sentence: Span, not_mine: re.Pattern[str]) -> Iterator[Claim]:
    rules = words("statements")["en"]
    for pattern, name in rules["does"]:
        for match in compiled(_filled("en", pattern)).finditer(sentence.text):
            if _not_mine(not_mine, match):
                continue
            role = _english_deed_name(name, match)
            if role:
                yield Claim("states", role, sentence.start + match.start(), sentence.start + match.end())


def _english_deed_name(name: str, match: re.Match[str]) -> str | None:
    """Who does what the match says: by the verb, the shop or the listed role where `name` is one of these."""
    parts = {key: " ".join((value or "").split()).lower() for key, value in match.groupdict().items()}
    if name == "{what} owner":
        return _owner(parts["what"])
    if name == "role":
        role = english_role(parts["role"], listed_only=True)
        return _singular(role.name) if role and role.length == len(parts["role"]) else None
    if name == "deed":
        return _agent(parts["verb"])
    if name == "agent":
        return f"{_singular(parts['what'])} {_agent(parts['verb'])}".strip()
    return name.format(**parts).strip()


def _agent(verb: str) -> str:
    """Who tunes is a tuner; the verb may be its -ing form."""
    agents: dict[str, str] = words("statements")["en"]["agents"]
    base = next((form for form in forms(verb) if form in agents), verb)
    return agents.get(base) or re.sub(r"(e|ing)$", "", verb) + "er"


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    return re.sub(r"(?<=ss|sh|ch)es$|(?<=x)es$|(?<!s)s$", "", noun)


def _owner(shop: str) -> str:
    """A shop's owner by trade where it has a name: a florist owns the flower shop."""
    owners: dict[str, str] = words("statements")["en"]["owners"]
    shop = shop if shop in owners else _singular(shop)
    if shop in owners:
        return owners[shop]
    first_words, _, last = shop.rpartition(" ")
    return (
        f"{first_words} {owners[last]}" if first_words and last in {"farm", "business", "company"} else f"{shop} owner"
    )


def _chinese(sentence: Span) -> Iterator[Claim]:
    if not _HAS_HAN.search(sentence.text):
        return
    rules = words("statements")["zh"]
    subject = rules["subject"] + rules["between"]
    yield from _chinese_roles("denies", sentence, [subject + pattern for pattern in rules["denies"]])
    yield from _chinese_roles("denies", sentence, rules["denies_bare"])
    yield from _chinese_roles("past", sentence, [subject + pattern for pattern in rules["past"]])
    yield from _chinese_roles("wishes", sentence, rules["wishes"])
    yield from _chinese_deeds(sentence)
    yield from _chinese_roles("states", sentence, [subject + "(" + "|".join(rules["states"]) + ")"])
    yield from _chinese_roles("states", sentence, [*rules["titles"], *rules["joint"]])
    if compiled(rules["subject"]).search(sentence.text):
        yield from _chinese_roles("states", sentence, [rules["bare_states"]])


def _chinese_roles(kind: Claimed, sentence: Span, patterns: list[str]) -> Iterator[Claim]:
    rules = words("statements")["zh"]
    for pattern in patterns:
        for match in compiled(pattern).finditer(sentence.text):
            rest = sentence.text[match.end() :]
            if kind == "states" and (
                compiled(rules["not_meant"]).match(rest) or _not_mine(compiled(rules["not_mine"]), match)
            ):
                continue
            role = chinese_role(rest) or (latin_role(rest) if kind == "states" else None)
            if role and not (kind == "denies" and _is_supposed(sentence.text, match, rest[role.length :])):
                yield _claim(kind, sentence, match, role)


def _is_supposed(text: str, match: re.Match[str], rest: str) -> bool:
    """Whether a denial is asked about, or of a case that is none: 我不当护士了会怎样."""
    rules = words("statements")["zh"]
    is_outright = compiled(rules["denied_outright"]).search(match[0])
    before, after = compiled(rules["not_denied"]), rules["denied_asked" if is_outright else "not_denied_after"]
    return before.search(text[: match.start()]) is not None or compiled(after).match(rest) is not None


def _chinese_deeds(sentence: Span) -> Iterator[Claim]:
    rules = words("statements")["zh"]
    subject = rules["subject"] + rules["between"] + "(?:是(?:个|在)?)?"
    for pattern, name in rules["does"]:
        for match in compiled(_filled("zh", pattern).replace("我~", subject)).finditer(sentence.text):
            if _not_mine(compiled(rules["not_mine"]), match):
                continue
            kind: Claimed = "denies" if name.startswith("-") else "states"
            role = _deed_name(name.lstrip("-"), match)
            if role:
                yield Claim(kind, role, sentence.start + match.start(), sentence.start + match.end())


def _deed_name(name: str, match: re.Match[str]) -> str | None:
    """Who does what the match says: by the place, the verb, the studies or the deed where `name` is one of these."""
    rules, parts = words("statements")["zh"], {key: value or "" for key, value in match.groupdict().items()}
    if name in {"verb", "trade"}:
        what = re.sub(r"^(个|点|些|家|一家|了|过)", "", parts["what"])
        return _trade(parts["verb"], what, named=name == "trade")
    if name == "role":
        role = chinese_role(parts["role"])
        return role.name if role and role.length == len(parts["role"]) else None
    forms: dict[str, str] = {
        "place": rules["places"].get(parts.get("verb"), "{where}职员"),
        "study": rules["studies"].get(parts.get("what")),
        "deed": rules["deeds"].get(parts.get("deed"), "{what}{deed}人员"),
        "deal": rules["deals"].get(parts.get("deed")),
        "shop": rules["trades"]["开"].get(parts.get("what"), "{what}老板"),
    }
    form = forms.get(name, name)
    if re.fullmatch(rules["at_home"], parts.get("where", "")) and "{where}" in form:
        return None
    if re.fullmatch(rules["regions"], parts.get("where", "")):
        if form in rules["of_anybody"]:
            return None
        parts["where"] = ""
    return form.format(**{key: re.sub(r"^(一家|一个|家|个|间|某|这|那)", "", value) for key, value in parts.items()})


def _trade(verb: str, what: str, *, named: bool) -> str | None:
    """养 and 猪 make a 养猪户, and 开 and 玩笑 nobody; with `named` only a name of its own will do."""
    rules = words("statements")["zh"]
    verb = rules["same_verbs"].get(verb, verb)
    if re.search(rules["not_in_name"], what) or re.search(rules["not_a_trade"], what):
        return None
    trade: str | None = rules["trades"].get(verb, {}).get(what)
    if trade:
        return trade
    head = chinese_role(what)
    if head and head.length == len(what):
        return head.name
    if named:
        return None
    named_so = rules["verbs"].get(verb, [[".+", "{what}从业者"]])
    form: str = next((form for pattern, form in named_so if re.fullmatch(_filled("zh", pattern), what)), "")
    return form.format(what=what) or None


@cache
def _filled(language: str, pattern: str) -> str:
    """The pattern with its lists in it."""
    kinds = words("statements")[language]["kinds"]
    return re.sub(r"\{([a-z]+)\}", lambda name: f"(?:{kinds[name.group(1)]})", pattern)


def _other(sentence: Span) -> Iterator[Claim]:
    """Spanish, French, German and their like: the noun that follows "I am", with its "of …"; no English soy sauce."""
    rules, signs = words("statements")["other"], words("topics")["signs"]
    if len(compiled(signs["english"]).findall(sentence.text)) > len(compiled(signs["foreign"]).findall(sentence.text)):
        return
    for kind in ("denies", "states"):
        for pattern in rules[kind]:
            for match in compiled(pattern).finditer(sentence.text):
                role = re.match(r"([^\W\d_]{4,}(?: (?:de|di|da|en|für) [^\W\d_]{3,})?)", sentence.text[match.end() :])
                if role and role.group().casefold().split()[0] not in listed(rules["not_roles"]):
                    if _not_mine(compiled(rules["not_mine"]), match):
                        continue
                    yield _claim(kind, sentence, match, RoleName(role.group(), role.end()))
