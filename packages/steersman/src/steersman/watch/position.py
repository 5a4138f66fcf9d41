"""The position of a reflector in the server's history, and what each input makes of it. Pure.

    MustList ──Listed──▶ MayWatch ──EventReceived──▶ MayWatch
      │  ▲                 │    ▲
      │  └──anything else──┤    │
    StreamStarted        Failed Confirmed          (``Ended`` is like ``Failed``)
      ▼                    ▼    │
    Streaming ──Listed──▶  MustProbe

``Gone``, ``Missing`` and events out of order lead back to ``MustList`` from anywhere. The position
never goes back in time: a list older than the position is rejected, until the server has answered
so often that it has not reached the position that its history must have been rewound.
"""

from typing import Literal, TypeAlias, assert_never

import msgspec

from steersman.errors import Expired, NotFound, SteersmanError, TooLargeResourceVersion
from steersman.watch.versions import LEAP_DIGITS, is_far_ahead, is_older

# Why the reflector must list: it is the first list, 410, a server that is behind the position,
# events out of order, or a missing kind.
ReconcileReason: TypeAlias = Literal["start", "expired", "behind", "out of order", "missing"]


class MustList(msgspec.Struct, frozen=True):
    """The reflector must list.

    ``reached`` is the version that had been reached, ``""`` if none was. ``behind`` and ``missing``
    are how often in a row the server had not reached it, or did not know the kind.
    """

    reached: str = ""
    behind: int = 0
    missing: int = 0
    why: ReconcileReason = "start"


class Streaming(msgspec.Struct, frozen=True):
    """The server is sending initial events; ``before`` is the position before them."""

    before: MustList


class MustProbe(msgspec.Struct, frozen=True):
    """``version`` has been reached, and the server may be behind it.

    A watch from a version that the server has not reached is no error: it is silent, and with a
    server of another history it would be silent for good.
    """

    version: str
    behind: int = 0


class MayWatch(msgspec.Struct, frozen=True, gc=False):
    """``version`` has been reached, and a watch may resume from there."""

    version: str


Position: TypeAlias = MustList | Streaming | MustProbe | MayWatch


class Listed(msgspec.Struct, frozen=True):
    """A list, or the initial events of a watch, are complete."""

    version: str


class StreamStarted(msgspec.Struct, frozen=True):
    """A watch with initial events began."""


class EventReceived(msgspec.Struct, frozen=True, gc=False):
    """An event or a bookmark."""

    version: str


class Confirmed(msgspec.Struct, frozen=True):
    """The server has reached the position."""


class Ended(msgspec.Struct, frozen=True):
    """The server ended a watch without an error."""


class Failed(msgspec.Struct, frozen=True):
    """A failure that says nothing about the server's history."""


class Gone(msgspec.Struct, frozen=True):
    """The server no longer has the requested version or page."""


class TooLarge(msgspec.Struct, frozen=True):
    """The server has not reached the requested version."""


class Missing(msgspec.Struct, frozen=True):
    """The server does not know the kind."""


Input: TypeAlias = (
    EventReceived | Listed | StreamStarted | Confirmed | Ended | Failed | Gone | TooLarge | Missing
)


def advance(position: Position, received: Input, *, too_large_limit: int) -> Position:
    """The position after this input."""
    match received:
        case EventReceived(version):
            # Initial events are not ordered by version: a watch cannot resume among them.
            return (
                advance_by_event(position, version) if isinstance(position, MayWatch) else position
            )
        case Listed(version):
            return _listed(_must_list(position, None), version, too_large_limit)
        case StreamStarted():
            return Streaming(position) if isinstance(position, MustList) else position
        case Confirmed():
            return MayWatch(position.version) if isinstance(position, MustProbe) else position
        case Ended():
            # The next answer may come from a server with another history.
            return position.before if isinstance(position, Streaming) else _failed(position)
        case Failed():
            return _failed(position)
        case Gone():
            # Not a new watch: a watch from "now" would never report what was deleted in the gap,
            # and those objects would stay in the cache.
            return _must_list(position, "expired")
        case TooLarge():
            return _too_large(position, too_large_limit)
        case Missing():
            base = _must_list(position, "missing")
            return MustList(base.reached, base.behind, _missing(position) + 1, base.why)
        case _:
            assert_never(received)


def advance_by_event(position: MayWatch, version: str) -> MayWatch | MustList:
    """The position after an event with ``version``.

    A part of ``advance``, and a function of its own because most inputs are events.
    """
    if is_older(version, position.version):
        # Either this event is a duplicate, or another came too early. A list is right in both
        # cases.
        return MustList(position.version, why="out of order")
    reached = position.version
    # Here and not in is_far_ahead: almost always they differ in their last digits only.
    if version[:-LEAP_DIGITS] != reached[:-LEAP_DIGITS] and is_far_ahead(version, reached):
        # From there, all real events would seem old, and our own writes received. If the version is
        # right, the list has it as well.
        return MustList(position.version, why="out of order")
    return MayWatch(version) if version and version != position.version else position


def classify(error: SteersmanError) -> Input:
    """What an error says about the server's history."""
    match error:
        case Expired():
            return Gone()
        case TooLargeResourceVersion():
            return TooLarge()
        case NotFound():
            return Missing()
        case _:
            return Failed()


def _listed(base: MustList, version: str, too_large_limit: int) -> Position:
    if is_older(version, base.reached) and base.behind < too_large_limit:
        return MustList(base.reached, base.behind + 1, why="behind")
    return MayWatch(version)


def _failed(position: Position) -> Position:
    match position:
        case MayWatch(version):
            return MustProbe(version)
        case MustProbe():
            return position
        case MustList() | Streaming():
            return _must_list(position, None)
        case _:
            assert_never(position)


def _too_large(position: Position, too_large_limit: int) -> Position:
    match position:
        case MayWatch(version) | MustProbe(version):
            behind = 1 + (position.behind if isinstance(position, MustProbe) else 0)
            if behind < too_large_limit:
                return MustProbe(version, behind)
            return MustList(version, behind, why="behind")
        case MustList() | Streaming():
            base = _must_list(position, "behind")
            return MustList(base.reached, base.behind + 1, why=base.why)
        case _:
            assert_never(position)


def _must_list(position: Position, why: ReconcileReason | None) -> MustList:
    """The position as one that must list; ``None``: for the old reason."""
    match position:
        case MustList() | Streaming():
            before = position.before if isinstance(position, Streaming) else position
            return MustList(before.reached, before.behind, why=why or before.why)
        case MustProbe(version, behind):
            return MustList(version, behind, why=why or "start")
        case MayWatch(version):
            return MustList(version, why=why or "start")
        case _:
            assert_never(position)


def _missing(position: Position) -> int:
    match position:
        case MustList(missing=missing) | Streaming(MustList(missing=missing)):
            return missing
        case MustProbe() | MayWatch():
            return 0
        case _:
            assert_never(position)
