"""``EventCorrelator``: counts repeated Kubernetes events, and drops excess events. No I/O.

It corresponds to client-go's ``EventCorrelator``. Time is an argument; ``recorder`` writes the
entries that are due.
"""

from collections import Counter, OrderedDict
from datetime import datetime
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from steersman.kinds import Resource, Unstructured, core_v1

# A repeated event within this time continues its series, as in client-go. A controller that keeps
# failing retries every five minutes, which is one series.
SERIES_SECONDS: Final = 360.0
# The second event of a series is written immediately, because it makes the series visible. After
# that, a count may be outdated for this long, which saves writes. (client-go writes nothing more
# until the series ends, or for half an hour.)
REFRESH_SECONDS: Final = 60.0
# The burst of different events about one object, and the time for one more: as in client-go. Events
# whose note changes each time form no series, and would be written without limit.
BURST: Final = 25
REFILL_SECONDS: Final = 300.0
# The length of client-go's queue. Beyond it, events are recorded faster than they can be written.
MAX_QUEUED: Final = 1000
# The number of remembered entries, and of remembered limits of objects; an entry has a few kB.
MAX_KEPT: Final = 4096

OVER_LIMIT: Final = "too many about one object"
OVER_QUEUED: Final = "too many at once"
OVER_KEPT: Final = "too many different ones"


class EventKey(NamedTuple):
    """The fields that all events of a series have in common; client-go's ``eventKey``."""

    about: str
    type: str
    reason: str
    action: str
    note: str
    related: str


class EventEntry:
    """A series of equal Kubernetes events: its count, and the count that the server stores."""

    __slots__ = (
        "count",
        "first_time",
        "is_new",
        "is_queued",
        "key",
        "last_at",
        "last_time",
        "name",
        "regarding",
        "related",
        "tries",
        "written",
        "written_at",
    )

    def __init__(
        self,
        key: EventKey,
        *,
        regarding: core_v1.ObjectReference,
        related: core_v1.ObjectReference | None,
        name: str,
        now_at: float,
        now_time: datetime,
    ) -> None:
        self.key = key
        self.regarding = regarding
        self.related = related
        self.name = name
        self.first_time = self.last_time = now_time
        self.last_at = now_at
        self.count = 1
        self.written = 0
        self.written_at = now_at
        self.tries = 0
        self.is_queued = False
        self.is_new = False  # queued, and not written yet

    @property
    def namespace(self) -> str:
        """The namespace in which the event is written: that of its object, or ``default``."""
        return self.regarding.namespace or "default"


class EventCorrelator:
    """The stored series of Kubernetes events, and a queue of the series that must be written.

    The first ``eager`` events of a series are due immediately.
    """

    def __init__(self, *, eager: int = 2) -> None:
        self._eager = eager
        self._entries: OrderedDict[EventKey, EventEntry] = OrderedDict()  # the latest last
        self._limits: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._queue: list[tuple[float, int, EventEntry]] = []  # by the time they are due
        self._numbers = count()
        self._unwritten = 0  # the number of queued entries that are not written yet
        self._dropped: Counter[str] = Counter()

    def count_repeat(self, key: EventKey, *, now_at: float, now_time: datetime) -> bool:
        """Count one more event of the series ``key``; return false if there is no such series."""
        entry = self._entries.get(key)
        if entry is None or now_at - entry.last_at > SERIES_SECONDS:
            return False
        entry.count += 1
        entry.last_at = now_at
        entry.last_time = now_time
        self._entries.move_to_end(key)
        self._schedule(entry, now_at)
        return True

    def allows(self, about: str, *, now_at: float) -> bool:
        """Return whether the limits permit a new series of events about the object ``about``.

        If they do not, the event counts as dropped.
        """
        if self._unwritten >= MAX_QUEUED:
            self._dropped[OVER_QUEUED] += 1
            return False
        left, counted_at = self._limits.get(about, (float(BURST), now_at))
        left = min(left + (now_at - counted_at) / REFILL_SECONDS, float(BURST))
        if left < 1:
            self._dropped[OVER_LIMIT] += 1
            return False
        self._limits[about] = left - 1, now_at
        self._limits.move_to_end(about)
        if len(self._limits) > MAX_KEPT:
            self._limits.popitem(last=False)
        return True

    def add(self, entry: EventEntry) -> None:
        """Start a series with its first event, ``entry``."""
        self.forget_old(now_at=entry.last_at)
        old = self._entries.pop(entry.key, None)  # an old series, possibly not written yet
        self._entries[entry.key] = entry
        if old is None and len(self._entries) > MAX_KEPT:
            _, lost = self._entries.popitem(last=False)
            if lost.is_queued:
                self._dropped[OVER_KEPT] += lost.count - lost.written
                self._dequeue(lost)
        self._schedule(entry, entry.last_at)

    def take_due(self, *, now_at: float) -> EventEntry | None:
        """Remove and return the queued series that has been due for longest."""
        while self._queue and self._queue[0][0] <= now_at:
            _, _, entry = heappop(self._queue)
            if not entry.is_queued:
                continue
            self._dequeue(entry)
            if self._due_at(entry, now_at) <= now_at:
                return entry
            self._schedule(entry, now_at)  # it was repeated during the write
        return None

    def due_seconds(self, *, now_at: float) -> float | None:
        """Return the seconds until a series is due; ``None`` if the queue is empty."""
        return max(0.0, self._queue[0][0] - now_at) if self._queue else None

    def mark_written(self, entry: EventEntry, times: int, *, now_at: float) -> None:
        """Record that the API server stores ``times`` as the count of the series ``entry``.

        If more events have been counted since that write began, the series is due again.
        """
        entry.written, entry.written_at, entry.tries = times, now_at, 0
        if entry.count > times:
            self._schedule(entry, now_at)

    def requeue(self, entry: EventEntry, *, now_at: float) -> None:
        """Put ``entry``, whose write has failed, back into the queue."""
        if not entry.is_queued:
            self._enqueue(entry, now_at)

    def give_up(self, entry: EventEntry, reason: str | None) -> None:
        """Drop the series ``entry``.

        If ``reason`` is not ``None``, the events of the series that are not written yet are counted
        as dropped for this reason.
        """
        if self._entries.get(entry.key) is entry:
            del self._entries[entry.key]
        if entry.is_queued:
            self._dequeue(entry)
        if reason is not None:
            self._dropped[reason] += entry.count - entry.written

    def forget_old(self, *, now_at: float) -> None:
        """Drop the series that have ended and have been written completely."""
        while self._entries:
            entry = next(iter(self._entries.values()))
            if entry.is_queued or now_at - entry.last_at <= SERIES_SECONDS:
                return
            del self._entries[entry.key]

    @property
    def has_dropped(self) -> bool:
        """Whether events were dropped since the last ``take_dropped``."""
        return bool(self._dropped)

    def take_dropped(self) -> dict[str, int]:
        """Return the number of events dropped since the last call, by reason; reset the numbers."""
        dropped, self._dropped = self._dropped, Counter()
        return dict(dropped)

    def _schedule(self, entry: EventEntry, now_at: float) -> None:
        if not entry.is_queued:
            self._enqueue(entry, self._due_at(entry, now_at))

    def _due_at(self, entry: EventEntry, now_at: float) -> float:
        if entry.written < self._eager:
            return now_at
        return max(now_at, entry.written_at + REFRESH_SECONDS)

    def _enqueue(self, entry: EventEntry, due_at: float) -> None:
        entry.is_queued = True
        entry.is_new = not entry.written
        self._unwritten += entry.is_new
        heappush(self._queue, (due_at, next(self._numbers), entry))

    def _dequeue(self, entry: EventEntry) -> None:
        self._unwritten -= entry.is_new
        entry.is_queued = entry.is_new = False

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<EventCorrelator {len(self._entries)} kept, {len(self._queue)} queued>"


def reference_to(obj: Resource | Unstructured) -> core_v1.ObjectReference:
    """Return the reference by which an event refers to ``obj``."""
    gvk = obj.resource_type.gvk
    return core_v1.ObjectReference(
        api_version=gvk.api_version,
        kind=gvk.kind,
        namespace=obj.namespace,
        name=obj.name,
        uid=obj.uid or None,
        resource_version=obj.resource_version or None,
    )
