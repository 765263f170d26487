"""Where a role's name ends: "junior UX designer at a bank", 剪纸的手艺人."""

import re
from functools import cache
from typing import NamedTuple

from pipeline.adapters.rules.patterns import compiled, entries, listed
from pipeline.words import words

_TOKEN = re.compile(r"[^\W_](?:[\w'&/+.-]*[\w+])?")
# A blank beside Latin letters is in the name: Java 程序员.
_HAN_END = re.compile(
    r"[,，。！？；、:：.!?;()（）\n]|(?<![A-Za-z+#])\s(?![A-Za-z])|(?<=[A-Za-z+#])\s(?![\u4e00-\u9fff])"
)
_LATIN = re.compile(
    r"\s*(?:一?[个名位])?\s*(?:做|搞)?\s*"
    r"([A-Za-z][A-Za-z0-9+#/&. -]*[A-Za-z+#])\s*(?:的|一枚)?(?=$|[，。！？；、,.!?;（(])"
)
_ARTICLE = frozenset({"a", "an", "the", "only", "one"})
_MAX_WORDS = 6
_MAX_HAN = 14


class RoleName(NamedTuple):
    """A role's name and how many characters of the text it took."""

    name: str
    length: int


@cache
def _suffixes(language: str) -> tuple[str, ...]:
    return tuple(sorted(entries("occupations", f"{language}_suffixes"), key=len, reverse=True))


def english_role(text: str, *, listed_only: bool = False) -> RoleName | None:
    """The role that `text` begins with; without an article only a listed word is one."""
    stop, article = entries_of_stop(), False
    tokens: list[re.Match[str]] = []
    for match in _TOKEN.finditer(text):
        word = match.group().casefold()
        gap = text[tokens[-1].end() if tokens else 0 : match.start()]
        if re.search(r"[,.!?;:()\n]", gap) or len(tokens) > _MAX_WORDS:
            break
        if not tokens and word in _ARTICLE:
            article = True
            text_start = match.end()
            text = " " * text_start + text[text_start:]
            continue
        if word in stop:
            break
        tokens.append(match)
    strict = listed_only or not article
    for count in range(len(tokens), 0, -1):
        words_of = [token.group() for token in tokens[:count]]
        if _is_english_head(words_of, strict):
            return _with_number(text, words_of, tokens[count - 1].end())
    return None


@cache
def entries_of_stop() -> frozenset[str]:
    return frozenset(entry.strip() for entry in words("statements")["en"]["stop"].split(","))


def _is_english_head(tokens: list[str], strict: bool) -> bool:
    last = tokens[-1].casefold()
    known, none = entries("occupations", "en"), entries("occupations", "not_en")
    if any(" ".join(token.casefold() for token in tokens[-size:]) in not_who() for size in (1, 2)):
        return False
    if len(tokens) == 1 and last in not_who_alone():
        return False
    for size in (3, 2, 1):
        phrase = " ".join(token.casefold() for token in tokens[-size:])
        if len(tokens) >= size and (phrase in known or (phrase.endswith("s") and phrase[:-1] in known)):
            return True
    if strict or last in none or " ".join(tokens).casefold() in none or len(last) < 5:
        return False
    return last.endswith(_suffixes("en")) and not last.endswith(("'s", "est"))


@cache
def not_who() -> frozenset[str]:
    """What somebody is like, and not who."""
    return listed(words("statements")["en"]["not_who"])


@cache
def not_who_alone() -> frozenset[str]:
    """The same, where no noun stands before it."""
    return listed(words("statements")["en"]["not_who_alone"])


def _with_number(text: str, tokens: list[str], end: int) -> RoleName | None:
    """ "mother of two" keeps its number; "nurse's husband" is not the nurse."""
    if text[end : end + 2] in {"'s", "s'"}:
        return None
    number = re.match(r"\s+(?:of|to) ([\w-]+)(?: (?:kids|boys|girls|children|sons|daughters|teenagers))?", text[end:])
    name = " ".join(tokens)
    if number and number.group(1).casefold() in entries_of_numbers():
        return RoleName(name + number.group(), end + number.end())
    short = words("statements")["en"]["abbreviations"].get(tokens[-1].casefold())
    if short:
        name = " ".join([*tokens[:-1], short])
    return RoleName(name, end)


@cache
def entries_of_numbers() -> frozenset[str]:
    return frozenset(entry.strip() for entry in words("statements")["en"]["numbers"].split(","))


def chinese_role(text: str) -> RoleName | None:
    """The role that `text` begins with, up to the first listed word that ends one."""
    rules = words("statements")["zh"]
    end = _HAN_END.search(text)
    piece = text[: end.start() if end else len(text)][:_MAX_HAN]
    skipped = quantifier.end() if (quantifier := compiled(rules["quantifiers"]).match(piece)) else 0
    body = re.sub(rules["particles"], "", piece[skipped:])
    found = _chinese_head(body)
    if not found:
        return None
    start, stop = found
    before = body[:start]
    if re.search(rules["not_in_name"], before) or compiled(rules["not_after"]).match(text[skipped + stop :]):
        return None
    name = _joined(before, body[start:stop])
    return RoleName(name, skipped + stop) if name not in entries("occupations", "not_zh") else None


def latin_role(text: str) -> RoleName | None:
    """The English role in a Chinese sentence: 我是 UX designer，…"""
    found = _LATIN.match(text)
    role = english_role(found.group(1), listed_only=True) if found else None
    return RoleName(found.group(1), found.end(1)) if found and role and role.length == len(found.group(1)) else None


def _joined(before: str, head: str) -> str:
    """两个孩子的妈妈 stays; 三年级的老师 and 做剪纸的手艺人 lose 的; of a longer attribute only the head stays."""
    rules = words("statements")["zh"]
    if not before.endswith("的") or re.search(rules["kin"], before):
        return before + head
    trade = re.match(rules["trade_of"], before)
    if trade:
        return trade.group(2) + head
    return before[:-1] + head if len(before) <= 5 else head


def _chinese_head(body: str) -> tuple[int, int] | None:
    known, none = entries("occupations", "zh"), entries("occupations", "not_zh")
    for start in range(len(body)):
        for size in range(min(7, len(body) - start), 0, -1):
            if body[start : start + size] in known and body[start : start + size] not in none:
                return start, _extended(body, start + size, known)
    if len(body) >= 2 and body.endswith(_suffixes("zh")) and not any(body.endswith(word) for word in none):
        return (0, len(body)) if len(body) <= 9 else None
    return None


def _extended(body: str, end: int, known: frozenset[str]) -> int:
    """学生家长 is one role, and so is 律师助理."""
    for size in range(min(6, len(body) - end), 0, -1):
        if body[end : end + size] in known:
            return _extended(body, end + size, known)
        if size > 1 and body[end - 1 : end + size - 1] in known:
            return _extended(body, end + size - 1, known)
    return end
