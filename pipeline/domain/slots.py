"""Features compared: when two slots or two values are the same, and which features the words of a wish mean."""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from pipeline.domain.lexicon import lexicon
from pipeline.domain.relevance import terms
from pipeline.domain.spelling import HAN, fold, has_han, simplified
from pipeline.words import words
from schemas.features import MAX_SLOT, FeatureChange, UserFeature
from schemas.role import PreferenceField
from schemas.wire import UserId

SKILL, TARGET = "skill", "target"
#: What a wish to forget says that means all there is.
EVERYTHING = "*"
#: How the user likes to be answered: each preference's name on the wire, which is its slot, and in Python.
ANSWERING: dict[PreferenceField, str] = {
    "detailLevel": "detail_level",
    "contentDepth": "content_depth",
    "responseFormat": "response_format",
}
_RESERVED = {slot.casefold(): slot for slot in (SKILL, TARGET, *ANSWERING)}

_CONTRACTED = (
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
)
#: A hyphen that joins two words; a minus before a number stays.
_JOINT = re.compile(r"(?<=[^\W\d_])[-_‐‑–](?=[^\W\d_])")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\ufeff]+")
_BETWEEN_HAN = re.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")
_ACCENT = re.compile("[\u0300-\u036f]")
#: "Can not" and "will not" open is one fault.
_UNABLE = re.compile(r"\b(?:(?:can|will|do|does) not|(?:(?:am|is|are) )?unable to|(?:has |have )?no way to)\b")
_POINTING = re.compile(r"\b(?:the|this|that)\b|\b(?:it|them)$")
_WHERE = frozenset({"on", "in", "at"})
#: What makes another fact of one: a number, a no.
_CHANGES = re.compile(r"\d|^(?:no|not|never|without|except|but|only|one|two|three|four|five|six)$")
_QUOTES, _ENDS = "\"'“”‘’「」『』《》 ", ".,;:!?。、 "


@lru_cache(maxsize=8192)
def folded(text: str) -> str:
    """The same string for every letter case, width, spacing, script of Chinese and contraction of a text.

    What tells two subjects or numbers apart stays: "C++" and "C#", "-5" and "5", "1.5" and "15".
    """
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    for pattern, whole in _CONTRACTED:
        text = pattern.sub(whole, text)
    text = _BETWEEN_HAN.sub("", _BLANK.sub(" ", _JOINT.sub(" ", simplified(text))))
    return text.strip(_QUOTES).rstrip(_ENDS + _QUOTES)


def slot_of(text: str) -> str:
    """A slot as it is stored; empty where the text names nothing."""
    slot = folded(text)[:MAX_SLOT].strip()
    return _RESERVED.get(slot.replace(" ", ""), slot)


@lru_cache(maxsize=8192)
def subject_of(text: str) -> str:
    """What a slot is about: the same for singular and plural, for either spelling and for two names of one thing."""
    slot = slot_of(text)
    if role := _role_named().get(slot):
        return role
    subject = " ".join(_spelt().get(word, word) for word in map(_singular, slot.split()))
    return _same_named().get(subject, subject)


@lru_cache(maxsize=8192)
def meaning_of(value: str) -> str:
    """The same string for values that say the same beyond doubt; any other wording is another value."""
    return _role_named().get(folded(value)) or folded(value)


def is_same(value: str, other: str) -> bool:
    """Whether two values of one slot say the same, in other words at most: one may tell where, when or how often."""
    return meaning_of(value) == meaning_of(other) or _goes_on(value, other) or _goes_on(other, value)


def fuller_of(value: str, other: str) -> str:
    """Of two values that say the same the one that tells more; else the first."""
    return other if _goes_on(value, other) and not _goes_on(other, value) else value


@lru_cache(maxsize=8192)
def _said(value: str) -> tuple[str, ...]:
    """The words of a value, in their order, without those that only point, and one word for not being able to."""
    return tuple(_UNABLE.sub("not", _POINTING.sub(" ", folded(value))).split())


def _goes_on(value: str, other: str) -> bool:
    """Whether the other says the whole of the value, and beside it a place, a time or how often at most: no number."""
    said, more = _said(value), _said(other)[len(_said(value)) :]
    if said and folded(other).endswith(folded(value)) and _often().fullmatch(folded(other).removesuffix(folded(value))):
        return True
    if not said or _said(other)[: len(said)] != said:
        return False
    return not more or (more[0] in _WHERE and not any(map(_CHANGES.search, more)))


def hash_of(fact: UserFeature | FeatureChange, user_id: UserId, key: str) -> str:
    """By which a fact is known once it is deleted: its sentence; of one that has none, slot and value."""
    said = meaning_of(fact.content or f"{fact.slot}: {fact.value}")
    return hmac.new(key.encode(), f"{user_id}\0{said}".encode(), hashlib.sha256).hexdigest()


def is_meant(wish: str, feature: UserFeature) -> bool:
    """Whether the words of a wish to forget mean a feature: it holds all that they name, and not in passing alone.

    "Where I live" means the city. A wish for "apple juice" does not mean "apple", and one for "my sister's car" not
    "car".
    """
    if wish == EVERYTHING:
        return True
    plain = folded(wish)
    for asked in words("remembering")["asked_for"]:
        if re.fullmatch(asked["words"], plain, re.IGNORECASE):
            says = asked.get("says")
            return subject_of(feature.slot) in map(subject_of, asked.get("slots", ())) or (
                says is not None and re.search(says, folded(f"{feature.slot} {feature.value}")) is not None
            )
    plain = _in_one_form(_light_han().sub(" ", plain))
    wanted = set(terms(plain)) - _light()
    fact = {*terms(_in_one_form(folded(f"{feature.slot} , {feature.value}")))}
    told = fact.union(terms(_in_one_form(folded(feature.content))))
    return (not wanted.isdisjoint(fact) and wanted <= told) or _says_all(plain, feature)


def _says_all(wish: str, feature: UserFeature) -> bool:
    """Whether slot and value say the whole of a Chinese wish: 花生过敏 is 花生 and 过敏, whichever is the slot."""
    rest = "".join(part for part in wish.split() if has_han(part))
    if not rest or rest != "".join(wish.split()):
        return False
    for part in sorted((folded(feature.slot), folded(feature.value)), key=len, reverse=True):
        if part in rest:
            rest = rest.replace(part, " ")
    left, fact = rest.split(), folded(f"{feature.slot}{feature.value}{feature.content}")
    return " " in rest and all(part in fact or _deed().fullmatch(part) for part in left)


def _in_one_form(text: str) -> str:
    """With one word for being allergic and an allergy."""
    for form, one in words("remembering")["forms"].items():
        text = re.sub(one, form, text)
    return text


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is", "news")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes")) else word[:-1]


@lru_cache(maxsize=1)
def _role_named() -> Mapping[str, str]:
    """The first name of a role by each of its names; names of two roles, and of several people, are left out."""
    roles: dict[str, set[str]] = {}
    for role, names in lexicon().names.items():
        for name in names:
            if _singular(name) == name or _singular(name) not in names:
                roles.setdefault(folded(name), set()).add(" ".join(role))
    return {name: f"role {firsts.pop()}" for name, firsts in roles.items() if len(firsts) == 1}


@lru_cache(maxsize=1)
def _spelt() -> Mapping[str, str]:
    """From each spelling of a word to the one that counts."""
    return _firsts("spelling")


@lru_cache(maxsize=1)
def _same_named() -> Mapping[str, str]:
    """From each name of a subject to its first."""
    return _firsts("same")


def _firsts(kind: str) -> dict[str, str]:
    lines = ([folded(name) for name in line.split(",")] for line in words("features_slots")[kind])
    return {name: line[0] for line in lines for name in line}


@lru_cache(maxsize=1)
def _often() -> re.Pattern[str]:
    return re.compile(words("remembering")["note"]["often"])


@lru_cache(maxsize=1)
def _light() -> frozenset[str]:
    return frozenset(terms(fold(words("forgetting")["en"])))


@lru_cache(maxsize=1)
def _deed() -> re.Pattern[str]:
    return re.compile(words("forgetting")["deed"])


@lru_cache(maxsize=1)
def _light_han() -> re.Pattern[str]:
    listed = (word.strip() for word in words("forgetting")["zh"].split(","))
    return re.compile("|".join(sorted(listed, key=len, reverse=True)))
