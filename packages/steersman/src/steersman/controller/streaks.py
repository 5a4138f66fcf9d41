"""Streaks: events that repeat in quick succession, and when to warn of them. No I/O.

The first warning is due after a given number of repetitions, and each further warning when the
number has doubled. An endless streak is therefore reported only about a dozen times. An entry that
is not used for longer than ``WINDOW_SECONDS`` is dropped.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
E = TypeVar("E")

# A user who edits an object a few times, or one slow rollout, stays below the limit.
WINDOW_SECONDS = 60.0


class Streak:
    """A counter of repetitions, which reports when a warning is due."""

    __slots__ = ("_began_at", "_count", "_latest_at", "_warn_at_count")

    def __init__(self, to_warn: int, began_at: float) -> None:
        self._began_at = began_at
        self._count = 0
        self._warn_at_count = to_warn
        self._latest_at: deque[float] = deque(maxlen=to_warn)

    def note(self, now_at: float) -> tuple[int, float, bool]:
        self._count += 1
        self._latest_at.append(now_at)
        is_fast = now_at - self._latest_at[0] <= WINDOW_SECONDS
        is_due = self._count >= self._warn_at_count and is_fast
        if is_due:
            self._warn_at_count = self._count * 2
        return self._count, now_at - self._began_at, is_due


class ExpiringEntries(Generic[K, E]):
    """A mapping that drops entries that are not stored again within ``WINDOW_SECONDS``."""

    def __init__(self) -> None:
        # The oldest entry first. In a plain dict, finding it takes longer with each deletion.
        self._entries: OrderedDict[K, tuple[float, E]] = OrderedDict()

    def get(self, key: K, now_at: float) -> E | None:
        found = self._entries.get(key)
        return None if found is None or _is_old(found[0], now_at) else found[1]

    def put(self, key: K, entry: E, now_at: float) -> None:
        self._entries[key] = (now_at, entry)
        self._entries.move_to_end(key)
        while True:
            first = next(iter(self._entries))
            if not _is_old(self._entries[first][0], now_at):
                return
            del self._entries[first]

    def drop(self, key: K) -> None:
        if self._entries:
            self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)


def _is_old(touched_at: float, now_at: float) -> bool:
    return now_at - touched_at > WINDOW_SECONDS
