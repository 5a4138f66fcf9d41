"""Which Kubernetes events are worth a write: what is repeated is counted, and a flood is cut.

All in memory, with time as an argument; ``recorder`` writes what is due.
"""

from collections import Counter, OrderedDict
from datetime import datetime
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from steersman.kinds import Resource, Unstructured, core_v1

# What comes again within this time is one more of a row, as in client-go. A controller that fails
# for good tries every five minutes, and so makes one row of it.
ROW_SECONDS: Final = 360.0
# The second of a row is told at once, because from then on it shows as one. After that, nobody who
# looks needs a count that is newer than this, and the server is spared the rest. (client-go says
# nothing more until the row is at its end, or for half an hour.)
REFRESH_SECONDS: Final = 60.0
# So many different events about one object at once, and one more for each five minutes: as in
# client-go. What changes its words each time is no row, and would go on for ever.
BURST: Final = 25
REFILL_SECONDS: Final = 300.0
# As many as client-go lets wait. They come faster than they can be written, and by then are old.
MOST_WAITING: Final = 1000
# How many rows, and how many objects' shares, are remembered; a row is some kilobytes at most.
MOST_KEPT: Final = 4096

OVER_SHARE: Final = "too many about one object"
OVER_WAITING: Final = "too many at once"
OVER_KEPT: Final = "too many different ones"


class Said(NamedTuple):
    """What two events must have in common to be of one row."""

    about: str
    type: str
    reason: str
    action: str
    note: str
    related: str


class Row:
    """An event, how often it came, and how much of that the server has been told."""

    __slots__ = (
        "count",
        "first_time",
        "is_fresh",
        "is_waiting",
        "last_at",
        "last_time",
        "name",
        "regarding",
        "related",
        "said",
        "told",
        "told_at",
        "tries",
    )

    def __init__(
        self,
        said: Said,
        *,
        regarding: core_v1.ObjectReference,
        related: core_v1.ObjectReference | None,
        name: str,
        now_at: float,
        now_time: datetime,
    ) -> None:
        self.said = said
        self.regarding = regarding
        self.related = related
        self.name = name
        self.first_time = self.last_time = now_time
        self.last_at = now_at
        self.count = 1
        self.told = 0
        self.told_at = now_at
        self.tries = 0
        self.is_waiting = False  # in line
        self.is_fresh = False  # in line, and never told of before

    @property
    def namespace(self) -> str:
        """Where the event lives: with its object, or in ``default``."""
        return self.regarding.namespace or "default"


class EventRows:
    """The rows that are remembered, and those of them that the server is to be told of.

    The first ``eager`` of a row are told at once.
    """

    def __init__(self, *, eager: int = 2) -> None:
        self._eager = eager
        self._rows: OrderedDict[Said, Row] = OrderedDict()  # those that came last are last
        self._shares: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._line: list[tuple[float, int, Row]] = []  # by when they are due
        self._numbers = count()
        self._fresh = 0  # how many of those have never been told
        self._dropped: Counter[str] = Counter()

    def repeated(self, said: Said, *, now_at: float, now_time: datetime) -> bool:
        """Count one more of a row; whether there is one."""
        row = self._rows.get(said)
        if row is None or now_at - row.last_at > ROW_SECONDS:
            return False
        row.count += 1
        row.last_at = now_at
        row.last_time = now_time
        self._rows.move_to_end(said)
        self._put(row, now_at)
        return True

    def may_begin(self, about: str, *, now_at: float) -> bool:
        """Whether there is room for another row about this object; if not, one event is lost."""
        if self._fresh >= MOST_WAITING:
            self._dropped[OVER_WAITING] += 1
            return False
        left, counted_at = self._shares.get(about, (float(BURST), now_at))
        left = min(left + (now_at - counted_at) / REFILL_SECONDS, float(BURST))
        if left < 1:
            self._dropped[OVER_SHARE] += 1
            return False
        self._shares[about] = left - 1, now_at
        self._shares.move_to_end(about)
        if len(self._shares) > MOST_KEPT:
            self._shares.popitem(last=False)
        return True

    def begin(self, row: Row) -> None:
        """A row of one."""
        self.forget_old(now_at=row.last_at)
        old = self._rows.pop(row.said, None)  # it ended long ago, and perhaps is still to be told
        self._rows[row.said] = row
        if old is None and len(self._rows) > MOST_KEPT:
            _, lost = self._rows.popitem(last=False)
            if lost.is_waiting:
                self._dropped[OVER_KEPT] += lost.count - lost.told
                self._leave_line(lost)
        self._put(row, row.last_at)

    def take_due(self, *, now_at: float) -> Row | None:
        """The row that has been due for longest, which is no longer in line then."""
        while self._line and self._line[0][0] <= now_at:
            _, _, row = heappop(self._line)
            if not row.is_waiting:
                continue
            self._leave_line(row)
            if self._due_at(row, now_at) <= now_at:
                return row
            self._put(row, now_at)  # it came again while it was being told
        return None

    def due_seconds(self, *, now_at: float) -> float | None:
        """How long until there is one; ``None``: until something happens."""
        return max(0.0, self._line[0][0] - now_at) if self._line else None

    def was_told(self, row: Row, times: int, *, now_at: float) -> None:
        """The server knows of so many of a row; if there are more by now, it is due again."""
        row.told, row.told_at, row.tries = times, now_at, 0
        if row.count > times:
            self._put(row, now_at)

    def put_back(self, row: Row, *, now_at: float) -> None:
        """The server could not be told of it."""
        if not row.is_waiting:
            self._enter_line(row, now_at)

    def give_up(self, row: Row, reason: str | None) -> None:
        """Forget a row; for ``reason``, what the server does not know of it counts as dropped."""
        if self._rows.get(row.said) is row:
            del self._rows[row.said]
        if row.is_waiting:
            self._leave_line(row)
        if reason is not None:
            self._dropped[reason] += row.count - row.told

    def forget_old(self, *, now_at: float) -> None:
        """Forget the rows that are at their end, and that the server knows all about."""
        while self._rows:
            row = next(iter(self._rows.values()))
            if row.is_waiting or now_at - row.last_at <= ROW_SECONDS:
                return
            del self._rows[row.said]

    @property
    def has_dropped(self) -> bool:
        """Whether any were lost since ``take_dropped`` was last asked."""
        return bool(self._dropped)

    def take_dropped(self) -> dict[str, int]:
        """How many were lost since this was last asked, by reason."""
        dropped, self._dropped = self._dropped, Counter()
        return dict(dropped)

    def _put(self, row: Row, now_at: float) -> None:
        if not row.is_waiting:
            self._enter_line(row, self._due_at(row, now_at))

    def _due_at(self, row: Row, now_at: float) -> float:
        if row.told < self._eager:
            return now_at
        return max(now_at, row.told_at + REFRESH_SECONDS)

    def _enter_line(self, row: Row, due_at: float) -> None:
        row.is_waiting = True
        row.is_fresh = not row.told
        self._fresh += row.is_fresh
        heappush(self._line, (due_at, next(self._numbers), row))

    def _leave_line(self, row: Row) -> None:
        self._fresh -= row.is_fresh
        row.is_waiting = row.is_fresh = False

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<EventRows {len(self._rows)} kept, {len(self._line)} in line>"


def reference_to(obj: Resource | Unstructured) -> core_v1.ObjectReference:
    """An object, as an event names it."""
    gvk = obj.resource_type.gvk
    return core_v1.ObjectReference(
        api_version=gvk.api_version,
        kind=gvk.kind,
        namespace=obj.namespace,
        name=obj.name,
        uid=obj.uid or None,
        resource_version=obj.resource_version or None,
    )
