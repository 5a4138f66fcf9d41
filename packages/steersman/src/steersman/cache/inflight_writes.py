"""The operator's writes that wait for a response, and the watch events received meanwhile.

Those events determine how a response is applied. A *place* is one list and watch, such as one
namespace of one informer. Each place has its own position.
"""

from types import TracebackType
from typing import Final

_ADDED: Final = "added"
_DELETED: Final = "deleted"
_LIST: Final = "list"
_OTHER_HISTORY: Final = "other history"


class InflightWrites:
    """The operator's writes that wait for a response, and the events received meanwhile.

    Informers that show the same writes share one instance. Each event that is received while a
    write is in flight is recorded once, with a sequence number.
    """

    def __init__(self) -> None:
        self._tokens: dict[WriteToken, None] = {}  # in the order of sending
        # By kind of event, place and uid; the latest is at the end.
        self._events: dict[tuple[str, object, str], int] = {}
        self.last_sequence = 0

    def __len__(self) -> int:
        return len(self._tokens)

    def record_added(self, place: object, uid: str) -> None:
        """Record that ``place`` received the first event of the object ``uid``.

        ``place`` identifies one list and watch.
        """
        if self._tokens:
            self._record(_ADDED, place, uid)

    def record_deleted(self, place: object, uid: str) -> None:
        """Record that ``place`` received the deletion of the object ``uid``.

        ``place`` identifies one list and watch.
        """
        if self._tokens:
            self._record(_DELETED, place, uid)

    def record_list(self, place: object, *, rewound: bool) -> None:
        """Record that ``place``, which identifies one list and watch, received a new list.

        ``rewound`` is true if the server's history was rewound before the list.
        """
        if self._tokens:
            self._record(_LIST, place, "")
            if rewound:
                self._record(_OTHER_HISTORY, place, "")

    def sequence_of(self, what: str, place: object, uid: str) -> int:
        """Return the sequence number of the latest event of type ``what`` for ``uid`` at ``place``.

        The result is 0 if no such event was received since the oldest write in flight was sent.
        """
        return self._events.get((what, place, uid), 0) if self._events else 0

    def add(self, token: "WriteToken") -> None:
        """Add a write that is being sent."""
        self._tokens[token] = None

    def discard(self, token: "WriteToken") -> None:
        """Remove a write that received its response, or will never receive one."""
        self._tokens.pop(token, None)
        if self._events:
            self._forget()

    def _record(self, what: str, place: object, uid: str) -> None:
        self.last_sequence += 1
        self._events.pop((what, place, uid), None)
        self._events[what, place, uid] = self.last_sequence

    def _forget(self) -> None:
        """Drop the events that are older than every write in flight."""
        first = next(iter(self._tokens), None)
        if first is None:
            self._events.clear()
            return
        old = []
        for event, number in self._events.items():
            if number > first.sent_at_sequence:
                break
            old.append(event)
        for event in old:
            del self._events[event]


class WriteToken:
    """A context manager for one write; the write is in flight while the block runs."""

    __slots__ = ("_inflight", "sent_at_sequence")

    def __init__(self, inflight: InflightWrites) -> None:
        self._inflight = inflight
        self.sent_at_sequence = inflight.last_sequence

    def was_added_since(self, place: object, uid: str) -> bool:
        """Whether ``place`` has received the first event of ``uid`` since the write began.

        ``place`` identifies one list and watch; ``uid`` identifies the object.
        """
        return self._inflight.sequence_of(_ADDED, place, uid) > self.sent_at_sequence

    def was_deleted_since(self, place: object, uid: str) -> bool:
        """Whether ``place`` has received the deletion of ``uid`` since the write began.

        ``place`` identifies one list and watch; ``uid`` identifies the object.
        """
        return self._inflight.sequence_of(_DELETED, place, uid) > self.sent_at_sequence

    def was_listed_since(self, place: object) -> bool:
        """Whether ``place`` has received a new list since the write began.

        ``place`` identifies one list and watch. Events between the start of the write and such a
        list may have been missed.
        """
        return self._inflight.sequence_of(_LIST, place, "") > self.sent_at_sequence

    def is_other_history(self, place: object) -> bool:
        """Whether the server's history was rewound after the write was sent.

        If so, the response may belong to the old history.
        """
        return self._inflight.sequence_of(_OTHER_HISTORY, place, "") > self.sent_at_sequence

    def __enter__(self) -> "WriteToken":
        self._inflight.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._inflight.discard(self)
