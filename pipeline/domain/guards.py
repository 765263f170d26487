"""What words of a question say nothing of who the user is: other people, role play, the past, wishes, denials.

Each guard reads one clause, and asks whether the clause says a role of somebody else, or of another time, in plain
words. A guard that cannot tell lets the role pass: the model has read the question, and code only catches slips.
"""

import re
from functools import lru_cache

from pipeline.domain.fact_clauses import finds
from pipeline.domain.injected import without_injected
from pipeline.domain.lexicon import Phrase, lexicon, phrase
from pipeline.domain.mentions import hints_at, mentions
from pipeline.domain.remembering import is_planted
from pipeline.domain.roles import role_of
from pipeline.domain.spelling import fold, has_han, simplified
from pipeline.words import words

Span = tuple[int, int]

_CLAUSE_END = re.compile(
    r"[,，。!！?？;；\n、()（）…~～]+|\.(?=\s|$)|\s[-–—]+\s|——"
    r"|\s(?=(?:but|because|bc|cuz|coz|so|while|whereas|although|though|which)\b)"
    r"|\s(?=and (?:as an?|i|im|i'm|ive|i've|we|my|he|she)\b)"
    r"|(?=但是|不过|可是|因为|所以|而我|但我)",
    re.IGNORECASE,
)

#: "a pilot with 6000 hours", and not "a nurse called".
_DESCRIPTION = re.compile(
    r"\s*an?\s+(?:[\w-]+\s+){0,2}?[\w-]+(?<!ed)(?<!said)(?<!says)(?<!told)\s*(?:$|\b(?:with|of|from|in|at|for|by|who|and)\b)",
    re.IGNORECASE,
)
#: What a fact may be about, such as a system, before what is so.
_LABEL = re.compile(r"^\W*\w+\s*[:：]\s*")
#: How many characters before and after a quote a guard reads: no plain clause is longer, and some texts have no end.
_SIGHT = 120


@lru_cache(maxsize=64)
def clauses(text: str) -> tuple[Span, ...]:
    """The places of the clauses of a text, in order; ends are exclusive."""
    found, start = list[Span](), 0
    for match in _CLAUSE_END.finditer(text):
        if text[start : match.start()].strip():
            found.append((start, match.start()))
        start = match.end()
    if text[start:].strip():
        found.append((start, len(text)))
    return _with_appositions(found, text)


def _with_appositions(found: list[Span], text: str) -> tuple[Span, ...]:
    """The clauses, where "my boss" and ", a former colonel" are one."""
    joined: list[Span] = []
    for start, end in found:
        if joined and _apposed(text[joined[-1][0] : joined[-1][1]], text[joined[-1][1] : start], text[start:end]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def _apposed(before: str, between: str, clause: str) -> bool:
    """Whether a clause says who the person is whose name or relation ends the one before, or is its subject."""
    if between.strip() not in {"", ",", "(", "，"}:
        return False
    before = _plain(before[-_SIGHT:])
    if _apposition().match(clause) and _person().search(before):
        return True
    if _self().search(clause[:_SIGHT]):
        return False
    if _DESCRIPTION.match(clause):
        return _subject().match(before) is not None and not _self().search(before)
    return _chinese_person().search(before) is not None and re.match(r"\s*\S{1,7}的?\s*$", clause) is not None


@lru_cache(maxsize=1)
def _subject() -> re.Pattern[str]:
    """A person at the beginning of a clause: "my sister-in-law", "hubby"."""
    return re.compile(rf"\W*(?:{_relation()}|(?:{'|'.join(words('people')['en']['bare'])})\b)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _chinese_person() -> re.Pattern[str]:
    """Somebody for whom something is asked or bought, or who ends a clause: 替我表哥问一下, 我闺蜜她爸."""
    zh = words("people")["zh"]
    relation, owner = ("|".join(sorted(zh[kind], key=len, reverse=True)) for kind in ("relations", "owners"))
    return re.compile(
        rf"(?:(?:替|帮|给|为|代)(?:{owner})?家?的?(?:{relation})[^，,我]{{0,10}}"
        rf"|^\W*(?:{owner})家?的?(?:{relation})(?:(?:的|他|她|家)+(?:{relation}))?)$"
    )


@lru_cache(maxsize=1)
def _apposition() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(words('people')['en']['appositions'])})\b(?!.*\bhere\b)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _person() -> re.Pattern[str]:
    """A relation or a name, at the end of a text."""
    return re.compile(rf"(?:{_relation()}|{_name()})\s*$", re.IGNORECASE)


def _relation() -> str:
    """ "my late uncle", as a pattern."""
    en = words("people")["en"]
    relations = "|".join(sorted(en["relations"], key=len, reverse=True))
    return rf"\b(?:{'|'.join(en['owners'])})\s+(?:[\w-]+\s+){{0,2}}?(?:{relations})(?:\s(?-i:[A-Z])\w+)?"


def _name() -> str:
    """ "Coach Lee", "Anna Berg", as a pattern."""
    titles = "|".join(words("people")["en"]["titles"])
    return rf"(?:\b(?:{titles})\.?\s+(?-i:[A-Z])[\w-]+|^\W*(?-i:[A-Z][a-z]+\s+[A-Z])[\w-]+)"


def clauses_of(span: Span, text: str) -> list[str]:
    """The clauses that a place in the text touches, as far as a guard needs to see."""
    first, last = max(span[0] - _SIGHT, 0), span[1] + _SIGHT
    return [
        text[max(start, first) : min(end, last)] for start, end in clauses(text) if start < span[1] and span[0] < end
    ]


def clauses_in(text: str) -> list[str]:
    """All clauses of a text; a longer one than a guard needs to see comes in parts."""
    return [
        text[at : min(at + 2 * _SIGHT, end)] for start, end in clauses(text) for at in range(start, end, 2 * _SIGHT)
    ]


@lru_cache(maxsize=1)
def _someone() -> tuple[re.Pattern[str], ...]:
    """Clauses that say something of another person, the last three by a description beside; `rest` says it."""
    people = words("people")
    en, zh = people["en"], people["zh"]
    relation = "|".join(sorted(en["relations"], key=len, reverse=True))
    kin = rf"(?:(?:step|grand|half)-?)?(?:{relation})s?\b(?:-?\s?in-?\s?law\b)?"
    who = (
        rf"(?:(?:{'|'.join(en['owners'])})\s+(?:[\w-]+\s+){{0,2}}?{kin}"
        rf"|(?:{'|'.join(en['some'])})\s+(?:[\w-]+\s+)?{kin}(?:\s+of\s+(?:mine|ours))?"
        rf"|^\s*(?:\w+\s+)?(?:{'|'.join(en['bare'])})|\b(?:{'|'.join(en['pronouns'])}))"
    )
    verb = rf"(?:'s|'re|'ve|n't|\b(?:{'|'.join(en['verbs'])})\b)"
    english = re.compile(
        rf"\b{who}(?P<gap>(?:['-][\w'-]*)?(?:[^\w'-]+[\w'-]+){{0,4}}?)[^\w'-]*(?P<rest>{verb}.*)",
        re.IGNORECASE | re.DOTALL,
    )
    apposed = re.compile(
        rf"(?:(?:{_relation()}|{_name()})\s*[,(]|^\s*(?=who))(?P<gap>\s*)"
        rf"(?P<rest>(?:{'|'.join(en['appositions'])})\b.*)",
        re.IGNORECASE | re.DOTALL,
    )
    relation = "|".join(sorted(zh["relations"], key=len, reverse=True))
    owner = "|".join(sorted(zh["owners"], key=len, reverse=True))
    pronoun = "|".join([*zh["named"], *sorted(zh["pronouns"], key=len, reverse=True)])
    chinese = re.compile(
        rf"(?:(?<![和跟与])(?:{owner})(?:家|们)?(?:的)?(?:一个|有个|那个|这个|大|小|前|新|老)?(?:{relation})(?:们)?(?:的?(?:{relation}))*"
        rf"|^\W*(?:btw|因为|听说|而且|那个|有个|一个|my\s+\w+)?\s*(?:{pronoun}|{relation}|my\s+\w+)(?:们)?)"
        rf"(?P<gap>[^我俺]{{0,6}}?)(?P<rest>(?:{'|'.join(zh['verbs'])}).*)",
        re.IGNORECASE | re.DOTALL,
    )
    person = rf"(?:{_relation()}|\b(?:{'|'.join(en['some'])})\s+(?:[\w-]+\s+)?{kin})"
    handed = re.compile(
        rf"(?:\bfor\s+{person}|^\W*{_relation()}(?:\s+\w+){{0,2}})(?:-in-law)?(?P<gap>\s*):\s*(?P<rest>.*)",
        re.IGNORECASE | re.DOTALL,
    )
    described = re.compile(rf"^{_subject().pattern}(?P<gap>[^,(]*)[,(]\s*(?P<rest>an?\s.*)", re.IGNORECASE | re.DOTALL)
    chinese_described = re.compile(
        rf"(?:{_chinese_person().pattern.removesuffix('$')})(?P<gap>\s*)[，,]\s*(?P<rest>.*)", re.DOTALL
    )
    return english, chinese, handed, described, chinese_described, apposed


@lru_cache(maxsize=1)
def _self() -> re.Pattern[str]:
    """Where a clause comes back to the user."""
    return re.compile(rf"\b(?:{'|'.join(words('people')['en']['selves'])})\b|[我俺咱]|本人", re.IGNORECASE)


def without_relations(clause: str) -> str:
    """The clause without "my sister" and 我儿子, who are not the user."""
    return _relations().sub(" ", _plain(clause))


@lru_cache(maxsize=1)
def _relations() -> re.Pattern[str]:
    people = words("people")
    en = "|".join(sorted(people["en"]["relations"], key=len, reverse=True))
    zh = "|".join(sorted(people["zh"]["relations"], key=len, reverse=True))
    return re.compile(rf"\b(?:my|our)\s+(?:[\w-]+\s+)?(?:{en})s?\b|[我俺咱]们?家?的?(?:{zh})", re.IGNORECASE)


def speaks_of_self(clause: str) -> bool:
    """Whether the clause says "I", "we", 我."""
    return _self().search(_plain(clause)) is not None


def speaks_of_another(clause: str) -> bool:
    """Whether the clause says something of a person other than the user, and nothing of the user."""
    plain = _plain(clause)
    named = _relations().search(plain) or any(pattern.search(plain) for pattern in _someone())
    return bool(named) and not _self().search(without_relations(clause))


@lru_cache(maxsize=8)
def _stance(kind: str) -> re.Pattern[str]:
    lists = words("stances")[kind]
    return re.compile(
        "|".join([rf"(?<![\w']){pattern}" for pattern in lists["en"]] + [f"(?:{pattern})" for pattern in lists["zh"]]),
        re.IGNORECASE,
    )


def _plain(clause: str) -> str:
    return simplified(clause).replace("’", "'")


def is_kin(name: str) -> bool:
    """Whether a role names what somebody is to another person, as a parent is to a child."""
    heads = {phrase(head) for head in words("people")["kin"]["heads"]}
    return any(part.head in heads for part in role_of(name).parts)


def said_of_other(clause: str, name: str) -> bool:
    """Whether the clause says the role of somebody else ("my sister is a nurse", 我妹妹是护士)."""
    clause, described = _plain(clause), _someone()[-3:]
    for pattern in _someone():
        for match in pattern.finditer(clause):
            before = clause[: match.start()].rstrip()
            if re.search(r"(?:\b(?:me|i) and|和|跟|与)$", before, re.IGNORECASE):
                continue
            if _self().search(match["gap"]):
                continue
            rest = _self().split(match["rest"], maxsplit=1)[0]
            # "My boss, a developer himself" is no sign against a Rust developer.
            said = mentions if is_kin(name) or pattern in described else hints_at
            if said(rest, name):
                return True
    return False


def _after(kind: str, clause: str) -> list[str]:
    """What the clause says after each word of a stance, up to where it comes back to the present."""
    present = re.compile(
        "|".join([*words("stances")["present"]["en"], *words("stances")["present"]["zh"]]), re.IGNORECASE
    )
    plain = _plain(clause)
    return [present.split(plain[match.end() :], maxsplit=1)[0] for match in _stance(kind).finditer(plain)]


def pretended(clause: str, name: str) -> bool:
    """Whether the clause only plays with the role ("act as a pirate", 假设你是医生, "if I were a judge")."""
    return any(mentions(said, name) for said in _after("pretended", clause))


def past(clause: str, name: str) -> bool:
    """Whether the clause says that the role is over ("I used to be a cook", 以前当过厨师)."""
    if re.search(r"没|从来|never", clause):
        return False
    endings = any(
        mentions(_plain(clause)[max(match.start() - 8, 0) :], name)
        for match in _stance("past").finditer(_plain(clause))
    )
    return endings and not _now(clause, name)


def _now(clause: str, name: str) -> bool:
    """Whether the role stands after a word of the present."""
    lists = words("stances")["present"]
    found = re.search("|".join([*lists["en"], *lists["zh"]]), _plain(clause), re.IGNORECASE)
    return found is not None and mentions(_plain(clause)[found.end() :], name)


def wished(clause: str, name: str) -> bool:
    """Whether the clause wishes for the role ("I want to become a pilot", 想当飞行员)."""
    already = "|".join(words("stances")["wished"]["already"])
    return any(
        mentions(said, name) and not re.match(rf"\W*(?:an?\s+|个|一个)?(?:{already})", said, re.IGNORECASE)
        for said in _after("wished", clause)
    )


def negated(clause: str, name: str) -> bool:
    """Whether the clause denies the role ("I'm no plumber", 我不是护士)."""
    return any(mentions(_self().split(said, maxsplit=1)[0], name) for said in _after("negated", clause))


def named_as_other(clause: str, name: str) -> bool:
    """Whether the clause only speaks of somebody else by the word for the role ("my teacher said", 被老师批评)."""
    for part in reversed(role_of(name).parts):
        if not part.narrowing or (part.head not in lexicon().general and mentions(clause, name)):
            plain = _plain(clause)
            found = list(_called(part.head).finditer(plain))
            return bool(found) and all(_of_another(plain, match) for match in found)
    return False


@lru_cache(maxsize=4096)
def _called(head: Phrase) -> re.Pattern[str]:
    """The names of a role, the longest first; not 做外贸的, before which 我 is no "my"."""
    names = sorted(lexicon().names.get(head, (" ".join(head),)), key=len, reverse=True)
    words_of = (
        re.escape(name) if has_han(name) else rf"(?<![\w-]){re.escape(name)}s?(?![\w-])"
        for name in names
        if not name.endswith("的")
    )
    return re.compile("|".join(words_of) or r"(?!)", re.IGNORECASE)


def _of_another(clause: str, word: re.Match[str]) -> bool:
    """Whether what stands before and after a word says that it means somebody other than the user."""
    before, after, said = clause[: word.start()], clause[word.end() :], word.group().casefold()
    return any(
        (said in rule["words"] or said.removesuffix("s") in rule["words"] if "words" in rule else True)
        and _compiled(f"(?:{rule['before']})$").search(before)
        and _compiled(rule["after"]).match(after)
        for rule in words("people")["others"]
    )


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=2048)
def not_of_the_user(clause: str, name: str) -> bool:
    """Whether any of the guards catches the role in this clause."""
    return any(guard(clause, name) for guard in (said_of_other, named_as_other, pretended, past, wished, negated))


def instructs(text: str) -> bool:
    """Whether what is to be remembered orders a model about, poses as memory's own, or makes the user an administrator.

    "System: Linux" and "role: network administrator" do not.
    """
    told = _LABEL.sub("", text)
    return (
        is_planted(text)
        or without_injected(text) != text
        or any(pattern.search(_plain(told)) for pattern in _ordered("obey"))
        or any(pattern.fullmatch(_plain(text).strip()) for pattern in _ordered("privileged"))
    )


def hides(text: str) -> bool:
    """Whether personal data in it is masked, so that it names nobody any more."""
    return finds("masked", text)


@lru_cache(maxsize=2)
def _ordered(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in words("orders")[kind])


def asks_what_anybody_may(question: str) -> bool:
    """Whether the whole question is a neutral one, which tells next to nothing of who asks ("what is a firewall?")."""
    lists = words("stances")["neutral"]
    plain = _plain(question).strip().rstrip("?？!！.。~ ").strip()
    if _self().search(plain) or len(plain) > 60:
        return False
    return re.fullmatch("|".join([*lists["en"], *lists["zh"]]), plain, re.IGNORECASE) is not None


def turned(name: str) -> frozenset[str]:
    """How the name itself turns the role round: "not", "former" or "future"."""
    return role_of(name).turns


def fits_anybody(name: str) -> bool:
    """Whether a name says nothing about whom it names: user, owner, beginner."""
    return role_of(name).vague or not fold(name) or (fold(name),) in lexicon().vague
