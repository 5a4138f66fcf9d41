"""Items that are added to the queue later, at most one for each key.

No I/O: the current time is an argument.
"""

from heapq import heapify, heappop, heappush
from typing import Final, Generic

from steersman.workqueue.priority_fifo import Item, K

# The number of stale entries at which the heap is compacted.
_MAX_STALE: Final = 64


class DelayedItems(Generic[K]):
    """Items that are not yet due; the ``since_at`` of each is the time when it is due."""

    def __init__(self) -> None:
        #: By key. Read directly, because checks of an empty queue are the most frequent.
        self.items: dict[K, Item[K]] = {}
        # May contain stale entries of removed or moved items. They are skipped, and compacted from
        # time to time, because most items with a long delay are removed early.
        self._by_moment: list[tuple[float, int, Item[K]]] = []  # a heap
        self._last_number = 0

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, key: K) -> bool:
        return key in self.items

    @property
    def next_due_at(self) -> float | None:
        """The earliest time at which an item is due; ``None`` if there are no items."""
        by_moment = self._by_moment
        while by_moment:
            if self._is_current(by_moment[0]):
                return by_moment[0][0]
            heappop(by_moment)
        return None

    def put(self, item: Item[K]) -> None:
        """Add ``item``, or merge it into the delayed item with the same key.

        A merged item has the earlier time and the higher priority of the two.
        """
        known = self.items.get(item.key)
        if known is not None:
            known.priority = max(known.priority, item.priority)
            if known.since_at <= item.since_at:
                return
            known.since_at = item.since_at
            item = known
        self.items[item.key] = item
        self._last_number += 1
        heappush(self._by_moment, (item.since_at, self._last_number, item))
        self._compact()

    def take_out(self, key: K) -> Item[K] | None:
        """Remove and return the item with this key; ``None`` if there is no such item."""
        item = self.items.pop(key, None)
        if item is not None:
            self._compact()
        return item

    def take_due(self, now_at: float) -> list[Item[K]]:
        """Remove and return all items that are due at ``now_at``, in the order of their times."""
        by_moment = self._by_moment
        if not by_moment or by_moment[0][0] > now_at:
            return []
        due: list[Item[K]] = []
        while by_moment and by_moment[0][0] <= now_at:
            entry = heappop(by_moment)
            if self._is_current(entry):
                due.append(entry[2])
                del self.items[entry[2].key]
        if due:
            self._compact()
        return due

    def clear(self) -> None:
        """Remove all items."""
        self.items.clear()
        self._by_moment.clear()

    def _is_current(self, entry: tuple[float, int, Item[K]]) -> bool:
        moment_at, _, item = entry
        return self.items.get(item.key) is item and item.since_at == moment_at

    def _compact(self) -> None:
        if not self.items:
            # A dict that was large keeps its memory until it is cleared.
            self.clear()
        elif len(self._by_moment) > 2 * len(self.items) + _MAX_STALE:
            self._by_moment = [entry for entry in self._by_moment if self._is_current(entry)]
            heapify(self._by_moment)
