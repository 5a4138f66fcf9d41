"""Our own writes on their way: what is heard meanwhile decides what their answers mean.

A *place* is where a story is told, such as one namespace of one informer. Each has got to a point
of its own.
"""

from types import TracebackType
from typing import Final

_BEGINNING: Final = "beginning"
_END: Final = "end"
_LIST: Final = "list"
_OTHER_HISTORY: Final = "other history"


class Flights:
    """All writes that are on their way. Informers that show the same writes share them.

    What is heard while there are any is noted once for all of them, with a number that says when.
    """

    def __init__(self) -> None:
        self._tickets: dict[Ticket, None] = {}  # the one that was sent first in front
        # What, where and of which uid; what was heard last is at the end.
        self._heard: dict[tuple[str, object, str], int] = {}
        self.last_number = 0

    def __len__(self) -> int:
        return len(self._tickets)

    def hear_beginning(self, place: object, uid: str) -> None:
        """At this place, an object was met for the first time."""
        if self._tickets:
            self._hear(_BEGINNING, place, uid)

    def hear_end(self, place: object, uid: str) -> None:
        """At this place, the end of an object was heard."""
        if self._tickets:
            self._hear(_END, place, uid)

    def hear_list(self, place: object, *, rewound: bool) -> None:
        """At this place, the story began anew with a list, perhaps that of another history."""
        if self._tickets:
            self._hear(_LIST, place, "")
            if rewound:
                self._hear(_OTHER_HISTORY, place, "")

    def number_of(self, what: str, place: object, uid: str) -> int:
        """When this was heard last; 0 if it was not, or before all that are on their way."""
        return self._heard.get((what, place, uid), 0) if self._heard else 0

    def add(self, ticket: "Ticket") -> None:
        """It has been sent."""
        self._tickets[ticket] = None

    def discard(self, ticket: "Ticket") -> None:
        """It was answered, or never will be."""
        self._tickets.pop(ticket, None)
        if self._heard:
            self._forget()

    def _hear(self, what: str, place: object, uid: str) -> None:
        self.last_number += 1
        self._heard.pop((what, place, uid), None)
        self._heard[what, place, uid] = self.last_number

    def _forget(self) -> None:
        """What was heard before the first of those on their way was sent means nothing to them."""
        first = next(iter(self._tickets), None)
        if first is None:
            self._heard.clear()
            return
        old = []
        for heard, number in self._heard.items():
            if number > first.sent_after:
                break
            old.append(heard)
        for heard in old:
            del self._heard[heard]


class Ticket:
    """One write that is on its way, while the block runs."""

    __slots__ = ("_flights", "sent_after")

    def __init__(self, flights: Flights) -> None:
        self._flights = flights
        self.sent_after = flights.last_number

    def has_heard_beginning(self, place: object, uid: str) -> bool:
        """Whether the object, if it is known there at all, was met there only meanwhile."""
        return self._flights.number_of(_BEGINNING, place, uid) > self.sent_after

    def has_heard_end(self, place: object, uid: str) -> bool:
        """Whether the end of this object was heard there meanwhile."""
        return self._flights.number_of(_END, place, uid) > self.sent_after

    def has_heard_list(self, place: object) -> bool:
        """Whether the story began anew there meanwhile, and may have left something out."""
        return self._flights.number_of(_LIST, place, "") > self.sent_after

    def is_void(self, place: object) -> bool:
        """Whether the answer may belong to another history than the one that is told there."""
        return self._flights.number_of(_OTHER_HISTORY, place, "") > self.sent_after

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
