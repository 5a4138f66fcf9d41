"""Observations as log lines, plain or JSON."""

import json
import logging
from typing import Final, Literal, TextIO, TypeAlias

from steersman.clock import Clock
from steersman.observe.events import Observation, Observer
from steersman.observe.wording import QUIET, describe, level_of, traced_error

Style: TypeAlias = Literal["plain", "json"]

# Servers put into their messages what they like. More than a screenful, less than a flood.
LONGEST_TEXT: Final = 4000
# The end of a trace is where it happened; errors in groups can go on for ever.
LONGEST_TRACE: Final = 20_000


class LogObserver:
    """Tells a logger, with the fields of each line as ``record.fields``."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def __call__(self, observation: Observation) -> None:
        level = logging.DEBUG if type(observation) in QUIET else level_of(observation)
        if self._logger.isEnabledFor(level):
            text, fields = describe(observation)
            error = traced_error(observation, is_debug=self._logger.isEnabledFor(logging.DEBUG))
            self._logger.log(level, text, extra={"fields": fields}, exc_info=error)


def log_to(
    stream: TextIO, *, clock: Clock, style: Style = "plain", level: int = logging.INFO
) -> Observer:
    """An observer that writes one line to ``stream`` for each observation from ``level`` up.

    Its logger is its own: nothing is added to those that ``logging`` hands out.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(style=style, clock=clock))
    logger = logging.Logger("steersman", level)
    logger.addHandler(handler)
    return LogObserver(logger)


class LineFormatter(logging.Formatter):
    """One line for each record, plain or JSON, with the time of ``clock``."""

    def __init__(self, *, style: Style, clock: Clock) -> None:
        super().__init__()
        self._is_plain = style == "plain"
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        time = self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = record.getMessage()
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT - 1] + "…"
        trace = self.formatException(record.exc_info)[-LONGEST_TRACE:] if record.exc_info else ""
        if self._is_plain:
            line = f"{time} {record.levelname:<7} {_on_one_line(text)}"
            # Set in, so that nothing in it can pass for a line of its own.
            return "\n    ".join((line, *map(_on_one_line, trace.splitlines())))
        fields = {
            "time": time,
            "level": record.levelname.lower(),
            "message": text,
            **getattr(record, "fields", {}),
        }
        return json.dumps(fields | {"trace": trace} if trace else fields)


def _on_one_line(text: str) -> str:
    # A server's message may hold newlines and terminal codes, and could write lines of its own.
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
