"""Logs: one JSON object a line for machines, plain lines for people, and no floods from libraries."""

import asyncio
import json
import logging
import re
import sys
import time
import traceback
from datetime import UTC, datetime

#: Libraries that log much and repeat themselves: theirs from WARNING on, and each message once in a while.
_LIBRARIES = ("faust", "mode", "aiokafka", "kafka", "pymongo", "motor", "openai", "httpx", "httpx2", "asyncio")
#: What it says of an outage is said by us, once; it says nothing else that we do not hear from it as an error.
_HEARD_OTHERWISE = "aiokafka"
_REPEAT_AFTER = 30.0
#: The loggers of what reads conversations.
_READERS = ("pipeline.processors", "pipeline.schedule", "pipeline.adapters.openai", "pipeline.web")
#: Where in a reply something was wrong, at the end of a reason.
_PLACE = re.compile(r" near character \d+\Z")
#: What every log record has; all else was given with `extra`.
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


class _Repeats(logging.Filter):
    """Lets a library's message through once every `_REPEAT_AFTER` seconds, whatever its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, object], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.partition(".")[0] not in _LIBRARIES:
            return True
        now, message = time.monotonic(), (record.name, record.msg)
        if now - self._last.get(message, -_REPEAT_AFTER) < _REPEAT_AFTER:
            return False
        if len(self._last) > 1000:
            self._last.clear()
        self._last[message] = now
        return True


class _FailingModel(logging.Filter):
    """Of the dead letters that a failing model makes of every turn, lets the first of a reason through.

    Reasons that differ in a place alone are one. Once none has come for `quiet` to twice as many seconds, it says how
    many more there were.
    """

    def __init__(self, quiet: float = _REPEAT_AFTER) -> None:
        super().__init__()
        self._quiet = quiet
        self._more: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "action", "") != "dead_letter":
            return True
        match record.args:
            case (_, "ModelFailed" | "ModelRefused", str(said)):
                reason = _PLACE.sub("", said)
                if reason in self._more:
                    self._more[reason] += 1
                    return False
                self._more[reason] = 0
                self._look_later(record.name, reason)
        return True

    def _look_later(self, logger: str, reason: str) -> None:
        asyncio.get_running_loop().call_later(self._quiet, self._look, logger, reason, self._more[reason])

    def _look(self, logger: str, reason: str, before: int) -> None:
        if self._more[reason] > before:
            self._look_later(logger, reason)
        elif more := self._more.pop(reason):
            extra = {"action": "dead_letters", "count": more}
            logging.getLogger(logger).warning("%d more dead letters: %s", more, reason, extra=extra)


class _Faults(logging.Filter):
    """Tells a fault in what reads conversations by its kind and place: its message may quote them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith(_READERS) and record.exc_info:
            kind, _, where = record.exc_info
            record.exc_text = "".join(traceback.format_tb(where)) + (kind.__name__ if kind else "")
        return True


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        if record.exc_info:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logging(level: str) -> None:
    """Send logs to standard error: JSON lines where it is a file or pipe, plain lines at a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Repeats())
    handler.addFilter(_FailingModel())
    handler.addFilter(_Faults())
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(plain if sys.stderr.isatty() else _JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for library in _LIBRARIES:
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    if level != "DEBUG":
        logging.getLogger(_HEARD_OTHERWISE).setLevel(logging.CRITICAL)
