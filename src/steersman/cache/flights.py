"""Our own writes on their way: what is heard meanwhile decides what their answers mean.

A *place* is where a story is told, such as one namespace of one informer. Each has got to a point
of its own.
"""

from collections.abc import Iterator
from types import TracebackType
from typing import Final

_BEGINNING: Final = "beginning"
_END: Final = "end"
_LIST: Final = "list"
_OTHER_HISTORY: Final = "other history"


class Ticket:
    """One write that is on its way, while the block runs."""

    __slots__ = ("_flights", "_heard")

    def __init__(self, flights: "Flights") -> None:
        self._flights = flights
        # What, where and of which uid. Of most writes, there is nothing to be heard meanwhile.
        self._heard: set[tuple[str, object, str]] | None = None

    def hear_beginning(self, place: object, uid: str) -> None:
        """At this place, an object was met for the first time."""
        self._hear(_BEGINNING, place, uid)

    def hear_end(self, place: object, uid: str) -> None:
        """At this place, the end of an object was heard."""
        self._hear(_END, place, uid)

    def hear_list(self, place: object, *, rewound: bool) -> None:
        """At this place, the story began anew with a list, perhaps that of another history."""
        self._hear(_LIST, place)
        if rewound:
            self._hear(_OTHER_HISTORY, place)

    def has_heard_beginning(self, place: object, uid: str) -> bool:
        """Whether the object, if it is known there at all, was met there only meanwhile."""
        return self._has_heard(_BEGINNING, place, uid)

    def has_heard_end(self, place: object, uid: str) -> bool:
        """Whether the end of this object was heard there meanwhile."""
        return self._has_heard(_END, place, uid)

    def has_heard_list(self, place: object) -> bool:
        """Whether the story began anew there meanwhile, and may have left something out."""
        return self._has_heard(_LIST, place)

    def is_void(self, place: object) -> bool:
        """Whether the answer may belong to another history than the one that is told there."""
        return self._has_heard(_OTHER_HISTORY, place)

    def _hear(self, what: str, place: object, uid: str = "") -> None:
        if self._heard is None:
            self._heard = set()
        self._heard.add((what, place, uid))

    def _has_heard(self, what: str, place: object, uid: str = "") -> bool:
        return self._heard is not None and (what, place, uid) in self._heard

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
