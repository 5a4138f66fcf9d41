"""Observations as log lines; every word of them is written here."""

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Final, Literal, TextIO, TypeAlias, assert_never

from steersman.clock import Clock
from steersman.names import ObjectRef
from steersman.observe.events import (
    AnswerFailed,
    ApiWarned,
    CredentialsNotRenewed,
    CredentialsRenewed,
    Observation,
    Observer,
    RequestFinished,
    RequestRetried,
    RetriesSpent,
    RiskAccepted,
)

Style: TypeAlias = Literal["plain", "json"]
Fields: TypeAlias = Mapping[str, str | int | float]

# Servers put into their messages what they like. More than a screenful, less than a flood.
LONGEST_TEXT: Final = 4000

# The refusals that somebody has to do something about. Of the others the caller makes what it
# likes: to look for an object that is not there is no news.
_LOUD_CODES: Final = frozenset({401, 403, 429})


def level_of(observation: Observation) -> int:
    """How loud an observation is."""
    match observation:
        case RequestFinished(error=None):
            return logging.DEBUG
        case RequestFinished(code=code):
            loud = code is None or code >= 500 or code in _LOUD_CODES
            return logging.WARNING if loud else logging.DEBUG
        case RequestRetried() | CredentialsRenewed():
            return logging.INFO
        case RetriesSpent() | ApiWarned() | CredentialsNotRenewed() | RiskAccepted():
            return logging.WARNING
        case AnswerFailed():
            return logging.ERROR
        case _:
            assert_never(observation)


def describe(observation: Observation) -> tuple[str, Fields]:
    """What a log says of an observation: to those who read, and to those who search."""
    match observation:
        case RequestFinished(error=None, code=code):
            text = f"{_asked(observation)}: {code} {_effort(observation)}"
            return text, _fields(observation)
        case RequestFinished(error=error):
            text = f"{_asked(observation)}: failed {_effort(observation)}: {error}"
            return text, _fields(observation)
        case RequestRetried(attempt=attempt, wait_seconds=wait_seconds, error=error):
            again = f"will be tried again in {_length(wait_seconds)}"
            text = f"{_asked(observation)}: attempt {attempt} failed and {again}: {error}"
            return text, _fields(observation)
        case RetriesSpent(error=error):
            text = f"{_asked(observation)}: failed, and the retry budget is empty: {error}"
            return text, _fields(observation)
        case ApiWarned(text=warning):
            text = f"{_asked(observation)}: the API server warns: {warning}"
            return text, _fields(observation)
        case CredentialsRenewed(source=source, reason=reason):
            return f"credentials from {source} renewed: {reason}", {"source": source}
        case CredentialsNotRenewed(source=source, error=error):
            text = f"credentials from {source} not renewed, the old ones stay in use: {error}"
            return text, {"source": source, "error": type(error).__name__}
        case RiskAccepted(source=source, risk=risk):
            return f"{source}: {risk}", {"source": source}
        case AnswerFailed(method=method, path=path, error=error):
            what = type(error).__name__
            # Where, and not what it says: that may be what somebody wanted kept secret.
            text = f"{method} {path}: the API server failed: {what} {_place_of(error)}"
            return text, {"method": method, "path": path, "error": what}
        case _:
            assert_never(observation)


class LogObserver:
    """Tells a logger, with the fields of each line as ``record.fields``."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def __call__(self, observation: Observation) -> None:
        level = level_of(observation)
        if self._logger.isEnabledFor(level):
            text, fields = describe(observation)
            self._logger.log(level, text, extra={"fields": fields})


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
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if self._is_plain:
            line = f"{time} {record.levelname:<7} {_on_one_line(text)}"
            return f"{line}\n{trace}" if trace else line
        fields = {
            "time": time,
            "level": record.levelname.lower(),
            "message": text,
            **getattr(record, "fields", {}),
        }
        return json.dumps(fields | {"trace": trace} if trace else fields)


_Requested: TypeAlias = RequestFinished | RequestRetried | RetriesSpent | ApiWarned


def _asked(observation: _Requested) -> str:
    return f"{observation.verb} {observation.ref or observation.resource}"


def _fields(observation: _Requested) -> Fields:
    fields: dict[str, str | int | float] = {
        "verb": observation.verb,
        "resource": observation.resource,
    }
    if observation.ref is not None:
        fields |= _ref_fields(observation.ref)
    if isinstance(observation, RequestFinished):
        fields["took_seconds"] = observation.took_seconds
        fields["attempts"] = observation.attempts
        if observation.code is not None:
            fields["code"] = observation.code
    if not isinstance(observation, ApiWarned) and observation.error is not None:
        fields["error"] = type(observation.error).__name__
    return fields


def _ref_fields(ref: ObjectRef) -> dict[str, str]:
    fields = {"kind": ref.kind, "name": ref.name}
    return fields | {"namespace": ref.namespace} if ref.namespace else fields


def _effort(finished: RequestFinished) -> str:
    took = f"in {_length(finished.took_seconds)}"
    return f"{took} and {finished.attempts} attempts" if finished.attempts > 1 else took


def _place_of(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _length(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _on_one_line(text: str) -> str:
    # A server's message may hold newlines and terminal codes, and could write lines of its own.
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
