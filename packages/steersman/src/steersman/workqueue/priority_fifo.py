"""The items that wait for a worker, by priority and then first in, first out.

No I/O and no clock.
"""

from collections import deque
from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

import msgspec

K = TypeVar("K", bound=Hashable)

# Every tenth pop returns the oldest key, at any priority. A limit in seconds would not work: in a
# long queue, all keys would exceed it, and a new change would wait behind all of them.
OLDEST_EVERY: Final = 10

# The number of stale entries at which the heap is compacted.
_MAX_STALE: Final = 64


class Item(msgspec.Struct, Generic[K], gc=False):
    """A key in the queue, with its priority and a time.

    ``since_at`` is the time since which the key waits for a worker; for a delayed item, the time
    when it is due. An item is not frozen, because its priority is raised if its key is added again
    with a higher one.
    """

    key: K
    priority: int
    since_at: float
    place: int = 0  # in the FIFO; 0 means not in the FIFO


class PriorityFifo(Generic[K]):
    """A queue of items, highest priority first; items of one priority are first in, first out.

    Every tenth ``pop`` returns the oldest item of all, whatever its priority. Therefore an item
    with ``n`` older items is popped after at most ``10 * (n + 1)`` pops, whatever is pushed
    meanwhile.
    """

    def __init__(self) -> None:
        #: By key. Read directly, because checks of an empty queue are the most frequent.
        self.items: dict[K, Item[K]] = {}
        # Both may have stale entries of popped items, which are skipped. An item with a raised
        # priority is in the heap twice.
        self._by_priority: list[tuple[int, int, Item[K]]] = []  # a heap
        self._by_age: deque[Item[K]] = deque()
        self._last_place = 0
        self._skipped = 0  # how often in a row the oldest was not popped

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: Item[K]) -> None:
        """Add a new item; its key must not be in the FIFO."""
        self._last_place = place = self._last_place + 1
        item.place = place
        self.items[item.key] = item
        self._by_age.append(item)
        heappush(self._by_priority, (-item.priority, place, item))

    def raise_to(self, priority: int, item: Item[K]) -> None:
        """Raise the priority of ``item`` to ``priority``; the item keeps its age."""
        item.priority = priority
        heappush(self._by_priority, (-priority, item.place, item))

    def pop(self) -> Item[K]:
        """Remove and return the next item; the FIFO must not be empty."""
        by_age = self._by_age
        oldest = by_age[0]
        if self._skipped >= OLDEST_EVERY - 1:
            item = oldest
        else:
            item = heappop(self._by_priority)[2]
            while not item.place:
                item = heappop(self._by_priority)[2]
        del self.items[item.key]
        item.place = 0
        if item is oldest:
            self._skipped = 0
            while by_age and not by_age[0].place:
                by_age.popleft()
        else:
            self._skipped += 1
        left = len(self.items)
        if not left:
            # A dict that was large keeps its memory until it is cleared.
            self.items.clear()
            self._by_priority.clear()
        elif len(self._by_priority) > 2 * left + _MAX_STALE or len(by_age) > 2 * left + _MAX_STALE:
            self._compact()
        return item

    def clear(self) -> None:
        """Remove all items."""
        self.items.clear()
        self._by_priority.clear()
        self._by_age.clear()
        self._skipped = 0

    def _compact(self) -> None:
        self._by_age = deque(item for item in self._by_age if item.place)
        self._by_priority = [(-item.priority, item.place, item) for item in self._by_age]
        heapify(self._by_priority)
