"""Where a question lets somebody other than its writer say "I": a dialogue, a line of fiction, a text to work on."""

import re
from functools import lru_cache
from itertools import islice

from pipeline.domain.spelling import HAN, simplified
from pipeline.words import words

Span = tuple[int, int]

#: How far before "I" its speaker is looked for, and how often: a longer text is no question of a line or two.
_SIGHT, _MOST_PLACES = 120, 60
_SENTENCE_END = re.compile(r"[!?。！？\n]|\.(?=\s|$)|\Z")
_CLAUSE_END = re.compile(r"[!?。！？\n,，;；]|\.(?=\s|$)|\sbut\b|\Z", re.IGNORECASE)
_PARAGRAPH_END = re.compile(r"\n\s*\n|\Z")
#: A speaker goes on until the line ends or the next one begins.
_TURN_END = re.compile(rf"\n|(?<=[.!?。！？])(?=\s*[\w{HAN}]{{1,12}}\s*[:：])|\Z")
#: What a chat puts before a message: [10:02], 21:14 -, [03/11/26, 9:15 pm].
_CLOCK = r"\[?(?:\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})?,?\s+)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\]?(?:\s+[-–])?"
_LABEL = re.compile(
    rf"(?:^|(?<=[.!?。！？]))\s*(?:[-*•]\s*)?(?P<time>{_CLOCK}\s*)?"
    rf"(?P<label>[^\W\d_{HAN}][\w .'&-]{{0,24}}?|[{HAN}A-Z][{HAN}\w]{{0,5}})"
    r"\s*(?:[:：](?!\d|//)|(?<=\d)\s+[-–—]\s)"
)
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'.-]*){0,2}")
_AT_ONCE = r"[\s\"']*$"
#: What stands between the request for work on a text and the text.
_BELOW = rf"(?:[.!?。！？：:]+\s*|\s*\n\s*|\s[-–—]+\s|(?<=[{HAN}])\s+)[\"']*$"


def voices(text: str) -> list[Span]:
    """The places in which another than the writer says "I"; ends are exclusive."""
    plain = simplified(text).replace("’", "'")
    found: list[Span] = []
    for place in islice(_compiled("first_person").finditer(plain), _MOST_PLACES):
        start = place.start()
        if found and start < found[-1][1]:
            continue
        ending = _end_of_other(plain, start)
        if end := ending and ending.search(plain, start):
            found.append((start, end.start()))
    return found


def _end_of_other(text: str, start: int) -> re.Pattern[str] | None:
    """What ends the words of another that begin here; None where the writer speaks."""
    before = text[max(start - _SIGHT, 0) : start]
    line = before.rpartition("\n")[2]
    if _compiled("reports", _AT_ONCE).search(line):
        return _SENTENCE_END
    if labels := list(_LABEL.finditer(line)):
        label = labels[-1]["label"].strip()
        if _compiled("own_labels").fullmatch(label):
            return None
        if labels[-1]["time"] or _is_speaker(label):
            return _TURN_END
    if _compiled("lead_ins", _AT_ONCE).search(line) or _plays(text, start, line):
        return _SENTENCE_END
    if _compiled("beliefs", _AT_ONCE).search(line):
        return _CLAUSE_END
    return _PARAGRAPH_END if _compiled("handovers", _BELOW).search(before) else None


def _plays(text: str, start: int, before: str) -> bool:
    """Whether what begins here is a part that the user plays."""
    end = start + _SIGHT
    if any(_compiled(kind).match(text, start, end) for kind in ("parts", "played")):
        return True
    return _compiled("served", _AT_ONCE).search(before) is not None and bool(_compiled("serving").match(text, start))


def _is_speaker(label: str) -> bool:
    """Whether a label names who speaks: a part, a relation, or a name."""
    if _compiled("first_person").match(label):
        return False
    return any(pattern.fullmatch(label) for pattern in (_compiled("speakers"), _relations(), _NAME))


@lru_cache(maxsize=32)
def _compiled(kind: str, ending: str = "") -> re.Pattern[str]:
    lists = words("voices")
    patterns: str | list[str] = lists[kind]
    either = patterns if isinstance(patterns, str) else "|".join(patterns)
    for games in ("games", "games_zh"):
        either = either.replace(f"{{{games}}}", lists[games])
    either = either.replace("{HAN}", HAN)
    return re.compile(f"(?:{either}){ending}", re.IGNORECASE)


@lru_cache(maxsize=1)
def _relations() -> re.Pattern[str]:
    people = words("people")
    en, zh = "|".join(people["en"]["relations"]), "|".join(people["zh"]["relations"])
    owned = r"(?:(?:my|our|his|her|their|the|an?)\s+(?:[\w-]+\s+)?)?"
    return re.compile(rf"{owned}(?:{en})|[我他她]?(?:{zh})", re.IGNORECASE)
