"""What a model server takes, learnt from its refusals: response formats and parameter names differ."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from pipeline.adapters.openai.reply_schemas import ReplyShape, without_bounds

Format = Literal["bounded schema", "plain schema", "json object", "text"]
FORMATS: tuple[Format, ...] = ("bounded schema", "plain schema", "json object", "text")

#: A refusal that names one of these is about the response format; plainer words may come from an echoed question.
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "grammar", "guided_json", "requested parameters")
#: A refusal that names one of these has another cause: another format would not help.
_OTHER_CAUSES = (
    "context_length", "context length", "context size", "context window", "maximum context", "too long", "too large",
    "content_filter", "content management policy", "model_not_found", "invalid model", "unknown model", "no such model",
    "api key", "api_key", "quota", "billing",
)  # fmt: skip
#: 501 is a server's way of saying that it does not implement the parameter.
_VAGUE_REFUSALS = frozenset({400, 415, 422, 501})


@dataclass(frozen=True)
class Dialect:
    """How requests to one model are worded; the first is what most servers take."""

    format: Format = FORMATS[0]
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def parameters(self, shape: ReplyShape | None, max_tokens: int, temperature: float) -> dict[str, Any]:
        """The parameters of a request in this dialect."""
        parameters: dict[str, Any] = {self.limit_name: max_tokens}
        if self.temperature:
            parameters["temperature"] = temperature
        if shape is not None and self.format != "text":
            parameters["response_format"] = self._response_format(shape)
        return parameters

    def _response_format(self, shape: ReplyShape) -> dict[str, Any]:
        if self.format == "json object":
            return {"type": "json_object"}
        schema = shape.schema if self.format == "bounded schema" else without_bounds(shape.schema)
        return {"type": "json_schema", "json_schema": {"name": shape.name, "strict": True, "schema": schema}}


def adapted(dialect: Dialect, status: int, said: str, *, structured: bool) -> Dialect | None:
    """The dialect to try after a refusal; None where none would help. `said` is the server's error, any case."""
    if status < 400 or status in (401, 403, 408, 429):
        return None
    said = said.lower()
    if "max_completion_tokens" in said and dialect.limit_name == "max_tokens":
        return replace(dialect, limit_name="max_completion_tokens")
    if "temperature" in said and dialect.temperature:
        return replace(dialect, temperature=False)
    if not structured or dialect.format == "text" or any(words in said for words in _OTHER_CAUSES):
        return None
    if status in _VAGUE_REFUSALS or any(word in said for word in _FORMAT_WORDS):
        return replace(dialect, format=FORMATS[FORMATS.index(dialect.format) + 1])
    return None
