"""``SlowLane``: slow reconciles, and objects whose reconcile has timed out. No I/O.

A *slow* reconcile moves to the lane and continues there, while another worker takes its place, so
that hanging objects do not delay the others. An object whose reconcile has timed out is *hanging*
until the object changes, or a later reconcile of the object ends in time. The number of hanging
objects that are reconciled concurrently is at most half the number of workers; the others wait.
"""

from collections import deque
from typing import Final

from steersman.names import ObjectKey

# A reconcile is slow if it takes this many times as long as the median. If the server is slow, all
# reconciles take long, and more concurrency would make it slower.
SLOW_FACTOR: Final = 4.0

# The number of reconciles for the median. A guess: enough to ignore single slow ones, few enough to
# follow a server that becomes slow.
RECENT: Final = 32

# With ten workers, five hanging objects are reconciled at once.
HANGING_SHARE: Final = 0.5


class SlowLane:
    """The reconciles of a controller that are slow, and the objects whose reconcile timed out."""

    def __init__(self, *, workers: int, capacity: int, after_seconds: float) -> None:
        self._capacity = capacity
        self._after_seconds = after_seconds
        self._share = max(1, int(workers * HANGING_SHARE))
        recent: deque[float] = deque(maxlen=RECENT)
        #: Notes the duration of a reconcile that did not time out.
        self.note_seconds = recent.append
        self._recent = recent
        self._slow: dict[ObjectKey, None] = {}
        #: The fingerprint of each hanging object when its reconcile timed out.
        self.hanging: dict[ObjectKey, object] = {}
        self._running: set[ObjectKey] = set()
        #: The priority of each waiting hanging object.
        self.waiting: dict[ObjectKey, int] = {}

    def __len__(self) -> int:
        """The number of stored hanging and waiting objects."""
        return len(self.hanging) + len(self.waiting)

    def __repr__(self) -> str:
        return (
            f"<SlowLane {len(self._slow)} of {self._capacity} slow, {len(self.hanging)} hanging,"
            f" {len(self.waiting)} waiting>"
        )

    # Slow reconciles

    @property
    def has_room(self) -> bool:
        """Whether the lane has room for one more reconcile."""
        return len(self._slow) < self._capacity

    @property
    def threshold_seconds(self) -> float:
        """The duration from which a reconcile counts as slow."""
        if not self._recent:
            return self._after_seconds
        median_seconds = sorted(self._recent)[len(self._recent) // 2]
        return max(self._after_seconds, SLOW_FACTOR * median_seconds)

    @property
    def slow(self) -> tuple[ObjectKey, ...]:
        """The keys of the reconciles in the slow lane, in the order in which they entered it."""
        return tuple(self._slow)

    def enter(self, key: ObjectKey) -> None:
        """Move the running reconcile of ``key`` to the slow lane."""
        self._slow[key] = None

    def leave(self, key: ObjectKey) -> None:
        """Remove the reconcile of ``key`` from the slow lane, because it has ended."""
        self._slow.pop(key, None)

    # Hanging objects

    def may_begin(self, key: ObjectKey, priority: int) -> bool:
        """Return whether ``key``, whose last reconcile timed out, may be reconciled now.

        If not, ``key`` is stored with ``priority``, and ``next_waiting`` returns it later.
        """
        if len(self._running) < self._share:
            self._running.add(key)
            self.waiting.pop(key, None)
            return True
        self.waiting[key] = max(priority, self.waiting.get(key, priority))
        return False

    def note_end(self, key: ObjectKey, state: object | None) -> None:
        """Record the end of a reconcile of ``key``.

        ``state`` is the object's fingerprint if the reconcile timed out, and otherwise ``None``.
        """
        self._running.discard(key)
        if state is None:
            self.hanging.pop(key, None)
        else:
            self.hanging[key] = state

    def note_cancellation(self, key: ObjectKey) -> None:
        """Record that a reconcile of ``key`` was cancelled.

        Whether the object still hangs is then unknown, so its state is not changed.
        """
        self._running.discard(key)

    def forget(self, key: ObjectKey) -> None:
        """Drop the state of ``key``, because the object has changed or was deleted."""
        self.hanging.pop(key, None)
        self.waiting.pop(key, None)

    def next_waiting(self) -> tuple[ObjectKey, int] | None:
        """Remove and return the waiting key with the highest priority, and its priority.

        Return ``None`` if no key waits, or if the limit of hanging objects that may be reconciled
        concurrently is reached.
        """
        if not self.waiting or len(self._running) >= self._share:
            return None
        key = max(self.waiting, key=self.waiting.__getitem__)
        return key, self.waiting.pop(key)
