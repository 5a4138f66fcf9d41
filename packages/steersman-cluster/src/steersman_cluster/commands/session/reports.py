"""The reports that an operator sends to its starter, the process that started it.

Each report is one line of JSON.
"""

from typing import Final, TypeAlias

import msgspec

from steersman.names import ResourceType
from steersman.view import Reconciled


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """A report that ``files`` were read to load the operator, even if the loading failed."""

    files: tuple[str, ...]


class Kinds(msgspec.Struct, frozen=True, kw_only=True, tag="kinds"):
    """A report that the API server now serves the operator's kinds.

    The operator reconciles objects of the kinds in ``reconciled``, and watches those in
    ``followed``.
    """

    reconciled: tuple[ResourceType, ...]
    followed: tuple[ResourceType, ...]


class Running(msgspec.Struct, frozen=True, kw_only=True, tag="running"):
    """A report that the operator's workers have started.

    ``took_seconds`` is the time from the start of the operator's process to the start of the
    workers.
    """

    took_seconds: float


Report: TypeAlias = Loaded | Kinds | Running | Reconciled

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Report]] = msgspec.json.Decoder(Report)


def as_line(report: Report) -> bytes:
    """Return ``report`` as a line of JSON."""
    return _ENCODER.encode(report) + b"\n"


def from_line(line: bytes) -> Report:
    """Return the report that ``line``, a line of JSON, contains."""
    return _DECODER.decode(line)
