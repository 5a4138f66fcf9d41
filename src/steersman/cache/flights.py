"""Our own writes on their way: what is heard meanwhile decides what their answers mean.

A *place* is where a story is told, such as one namespace of one informer. Each has got to a point
of its own.
"""

from collections.abc import Iterator
from types import TracebackType


class Ticket:
    """One write that is on its way, while the block runs."""

    __slots__ = ("_began", "_ended", "_flights", "_listed", "_void")

    def __init__(self, flights: "Flights") -> None:
        self._flights = flights
        self._began: set[tuple[object, str]] = set()
        self._ended: set[tuple[object, str]] = set()
        self._listed: set[object] = set()
        self._void: set[object] = set()

    def hear_beginning(self, place: object, uid: str) -> None:
        """At this place, an object was met for the first time."""
        self._began.add((place, uid))

    def hear_end(self, place: object, uid: str) -> None:
        """At this place, the end of an object was heard."""
        self._ended.add((place, uid))

    def hear_list(self, place: object, *, rewound: bool) -> None:
        """At this place, the story began anew with a list, perhaps that of another history."""
        self._listed.add(place)
        if rewound:
            self._void.add(place)

    def has_heard_beginning(self, place: object, uid: str) -> bool:
        """Whether the object, if it is known there at all, was met there only meanwhile."""
        return (place, uid) in self._began

    def has_heard_end(self, place: object, uid: str) -> bool:
        """Whether the end of this object was heard there meanwhile."""
        return (place, uid) in self._ended

    def has_heard_list(self, place: object) -> bool:
        """Whether the story began anew there meanwhile, and may have left something out."""
        return place in self._listed

    def is_void(self, place: object) -> bool:
        """Whether the answer may belong to another history than the one that is told there."""
        return place in self._void

    def __enter__(self) -> "Ticket":
        self._flights.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._flights.discard(self)


class Flights:
    """All writes that are on their way. Informers that show the same writes share them."""

    def __init__(self) -> None:
        self._tickets: set[Ticket] = set()

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._tickets)

    def add(self, ticket: Ticket) -> None:
        """It has been sent."""
        self._tickets.add(ticket)

    def discard(self, ticket: Ticket) -> None:
        """It was answered, or never will be."""
        self._tickets.discard(ticket)
