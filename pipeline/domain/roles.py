"""An identity taken apart: its head, what narrows it, its numbers, and whether it is turned round."""

import re
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

from pipeline.domain.lexicon import Phrase, han_stem, lexicon, normal
from pipeline.domain.spelling import fold, has_han, of_the_mainland

_HAN_NUMERAL = "〇零一二两俩仨三四五六七八九十"
_HAN_NUMBER = re.compile(
    rf"第?([{_HAN_NUMERAL}]+|\d+)(?:个|位|名|年级|周岁|岁|年|级|班|期|段|星|本|模|胎|(?=孩|娃|宝|等))"
)
_SCHOOL_YEAR = re.compile(r"([大高初研博硕])([一二三四五])(?:年级)?")
_SCHOOLS = {"大": "大学", "高": "高中", "初": "初中", "研": "研究生", "博": "博士", "硕": "硕士"}
_HAN_NOT = re.compile(r"非(?!遗|洲|常|凡)|不(?!动产|锈|良)|无(?=[证照])|未(?=[成婚])")
_HAN_PLAIN_START = ("前端", "前台", "前厅", "原画", "原创", "原料", "无人", "无线", "无障碍", "没药", "曾祖", "前线")
#: Words with one of these differ by a letter that is meant: ontologist and oncologist, shipowner and shopowner.
_EXACT_ENDINGS = ("ologist", "owner", "maker", "keeper", "worker", "builder")
_DIGITS = re.compile(r"\d+")
#: "engineer, software" and "teacher (maths)".
_INVERTED = re.compile(r"^([\w'-]+)\s*[,(]\s*([\w' -]+?)\s*\)?$")


@dataclass(frozen=True)
class Part:
    """One way to read a role: its head and what narrows it."""

    head: Phrase
    narrowing: frozenset[str]


@dataclass(frozen=True)
class Role:
    """A role as it is compared; `parts` go from the longest head to the shortest."""

    key: str
    parts: tuple[Part, ...]
    numbers: frozenset[str]
    turns: frozenset[str]
    vague: bool
    """It says nothing about whom it names: it fits anybody."""
    words: frozenset[str]
    """All of its words, whatever their order."""
    reorderable: bool
    """Whether another order of its words could only be a slip: nothing in it says whose or of what."""
    stem: str = ""
    """A Chinese name that no table knows, without the ending that only says "person"."""


@lru_cache(maxsize=8192)
def role_of(name: str) -> Role:
    """Take a name apart; every spelling of the same role gives equal parts."""
    key = fold(_INVERTED.sub(r"\2 \1", name.strip()))
    chinese = has_han(key)
    whole = _whole(key, chinese)
    if whole is not None:
        return _role(key, list(whole), frozenset(), frozenset(), "")
    if not chinese:
        return _read_plain(key)
    plain = of_the_mainland(key)
    return _read_han(key) if plain == key else role_of(plain)


def _whole(key: str, chinese: bool) -> Phrase | None:
    tables = lexicon()
    if chinese:
        name = key.replace(" ", "")
        known = tables.han_roles.get(name)
        stem = han_stem(name)
        return known or (tables.han_stems.get(stem) if stem and stem != name else None)
    return _known(key.split())


def _known(tokens: list[str]) -> Phrase | None:
    """The role that the words name, also where one word is written as two: "sys admin"."""
    roles = lexicon().roles
    known = roles.get(tuple(map(normal, tokens)))
    return roles.get((normal("".join(tokens)),)) if known is None and len(tokens) == 2 else known


def _role(key: str, tokens: list[str], numbers: frozenset[str], turns: frozenset[str], stem: str) -> Role:
    """Every known ending of `tokens` is a head; the last word alone is always one."""
    tables = lexicon()
    tokens, key_words = tokens or [key], set(key.split())
    parts = []
    for start in range(len(tokens)):
        head = tuple(tokens[start:])
        if head in tables.names or len(head) == 1:
            parts.append(Part(head, frozenset(_narrowing(tokens[:start]))))
    content = [token for token in tokens if (token,) not in tables.vague]
    whole_is_vague = tuple(tokens) in tables.vague or not content
    reorderable = len(tokens) > 1 and not (key_words & tables.after or "'" in key or "的" in key)
    return Role(key, tuple(parts), numbers, turns, whole_is_vague, frozenset(_narrowing(tokens)), reorderable, stem)


def _read_plain(key: str) -> Role:
    tables = lexicon()
    tokens = [word for word in key.split() if word]
    tokens = _head_last(tokens)
    turns, kept, numbers = set[str](), list[str](), set[str]()
    for place, word in enumerate(tokens):
        plain = normal(word)
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if (plain,) in tables.turns:
            turns.add(tables.turns[(plain,)])
        elif plain in tables.numbers and following not in {"time", "hand", "aid"}:
            numbers.add(tables.numbers[plain])
        elif digits := _DIGITS.findall(plain):
            numbers.update(digit.lstrip("0") or "0" for digit in digits)
            kept.extend(filter(None, [_DIGITS.sub("", plain).removesuffix("th")]))
        elif plain not in tables.known and (opposite := _without_prefix(plain)) in tables.known:
            turns.add("not")
            kept.append(opposite)
        elif plain not in tables.empty:
            kept.append(_mended(plain))
    return _role(key, _canonical(kept), frozenset(numbers), frozenset(turns), "")


def _without_prefix(word: str) -> str:
    """The word that "non" or "un" turned round."""
    return word.removeprefix("non") if word.startswith("non") else word.removeprefix("un")


def _head_last(tokens: list[str]) -> list[str]:
    """ "teacher of primary school" as "primary school teacher"."""
    after = lexicon().after
    for place, word in enumerate(tokens):
        if place and word in after:
            narrowing = [token for token in tokens[place + 1 :] if token not in after]
            return narrowing + tokens[:place]
    return tokens


def _canonical(tokens: list[str]) -> list[str]:
    """The longest known role at the end under its first name, and every known narrowing before it."""
    for start in range(len(tokens)):
        role = _known(tokens[start:])
        if role is not None:
            return _narrowing(tokens[:start]) + list(role)
    return _narrowing(tokens)


def _narrowing(tokens: list[str]) -> list[str]:
    """Each known phrase as one word, so that its order with others does not matter."""
    tables = lexicon()
    out, place = list[str](), 0
    while place < len(tokens):
        for length in range(min(4, len(tokens) - place), 0, -1):
            known = tables.modifiers.get(tuple(tokens[place : place + length]))
            if known is not None:
                out.append(" ".join(known))
                place += length
                break
        else:
            out.append(tokens[place])
            place += 1
    return out


def _mended(word: str) -> str:
    """A long word that no table knows, as the known one that it is a slip of the pen away from.

    Not for an "r" at the end: an employer is no employee, whose last two letters are one to the tables.
    """
    tables = lexicon()
    if len(word) < 7 or not word.isascii() or word in tables.known or word in tables.no_slips:
        return word
    may_differ = len(word) >= 9 and not word.endswith(_EXACT_ENDINGS)
    for place in range(1, len(word)):
        head, tail = word[:place], word[place:]
        tries = [head + tail[1:], head + tail[1:2] + tail[:1] + tail[2:]]
        tries.extend(head + letter + tail for letter in ascii_lowercase)
        if may_differ:
            tries.extend(head + letter + tail[1:] for letter in ascii_lowercase)
        for attempt in tries:
            if len(attempt) >= 7 and attempt in tables.known and word != f"{attempt}r":
                return attempt
    return word


def _read_han(key: str) -> Role:
    tables = lexicon()
    text, turns = _turned(_role_last(key.split()))
    numbers = set[str]()

    def count(match: re.Match[str]) -> str:
        numbers.add(tables.numbers.get(match[1], match[1]))
        return ""

    def school_year(match: re.Match[str]) -> str:
        numbers.add(tables.numbers[match[2]])
        return _SCHOOLS[match[1]]

    text = _SCHOOL_YEAR.sub(school_year, text)
    text = _HAN_NUMBER.sub(count, text)
    for word in sorted(tables.empty, key=len, reverse=True):
        if has_han(word) and len(word) > 1:
            text = text.removeprefix(word)
    if "的" in text[1:-1]:
        before, _, after = text.rpartition("的")
        tokens = _segments(before) + _han_tokens(after)
    else:
        tokens = _han_tokens(text)
    stem = han_stem(text) if len(tokens) == 1 and tokens[0] not in tables.known else ""
    return _role(key, tokens or [text or key], frozenset(numbers), frozenset(turns), stem)


def _role_last(pieces: list[str]) -> str:
    """ "数学老师 高中" as 高中数学老师; without spaces the order of the characters is the order meant."""
    tables = lexicon()

    def names_a_role(piece: str) -> bool:
        return any(piece[start:] in tables.han_roles for start in range(len(piece) - 1))

    if len(pieces) > 1 and names_a_role(pieces[0]) and not names_a_role(pieces[-1]):
        pieces = [*pieces[1:], pieces[0]]
    return "".join(pieces)


def _turned(text: str) -> tuple[str, set[str]]:
    turns = set[str]()
    if _HAN_NOT.search(text):
        turns.add("not")
        text = _HAN_NOT.sub("", text, count=1)
    for name, turn in sorted(lexicon().han_turns.items(), key=lambda item: -len(item[0])):
        if (
            turn != "not"
            and text.startswith(name)
            and len(text) > len(name) + 1
            and not text.startswith(_HAN_PLAIN_START)
        ):
            turns.add(turn)
            text = text.removeprefix(name)
    return text, turns


def _han_tokens(text: str) -> list[str]:
    """The longest known role at the end under its first name, and what stands before it in pieces."""
    tables = lexicon()
    for start in range(max(len(text) - 1, 1)):
        ending = text[start:]
        role = tables.han_roles.get(ending)
        if role is not None:
            return _segments(text[:start]) + list(role)
        if start and (ending,) in tables.general | tables.vague:
            return [*_segments(text[:start]), ending]
    return [text] if text else []


def _segments(text: str) -> list[str]:
    """Known words as their first, and what no table knows as it stands."""
    tables = lexicon()
    out, raw, place = list[str](), "", 0
    text = text.strip("的")
    while place < len(text):
        for length in range(min(tables.longest_han, len(text) - place), 0, -1):
            piece = text[place : place + length]
            known = tables.han_modifiers.get(piece) or (tables.han_roles.get(piece) if length > 1 else None)
            if known is not None:
                out.extend([raw] if raw else [])
                raw = ""
                out.append(" ".join(known))
                place += length
                break
        else:
            raw += text[place]
            place += 1
    return [*out, raw] if raw else out
