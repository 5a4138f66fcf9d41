"""The slow lane: reconciles that run long, and objects whose reconcile timed out. Pure.

A reconcile that is *slow* gives its place among the workers to another, and runs on beside them, so
that objects that hang do not hold up the rest. An object whose reconcile *timed out* is *hanging*
until it changes, or a reconcile of it ends in time: of these, only a share of the workers' number
run at once, and the others wait for each other.
"""

from collections import deque
from typing import Final

from steersman.names import ObjectKey

# A reconcile is slow that takes so many times as long as others do. Where the server is slow, all
# are, and more of them at once would only make it slower.
TIMES_USUAL: Final = 4.0

# From so many reconciles follows what is usual. A guess: enough to tell the usual from the odd one,
# few enough to follow a server that becomes slow.
RECENT: Final = 32

# Of ten workers five: the share that hanging objects have.
SHARE: Final = 0.5


class SlowLane:
    """Which reconciles of a controller are slow, and which of its objects hang."""

    def __init__(self, *, workers: int, capacity: int, after_seconds: float) -> None:
        self._capacity = capacity
        self._after_seconds = after_seconds
        self._share = max(1, int(workers * SHARE))
        recent: deque[float] = deque(maxlen=RECENT)
        #: A reconcile that ended by itself took so many seconds.
        self.note_seconds = recent.append
        self._recent = recent
        self._slow: dict[ObjectKey, None] = {}
        #: What each hanging object was like when its reconcile timed out.
        self.hanging: dict[ObjectKey, object] = {}
        self._running: set[ObjectKey] = set()
        #: Which hanging objects wait for others, and with which priority.
        self.waiting: dict[ObjectKey, int] = {}

    def __len__(self) -> int:
        """How many things are kept in mind about objects."""
        return len(self.hanging) + len(self.waiting)

    def __repr__(self) -> str:
        return (
            f"<SlowLane {len(self._slow)} of {self._capacity} slow, {len(self.hanging)} hanging,"
            f" {len(self.waiting)} waiting>"
        )

    # Slow reconciles

    @property
    def has_room(self) -> bool:
        """Whether one more reconcile may run beside the workers."""
        return len(self._slow) < self._capacity

    @property
    def patience_seconds(self) -> float:
        """After how long a reconcile is slow."""
        if not self._recent:
            return self._after_seconds
        usual_seconds = sorted(self._recent)[len(self._recent) // 2]
        return max(self._after_seconds, TIMES_USUAL * usual_seconds)

    @property
    def slow(self) -> tuple[ObjectKey, ...]:
        """The objects whose reconciles run beside the workers, the first one first."""
        return tuple(self._slow)

    def enter(self, key: ObjectKey) -> None:
        """Its reconcile runs beside the workers from now on."""
        self._slow[key] = None

    def leave(self, key: ObjectKey) -> None:
        """Its reconcile has ended."""
        self._slow.pop(key, None)

    # Hanging objects

    def may_begin(self, key: ObjectKey, priority: int) -> bool:
        """Whether a hanging object may be reconciled now; if not, it waits for ``next_waiting``."""
        if len(self._running) < self._share:
            self._running.add(key)
            self.waiting.pop(key, None)
            return True
        self.waiting[key] = max(priority, self.waiting.get(key, priority))
        return False

    def ended(self, key: ObjectKey, state: object | None) -> None:
        """A reconcile has ended; ``state`` is what its object was like if it timed out."""
        self._running.discard(key)
        if state is None:
            self.hanging.pop(key, None)
        else:
            self.hanging[key] = state

    def cut(self, key: ObjectKey) -> None:
        """Its reconcile was cancelled, which says nothing about it."""
        self._running.discard(key)

    def forget(self, key: ObjectKey) -> None:
        """It has changed, or is gone."""
        self.hanging.pop(key, None)
        self.waiting.pop(key, None)

    def next_waiting(self) -> tuple[ObjectKey, int] | None:
        """Take out the hanging object that is next, with its priority, if one may begin."""
        if not self.waiting or len(self._running) >= self._share:
            return None
        key = max(self.waiting, key=self.waiting.__getitem__)
        return key, self.waiting.pop(key)
