"""Text put into Markdown so that it stays text: nothing a source or a model wrote changes the structure."""

import re
from collections.abc import Collection
from urllib.parse import quote, urlsplit

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")
_IN_URL = re.compile(r"[\s<>()\[\]\\\"'`|^{}\x00-\x20]")

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_FENCE_RUN = re.compile(r"[`~]{3,}")
_CODE_SPAN = re.compile(r"(?<![\\`])(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_HEADING = re.compile(r"^(\s*(?:(?:[-*+>]|\d+[.)])\s+)*)#")
_RULE = re.compile(r"^(\s*)([=*_-])((?:\s*\2)*\s*)$")
_REFERENCE = re.compile(r"^(\s*(?:(?:[-*+>]|\d+[.)])\s+)*)!*\[(?=[^\]]+\]:)")
_LINK = re.compile(r"\[([^\[\]]*)\]\(\s*+<?([^\s()<>]*+)>?(?:\s[^()]*)?\)")
_IMAGE = re.compile(r"!+\[")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def escaped(text: str) -> str:
    """One line of foreign text as plain words."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(lambda match: f"{match[1]}{match[2][:-1]}\\{match[2][-1]}", line)


def link(title: str, url: str) -> str:
    """A link to a page of the web; the title alone where the address is none."""
    return f"[{escaped(title or url)}]({web_address(url)})" if web_address(url) else escaped(title or url)


def web_address(url: str) -> str:
    """The address with what would end a Markdown link percent-encoded; empty unless it is http or https."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    return _IN_URL.sub(lambda match: quote(match[0], safe=""), url.strip())


def prose(text: str, addresses: Collection[str] = ()) -> str:
    """A model's text with its lists, emphasis and code, and without headings, HTML, images and links of its own.

    Links to `addresses` stay. Code fences are moved to the left edge and always closed, so that where code begins and
    ends is the same for every renderer.
    """
    parts: list[str] = []
    words: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            words.append(line)
            continue
        parts += [_words(words, addresses), f"{fence[2]}{fence[3]}"]
        words = []
        closing = re.compile(rf"^\s*{fence[2][0]}{{{len(fence[2])},}}\s*$")
        for code in lines:
            if closing.match(code):
                break
            parts.append(code.removeprefix(fence[1]))
        parts.append(fence[2])
    return "\n".join(part for part in [*parts, _words(words, addresses)] if part).strip("\n")


def _words(lines: list[str], addresses: Collection[str]) -> str:
    lines = [_FENCE_RUN.sub("", line) for line in lines]
    # Only where every code span ends on its own line does each renderer find the same ones.
    spans = not any("`" in _CODE_SPAN.sub("", line) for line in lines)
    return "\n".join(_line(line, addresses, spans=spans) for line in lines)


def _line(line: str, addresses: Collection[str], *, spans: bool) -> str:
    line = _HEADING.sub(r"\1\\#", line)
    line = _REFERENCE.sub(r"\1\\[", line)
    line = _RULE.sub(r"\1\\\2\3", line)
    kept, at = [], 0
    for span in _CODE_SPAN.finditer(line) if spans else ():
        kept += [_inline(line[at : span.start()], addresses), span[0]]
        at = span.end()
    return "".join([*kept, _inline(line[at:], addresses)])


def _inline(text: str, addresses: Collection[str]) -> str:
    """Without HTML, images and foreign links; `&lt;` holds whatever stands before it, a backslash would not."""

    def unlinked(match: re.Match[str]) -> str:
        kept = match[2] in addresses and web_address(match[2])
        return f"[{match[1]}]\0({kept})" if kept else match[1]

    text = _LINK.sub(unlinked, _IMAGE.sub("[", text))
    text = text.replace("](", "] (").replace("]\0(", "](")
    return _TAG.sub("&lt;", text)
