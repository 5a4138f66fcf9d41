"""Where a reflector stands in the server's story, and what each thing it hears makes of that. Pure.

    MustList ──Listed──▶ MayWatch ──Told──▶ MayWatch
      │  ▲                 │    ▲
    Begun └──anything else─┐  Broke  Confirmed     (``Ended`` is like ``Broke``)
      ▼                    │    ▼    │
    Collecting ──Listed──▶ …  MustProbe

``Gone``, ``Missing`` and a story told out of order lead back to ``MustList`` from anywhere. Nothing
leads back in time: a list that is older than what was heard is not accepted, until the server has
said so often that it has not got so far that its history must have been rewound.
"""

from typing import Literal, TypeAlias, assert_never

import msgspec

from steersman.errors import Expired, NotFound, SteersmanError, TooLargeResourceVersion
from steersman.watch.versions import LEAP_DIGITS, is_far_ahead, is_older

# Why there is a list to be made: the first one, 410, a server behind its own past (or another's),
# a story told out of order, or a kind that was not there.
Why: TypeAlias = Literal["start", "expired", "behind", "out of order", "missing"]


class MustList(msgspec.Struct, frozen=True):
    """Only a list can say how things stand.

    ``seen`` is the version that had been reached, ``""`` if none was. ``behind`` and ``missing``
    are how often in a row the server had not got so far, or did not know the kind.
    """

    seen: str = ""
    behind: int = 0
    missing: int = 0
    why: Why = "start"


class Collecting(msgspec.Struct, frozen=True):
    """The server is telling what is there, and has not finished; ``before`` is where it began."""

    before: MustList


class MustProbe(msgspec.Struct, frozen=True):
    """All is known up to ``version``, and whether the server knows as much is not.

    A watch from a version that the server has not reached is no error: it is silent, and a server
    with another history would be silent for good.
    """

    version: str
    behind: int = 0


class MayWatch(msgspec.Struct, frozen=True, gc=False):
    """All is known up to ``version``, and a watch may go on from there."""

    version: str


Position: TypeAlias = MustList | Collecting | MustProbe | MayWatch


class Listed(msgspec.Struct, frozen=True):
    """A list, or the initial events of a watch, came to their end."""

    version: str


class Begun(msgspec.Struct, frozen=True):
    """A watch began that first tells what is there."""


class Told(msgspec.Struct, frozen=True, gc=False):
    """An event or a bookmark."""

    version: str


class Confirmed(msgspec.Struct, frozen=True):
    """The server has got as far as we have."""


class Ended(msgspec.Struct, frozen=True):
    """The server ended a watch in good order."""


class Broke(msgspec.Struct, frozen=True):
    """Something failed that says nothing about the story."""


class Gone(msgspec.Struct, frozen=True):
    """The server has forgotten the version or the page that was asked for."""


class TooLarge(msgspec.Struct, frozen=True):
    """The server has not got as far as the version that was asked for."""


class Missing(msgspec.Struct, frozen=True):
    """The server does not know the kind."""


Heard: TypeAlias = Told | Listed | Begun | Confirmed | Ended | Broke | Gone | TooLarge | Missing


def advance(position: Position, heard: Heard, *, too_large_limit: int) -> Position:
    """Where to stand after having heard this."""
    match heard:
        case Told(version):
            # Streamed initial events come in no order of version: a place among them is no place
            # to resume from.
            return follow(position, version) if isinstance(position, MayWatch) else position
        case Listed(version):
            return _listed(_must_list(position, None), version, too_large_limit)
        case Begun():
            return Collecting(position) if isinstance(position, MustList) else position
        case Confirmed():
            return MayWatch(position.version) if isinstance(position, MustProbe) else position
        case Ended():
            # However well it ended: who answers next may be a server with another history.
            return position.before if isinstance(position, Collecting) else _broke(position)
        case Broke():
            return _broke(position)
        case Gone():
            # Not a fresh watch: a watch from "now" would never tell us what was deleted while we
            # were away, and those ghosts would stay in the cache.
            return _must_list(position, "expired")
        case TooLarge():
            return _too_large(position, too_large_limit)
        case Missing():
            base = _must_list(position, "missing")
            return MustList(base.seen, base.behind, _missing(position) + 1, base.why)
        case _:
            assert_never(heard)


def follow(position: MayWatch, version: str) -> MayWatch | MustList:
    """Where to stand after having been told of ``version`` in the course of a watch.

    A part of ``advance``, with a door of its own because most of what is heard is this.
    """
    if is_older(version, position.version):
        # Either it was told before, or something else was told too early. Which one nobody can
        # know, and a list is right in both cases.
        return MustList(position.version, why="out of order")
    reached = position.version
    # Here and not in the function: almost always they differ in their last digits only.
    if version[:-LEAP_DIGITS] != reached[:-LEAP_DIGITS] and is_far_ahead(version, reached):
        # To stand there would mean to take all that really happens for old, and our own writes for
        # heard. If it is true, the list is of that version as well.
        return MustList(position.version, why="out of order")
    return MayWatch(version) if version and version != position.version else position


def meaning_of(error: SteersmanError) -> Heard:
    """What an error says about the story."""
    match error:
        case Expired():
            return Gone()
        case TooLargeResourceVersion():
            return TooLarge()
        case NotFound():
            return Missing()
        case _:
            return Broke()


def _listed(base: MustList, version: str, too_large_limit: int) -> Position:
    if is_older(version, base.seen) and base.behind < too_large_limit:
        return MustList(base.seen, base.behind + 1, why="behind")
    return MayWatch(version)


def _broke(position: Position) -> Position:
    match position:
        case MayWatch(version):
            return MustProbe(version)
        case MustProbe():
            return position
        case MustList() | Collecting():
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
        case MustList() | Collecting():
            base = _must_list(position, "behind")
            return MustList(base.seen, base.behind + 1, why=base.why)
        case _:
            assert_never(position)


def _must_list(position: Position, why: Why | None) -> MustList:
    """The position without what only a list can bring back; ``None``: for the old reason."""
    match position:
        case MustList() | Collecting():
            before = position.before if isinstance(position, Collecting) else position
            return MustList(before.seen, before.behind, why=why or before.why)
        case MustProbe(version, behind):
            return MustList(version, behind, why=why or "start")
        case MayWatch(version):
            return MustList(version, why=why or "start")
        case _:
            assert_never(position)


def _missing(position: Position) -> int:
    match position:
        case MustList(missing=missing) | Collecting(MustList(missing=missing)):
            return missing
        case MustProbe() | MayWatch():
            return 0
        case _:
            assert_never(position)
