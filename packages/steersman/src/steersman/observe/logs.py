"""Observations as log lines, plain or JSON."""

import logging
from contextlib import suppress
from traceback import format_exception
from typing import Any, Final, Literal, TextIO, TypeAlias

from steersman.clock import Clock
from steersman.observe.observation import Fields, Observation, Observer

Style: TypeAlias = Literal["plain", "json"]

# The limit of a log text: a server's messages may have any length.
MAX_TEXT_LENGTH: Final = 4000
# The limit of a traceback; its end is kept, because it has the location of the error.
MAX_TRACE_LENGTH: Final = 20_000


class LogObserver:
    """An observer that logs each observation to a Python logger.

    The fields of an observation are in the log record's attribute ``fields``.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def __call__(self, observation: Observation) -> None:
        level = observation.level()
        if self._logger.isEnabledFor(level):
            text, fields = observation.describe()
            error = _traced(observation, is_debug=self._logger.isEnabledFor(logging.DEBUG))
            self._logger.log(level, text, extra={"fields": fields}, exc_info=error)


def log_to(
    stream: TextIO, *, clock: Clock, style: Style = "plain", level: int = logging.INFO
) -> Observer:
    """Return an observer that writes observations at ``level`` or above to ``stream``.

    Each observation is one line. The observer uses no Python logger, because a logger costs more
    time than formatting the line. A line that cannot be written is dropped without an error.
    """
    return _Lines(stream, clock=clock, style=style, level=level)


class _Lines:
    def __init__(self, stream: TextIO, *, clock: Clock, style: Style, level: int) -> None:
        self._stream = stream
        self._clock = clock
        self._style: Style = style
        self._level = level

    def listener_for(self, kind: type[Any]) -> Observer | None:
        """Return the listener that logs observations of ``kind``.

        Return ``None`` if such observations are always below the log level.
        """
        is_always_below = kind.level is Observation.level and self._level > kind.LEVEL
        return None if is_always_below else self.__call__

    def __call__(self, observation: Observation) -> None:
        level = observation.level()
        if level < self._level:
            return
        text, fields = observation.describe()
        error = _traced(observation, is_debug=self._level <= logging.DEBUG)
        trace = "" if error is None else "".join(format_exception(error)).rstrip("\n")
        line = _line(self._style, self._clock, logging.getLevelName(level), text, fields, trace)
        with suppress(OSError, ValueError):  # the disk is full, or the stream is closed
            try:
                self._stream.write(f"{line}\n")
            except UnicodeEncodeError:
                self._stream.write(f"{line!a}\n")
            self._stream.flush()


class LineFormatter(logging.Formatter):
    """A formatter for Python's ``logging`` that writes each record as one line, plain or JSON.

    The time in the line is the time of ``clock``.
    """

    def __init__(self, *, style: Style, clock: Clock) -> None:
        super().__init__()
        self._line_style: Style = style
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        fields: Fields = getattr(record, "fields", {})
        text = record.getMessage()
        return _line(self._line_style, self._clock, record.levelname, text, fields, trace)


def _traced(observation: Observation, *, is_debug: bool) -> Exception | None:
    error = observation.traced_error(is_debug=is_debug)
    return None if error is None or error.__traceback__ is None else error


def _line(style: Style, clock: Clock, level: str, text: str, fields: Fields, trace: str) -> str:
    time = clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if len(text) > MAX_TEXT_LENGTH:
        text = text[: MAX_TEXT_LENGTH - 1] + "…"
    trace = trace[-MAX_TRACE_LENGTH:]
    if style == "plain":
        line = f"{time} {level:<7} {_on_one_line(text)}"
        # Indented, so that no line of the traceback looks like a separate log line.
        return "\n    ".join((line, *map(_on_one_line, trace.splitlines())))
    # Imported here, because plain lines do not need it.
    import json

    line_fields = {"time": time, "level": level.lower(), "message": text, **fields}
    return json.dumps(line_fields | {"trace": trace} if trace else line_fields)


def _on_one_line(text: str) -> str:
    # A server's message may contain newlines and terminal codes, and so forge lines.
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
