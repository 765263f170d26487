"""The messages of each model call: the fixed prompt first, then what belongs to this request, as data."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import islice

from pipeline.adapters.openai.chat import Message
from pipeline.domain.languages import language_name
from pipeline.ports import AnswerRequest, Json, Said
from pipeline.prompts import prompt
from schemas.features import KnownFeature, Summary

#: An earlier question is there to understand the current one by: its beginning does.
EARLIER_CHARS = 160
#: Who the user is shows at either end of a long question; the middle is mostly pasted text.
QUESTION_CHARS = 6_000
#: What a summary reads of the messages since the last one, all together.
SUMMARY_CHARS = 8_000
#: The short-term context of an answer, newest messages first.
CONTEXT_CHARS = 12_000


def extraction_messages(question: str, history: Sequence[str]) -> tuple[Message, ...]:
    """Ask what the question suggests, read with the earlier ones."""
    earlier: list[Json] = [_shortened(text, EARLIER_CHARS) for text in history]
    data = fenced({"earlier": earlier, "question": _shortened(question, QUESTION_CHARS), **_language(question)})
    return *_prompt_with_examples("extraction"), Message("user", data)


def summary_messages(previous: Summary, messages: Sequence[Said]) -> tuple[Message, ...]:
    """Ask for the summary, brought up to date with what was said since."""
    each = SUMMARY_CHARS // max(len(messages), 1)
    said: list[Json] = [{"role": one.role, "text": _shortened(one.text, each)} for one in messages]
    own = "\n".join(one.text for one in messages if one.role == "user")
    known = previous.model_dump(by_alias=True, include={"target", "blocker", "suggestion", "next_step"})
    data = fenced({"previous": known, "messages": said, **_language(own)})
    return *_prompt_with_examples("summary"), Message("user", data)


def feature_messages(messages: Sequence[Said], known: Sequence[KnownFeature]) -> tuple[Message, ...]:
    """Ask what the last user message says of the user that stays true, read with the messages before it."""
    last = max((at for at, said in enumerate(messages) if said.role == "user"), default=-1)
    question = messages[last].text if last >= 0 else ""
    before: list[Json] = [
        {"role": said.role, "text": _shortened(said.text, EARLIER_CHARS)} for said in messages[: max(last, 0)]
    ]
    facts: list[Json] = [{"slot": one.slot, "value": one.value} for one in known]
    data: dict[str, Json] = {"known": facts, "earlier": before, "message": _shortened(question, QUESTION_CHARS)}
    return *_prompt_with_examples("features"), Message("user", fenced({**data, **_language(question)}))


def checking_messages(features: Sequence[KnownFeature], days: int) -> tuple[Message, ...]:
    """Ask which facts may be expected to be so still."""
    facts: list[Json] = [{"slot": one.slot, "value": one.value, "content": one.content} for one in features]
    return *_prompt_with_examples("still_hold"), Message("user", fenced({"days": days, "facts": facts}))


def answer_messages(request: AnswerRequest) -> tuple[Message, ...]:
    """Ask for an answer; without guidance nothing about the user is in it."""
    system = Message("system", prompt("answer").text(request.guidance))
    return system, *_context(request.context), Message("user", request.question)


def report_messages(request: AnswerRequest) -> tuple[Message, ...]:
    """Ask for a report, with the sources as numbered data."""
    sources: list[Json] = [
        {"number": number, "id": source.id, "title": source.title, "url": source.url, "snippet": source.snippet}
        for number, source in enumerate(request.sources, 1)
    ]
    system = Message("system", prompt("report").text(request.guidance))
    data = fenced({"sources": sources, "question": request.question, **_language(request.question)})
    return system, *_context(request.context), Message("user", data)


def reask_messages(reply: str, problem: str, keys: Sequence[str]) -> tuple[Message, ...]:
    """Ask once more, saying what was wrong with the reply."""
    again = f"Your reply could not be used: {problem}. Reply with one JSON object with exactly the keys "
    said = (Message("assistant", _shortened(reply, 2_000)),) if reply.strip() else ()
    return *said, Message("user", f"{again}{', '.join(keys)}, and no other text.")


def fenced(data: dict[str, Json]) -> str:
    """Data as JSON that no text in it can end: quotes and line ends are escaped, and so is `<`.

    Chat templates mark turns with tokens such as <|im_end|> and [INST]; written out in a user's text they would
    end the message. The escapes read back as the same text, so quotes stay exact.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("[INST", "\\u005bINST").replace("[/INST", "\\u005b/INST")


def _language(question: str) -> dict[str, Json]:
    """Small models drift into the language of the prompt, which is English."""
    name = language_name(question)
    return {} if name in (None, "English") else {"language": name}


@cache
def _prompt_with_examples(name: str) -> tuple[Message, ...]:
    """The rules, then the examples as turns of a conversation, which small models follow better than prose."""
    lines = [line for line in prompt(name).filled.splitlines() if line.startswith("{")]
    turns = (Message("user" if at % 2 == 0 else "assistant", line) for at, line in enumerate(lines))
    return Message("system", prompt(name).fixed), *turns


def _context(context: Sequence[Said]) -> tuple[Message, ...]:
    kept: list[Message] = []
    left = CONTEXT_CHARS
    for said in islice(reversed(context), 100):
        text = _shortened(said.text, left)
        if not text.strip():
            break
        kept.append(Message(said.role, text))
        left -= len(text)
    return tuple(reversed(kept))


def _shortened(text: str, most: int) -> str:
    """At most `most` characters: two thirds from the beginning, the rest from the end."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 3]} … {text[len(text) - tail :]}" if most > 12 else ""
