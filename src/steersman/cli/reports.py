"""What an operator tells the process that started it: one line of JSON for each thing."""

from typing import Final, TypeAlias

import msgspec

from steersman.dashboard import Reconciled
from steersman.names import ResourceType


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """The files that were read to load it, or to fail to: one of them is saved before a reload."""

    files: tuple[str, ...]


class Kinds(msgspec.Struct, frozen=True, kw_only=True, tag="kinds"):
    """The kinds are served: those that it reconciles, and all that it follows."""

    reconciled: tuple[ResourceType, ...]
    followed: tuple[ResourceType, ...]


class AtWork(msgspec.Struct, frozen=True, kw_only=True, tag="at-work"):
    """Its workers have started, so long after the process did."""

    took_seconds: float


Report: TypeAlias = Loaded | Kinds | AtWork | Reconciled

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Report]] = msgspec.json.Decoder(Report)


def as_line(report: Report) -> bytes:
    """The report, to be sent."""
    return _ENCODER.encode(report) + b"\n"


def from_line(line: bytes) -> Report:
    """The report that was sent."""
    return _DECODER.decode(line)
