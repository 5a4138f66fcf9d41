"""Observations as log lines, plain or JSON."""

import logging
from contextlib import suppress
from traceback import format_exception
from typing import Any, Final, Literal, TextIO, TypeAlias

from steersman.clock import Clock
from steersman.observe.events import Observation, Observer
from steersman.observe.phrases import Fields
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
        level = level_of(observation)
        if self._logger.isEnabledFor(level):
            text, fields = describe(observation)
            error = traced_error(observation, is_debug=self._logger.isEnabledFor(logging.DEBUG))
            self._logger.log(level, text, extra={"fields": fields}, exc_info=error)


def log_to(
    stream: TextIO, *, clock: Clock, style: Style = "plain", level: int = logging.INFO
) -> Observer:
    """An observer that writes one line to ``stream`` for each observation from ``level`` up.

    No logger is involved: of what that does for a line, nothing is in the line. One that cannot be
    written is lost, and nothing else with it.
    """
    return _Lines(stream, clock=clock, style=style, level=level)


class _Lines:
    def __init__(self, stream: TextIO, *, clock: Clock, style: Style, level: int) -> None:
        self._stream = stream
        self._clock = clock
        self._style: Style = style
        self._level = level

    def listener_for(self, kind: type[Any]) -> Observer | None:
        """Nobody for what is never loud enough."""
        return None if kind in QUIET and self._level > logging.DEBUG else self.__call__

    def __call__(self, observation: Observation) -> None:
        level = level_of(observation)
        if level < self._level:
            return
        text, fields = describe(observation)
        error = traced_error(observation, is_debug=self._level <= logging.DEBUG)
        trace = "" if error is None else "".join(format_exception(error)).rstrip("\n")
        line = _line(self._style, self._clock, logging.getLevelName(level), text, fields, trace)
        with suppress(OSError, ValueError):  # it is full, or closed
            try:
                self._stream.write(f"{line}\n")
            except UnicodeEncodeError:
                self._stream.write(f"{line!a}\n")
            self._stream.flush()


class LineFormatter(logging.Formatter):
    """One line for each record, plain or JSON, with the time of ``clock``."""

    def __init__(self, *, style: Style, clock: Clock) -> None:
        super().__init__()
        self._line_style: Style = style
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        fields: Fields = getattr(record, "fields", {})
        text = record.getMessage()
        return _line(self._line_style, self._clock, record.levelname, text, fields, trace)


def _line(style: Style, clock: Clock, level: str, text: str, fields: Fields, trace: str) -> str:
    time = clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if len(text) > LONGEST_TEXT:
        text = text[: LONGEST_TEXT - 1] + "…"
    trace = trace[-LONGEST_TRACE:]
    if style == "plain":
        line = f"{time} {level:<7} {_on_one_line(text)}"
        # Set in, so that nothing in it can pass for a line of its own.
        return "\n    ".join((line, *map(_on_one_line, trace.splitlines())))
    # Here, because not everybody wants lines of JSON.
    import json

    told = {"time": time, "level": level.lower(), "message": text, **fields}
    return json.dumps(told | {"trace": trace} if trace else told)


def _on_one_line(text: str) -> str:
    # A server's message may hold newlines and terminal codes, and could write lines of its own.
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
