"""The reports of an operator to the process that started it: one line of JSON each."""

from typing import Final, TypeAlias

import msgspec

from steersman.names import ResourceType
from steersman.view import Reconciled


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """A report of the files that were read while loading the operator, even if loading failed."""

    files: tuple[str, ...]


class Kinds(msgspec.Struct, frozen=True, kw_only=True, tag="kinds"):
    """A report that the server now serves the operator's kinds.

    ``reconciled`` are the kinds that the operator reconciles, and ``followed`` all that it watches.
    """

    reconciled: tuple[ResourceType, ...]
    followed: tuple[ResourceType, ...]


class Running(msgspec.Struct, frozen=True, kw_only=True, tag="running"):
    """A report that the workers have started, ``took_seconds`` after the start of the process."""

    took_seconds: float


Report: TypeAlias = Loaded | Kinds | Running | Reconciled

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Report]] = msgspec.json.Decoder(Report)


def as_line(report: Report) -> bytes:
    """Return the report as a line to send."""
    return _ENCODER.encode(report) + b"\n"


def from_line(line: bytes) -> Report:
    """Return the report in a received line."""
    return _DECODER.decode(line)
