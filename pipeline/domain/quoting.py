"""Where a question holds words that are not the user's own: quotations, pasted passages, code, planted instructions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from pipeline.domain.spelling import HAN
from pipeline.domain.voices import voices
from pipeline.words import words

Span = tuple[int, int]

#: What opens and what closes a quotation, and whether it ends with its line.
_MARKS = tuple(
    (re.compile(opening), re.compile(closing), within_line)
    for opening, closing, within_line in (
        ("“", "”", False),
        ("「", "」", False),
        ("『", "』", False),
        ("【", "】", False),
        # A title is no quotation, unless somebody speaks in it.
        ("《(?=[我俺]|(?i:i(?:'m)?\\b))", "》", True),
        ("«", "»", False),
        ("„", "[“”]", False),
        ('"', '"', True),
        ("＂", "＂", True),
        # A single mark opens where no letter stands before it, and closes where none follows: an apostrophe does
        # neither. Beside a Chinese character it is no apostrophe.
        (rf"(?<![^\W{HAN}]|['’])['‘](?=\S)", rf"(?<=\S)['’](?![^\W{HAN}])", True),
    )
)
_FENCE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_QUOTED_LINE = re.compile(r"^[ \t]*[>＞|].*$", re.MULTILINE)
_LINE = re.compile(r"[^\n]+")
#: Not that of an address, a time or a smile.
_COLON = re.compile(r"[:：](?!//|\d|-?[)(DPp])\s*")
_BELOW = re.compile(r"\n\s*+(\S.*?)(?=\n\s*\n|\Z)", re.DOTALL)
_LEAD_LENGTH = 120
#: A line with more colons than this is no line that hands something over.
_MOST_COLONS = 20
#: Nobody asks about more letters than these at once.
_MOST_LETTERS = 5


@dataclass(frozen=True)
class Ground:
    """A question with the spans in it that the user did not say of themselves; ends are exclusive."""

    text: str
    quoted: tuple[Span, ...]
    """Inside quotation marks or a pasted passage, or where another than the writer says "I"."""
    code: tuple[Span, ...]
    planted: tuple[Span, ...]
    """Lines that instruct a model instead of asking it."""


def inside(span: Span, spans: tuple[Span, ...]) -> bool:
    """Whether one of `spans` holds the whole of `span`."""
    return any(start <= span[0] and span[1] <= end for start, end in spans)


@lru_cache(maxsize=8)
def _patterns(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in words("quoting")[kind]), re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=64)
def ground_of(text: str) -> Ground:
    """Find what in a question is not the user's own."""
    code = [match.span() for match in (*_FENCE.finditer(text), *_INLINE_CODE.finditer(text))]
    code.extend(_lines_like("code", text))
    quoted = [span for marks in _MARKS for span in _between(*marks, text)]
    quoted.extend(match.span() for match in _QUOTED_LINE.finditer(text))
    quoted.extend(_messages(text))
    quoted.extend(_letters(text))
    quoted.extend(_handed_over(text))
    quoted.extend(voices(text))
    return Ground(text, tuple(quoted), tuple(code), tuple(_lines_like("planted", text)))


def own_words(text: str) -> str:
    """The question with everything that is not the user's own blanked, so that places stay."""
    ground = ground_of(text)
    return _blanked(text, (*ground.quoted, *ground.code, *ground.planted))


@lru_cache(maxsize=16)
def spoken(ground: Ground) -> str:
    """The question with quotations and planted instructions blanked; code may be the user's own."""
    return _blanked(ground.text, (*ground.quoted, *ground.planted))


def _blanked(text: str, spans: Iterable[Span]) -> str:
    letters = list(text)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def _between(opening: re.Pattern[str], closing: re.Pattern[str], within_line: bool, text: str) -> Iterator[Span]:
    """From each mark that opens a quotation to the next that closes it."""
    at = 0
    while start := opening.search(text, at):
        newline = text.find("\n", start.end()) if within_line else -1
        last = len(text) if newline < 0 else newline
        end = closing.search(text, start.end(), last)
        if end:
            yield start.start(), end.end()
        at = end.end() if end else last


def _lines_like(kind: str, text: str) -> list[Span]:
    pattern = _patterns(kind)
    return [line.span() for line in _LINE.finditer(text) if pattern.search(line[0])]


def _messages(text: str) -> list[Span]:
    """From a message's first header to the end of its body."""
    found: list[Span] = []
    for line in _LINE.finditer(text):
        if found and line.start() < found[-1][1]:
            continue
        if _patterns("headers").match(line[0].strip()):
            found.append((line.start(), _end_of_message(text, line.end())))
    return found


def _end_of_message(text: str, start: int) -> int:
    """A body may come after one empty line; the next empty line ends it."""
    headers = _patterns("headers")
    place, in_body = start, False
    for match in re.finditer(r"\n([^\n]*)", text[start:]):
        line = match[1].strip()
        if line and not headers.match(line):
            in_body = True
        elif not line and in_body:
            break
        place = start + match.end()
    return place


def _letters(text: str) -> list[Span]:
    """From "Dear Sir," to the name under "Kind regards"; what opens the question is the user's own greeting."""
    found: list[Span] = []
    opening = len(text) - len(text.lstrip())
    for line in _LINE.finditer(text):
        if len(found) == _MOST_LETTERS:
            break
        if found and line.start() < found[-1][1]:
            continue
        if line.start() > opening and _patterns("salutations").fullmatch(line[0].strip()):
            found.append((line.start(), _end_of_letter(text, line.end())))
    return found


def _end_of_letter(text: str, start: int) -> int:
    """The end of the paragraph with the words that close it; without any, of the first paragraph."""
    closing = next((line for line in _LINE.finditer(text, start) if _patterns("closings").match(line[0].strip())), None)
    if closing:
        empty = re.compile(r"\n\s*\n|\Z").search(text, closing.end())
        return empty.start() if empty else len(text)
    below = _BELOW.match(text, start)
    return below.end() if below else len(text)


def _handed_over(text: str) -> list[Span]:
    """What a line such as "translate this:" hands over: the paragraph below it, or the rest of the line."""
    leads, own_again, found = _patterns("leads"), _patterns("own_again"), list[Span]()
    for line in _LINE.finditer(text):
        if found and line.start() < found[-1][1]:
            continue
        for colon in islice(_COLON.finditer(line[0]), _MOST_COLONS):
            # What introduces a passage stands close before the colon.
            before = line[0][max(colon.start() - _LEAD_LENGTH, 0) : colon.start()]
            if not leads.search(before) or own_again.search(before):
                continue
            if colon.end() < len(line[0]):
                found.append((line.start() + colon.end(), line.end()))
            elif below := _BELOW.match(text, line.end()):
                found.append(below.span(1))
            break
    return found
