"""The position of a reflector in the server's history, and its transitions. No I/O.

    MustList ──ListCompleted──▶ MayWatch ──EventReceived──▶ MayWatch
      │  ▲                 │    ▲
      │  └──anything else──┤    │
    StreamStarted        Failed Confirmed          (``Ended`` is like ``Failed``)
      ▼                    ▼    │
    Streaming ──ListCompleted──▶  MustProbe

``Gone``, ``Missing`` and events out of order lead back to ``MustList`` from every position. The
position never goes back in time: a list older than the position is rejected. The exception is a
rewound history: after enough responses that the server has not reached the position, an older list
is accepted.
"""

from typing import Literal, TypeAlias, assert_never

import msgspec

from steersman.errors import Expired, NotFound, SteersmanError, TooLargeResourceVersion
from steersman.watch.versions import LEAP_DIGITS, is_far_ahead, is_older

# Why the reflector must list: it is the first list, 410, a server that is behind the position,
# events out of order, or a missing kind.
ReconcileReason: TypeAlias = Literal["start", "expired", "behind", "out of order", "missing"]


class MustList(msgspec.Struct, frozen=True):
    """A position from which the reflector must list.

    ``reached`` is the last resourceVersion that was reached, or ``""`` before the first list.
    ``behind`` is the number of consecutive responses that the server has not reached that version.
    ``missing`` is the number of consecutive responses that the server does not serve the kind.
    """

    reached: str = ""
    behind: int = 0
    missing: int = 0
    why: ReconcileReason = "start"


class Streaming(msgspec.Struct, frozen=True):
    """The position while the server sends initial events; ``before`` is the previous position."""

    before: MustList


class MustProbe(msgspec.Struct, frozen=True):
    """A position at which ``version`` was reached, perhaps not by the server used next.

    The reflector must probe the server before it watches: a watch from a version that the server
    has not reached does not fail, but receives no events. If the server has another history, the
    watch would receive no events permanently.
    """

    version: str
    behind: int = 0


class MayWatch(msgspec.Struct, frozen=True, gc=False):
    """A position at which ``version`` was reached, and from which a watch may resume."""

    version: str


Position: TypeAlias = MustList | Streaming | MustProbe | MayWatch


class ListCompleted(msgspec.Struct, frozen=True):
    """A list is complete, or all initial events of a watch have been received."""

    version: str


class StreamStarted(msgspec.Struct, frozen=True):
    """A watch that begins with initial events has been opened."""


class EventReceived(msgspec.Struct, frozen=True, gc=False):
    """An event or a bookmark with ``version`` was received."""

    version: str


class Confirmed(msgspec.Struct, frozen=True):
    """The server confirmed that its data is at least as new as the position."""


class Ended(msgspec.Struct, frozen=True):
    """The server ended a watch without an error."""


class Failed(msgspec.Struct, frozen=True):
    """A request failed, and the failure shows nothing about the server's history."""


class Gone(msgspec.Struct, frozen=True):
    """The requested version, or the next page of a list, has expired on the server."""


class TooLarge(msgspec.Struct, frozen=True):
    """The server has not yet reached the requested version."""


class Missing(msgspec.Struct, frozen=True):
    """The server does not serve the kind."""


Input: TypeAlias = (
    EventReceived
    | ListCompleted
    | StreamStarted
    | Confirmed
    | Ended
    | Failed
    | Gone
    | TooLarge
    | Missing
)


def advance(position: Position, received: Input, *, too_large_limit: int) -> Position:
    """Return the position that follows ``position`` after the input ``received``.

    After ``too_large_limit`` consecutive ``TooLarge`` inputs, an older list is accepted.
    """
    match received:
        case EventReceived(version):
            # Initial events are not ordered by version: a watch cannot resume among them.
            return (
                advance_by_event(position, version) if isinstance(position, MayWatch) else position
            )
        case ListCompleted(version):
            return _listed(_must_list(position, None), version, too_large_limit)
        case StreamStarted():
            return Streaming(position) if isinstance(position, MustList) else position
        case Confirmed():
            return MayWatch(position.version) if isinstance(position, MustProbe) else position
        case Ended():
            # The next response may come from a server with another history.
            return position.before if isinstance(position, Streaming) else _failed(position)
        case Failed():
            return _failed(position)
        case Gone():
            # A watch without a resourceVersion would not report the deletions of the gap, and the
            # deleted objects would stay in the cache.
            return _must_list(position, "expired")
        case TooLarge():
            return _too_large(position, too_large_limit)
        case Missing():
            base = _must_list(position, "missing")
            return MustList(base.reached, base.behind, _missing(position) + 1, base.why)
        case _:
            assert_never(received)


def advance_by_event(position: MayWatch, version: str) -> MayWatch | MustList:
    """Return the position that follows ``position`` after an event with ``version``.

    ``advance`` calls this function. Callers that have an event call it directly, which is faster.
    """
    if is_older(version, position.version):
        # Either this event is a duplicate, or a previous one came too early. A list is correct in
        # both cases.
        return MustList(position.version, why="out of order")
    reached = position.version
    # Checked here first, because nearly always only the last digits differ.
    if version[:-LEAP_DIGITS] != reached[:-LEAP_DIGITS] and is_far_ahead(version, reached):
        # Otherwise all later events would look old. If the version is correct, the list has it as
        # well.
        return MustList(position.version, why="out of order")
    return MayWatch(version) if version and version != position.version else position


def classify(error: SteersmanError) -> Input:
    """Return the input for ``advance`` that corresponds to ``error``."""
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
    """Return ``position`` as a ``MustList``; with ``why=None``, the previous reason is used."""
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
