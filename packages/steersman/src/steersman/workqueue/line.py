"""The line of those that wait: who is next. Pure; it knows no time."""

from collections import deque
from heapq import heapify, heappop, heappush
from typing import Final, Generic

from steersman.workqueue.needs import K, Need

# One key in so many is the one that has waited longest, whatever its priority. Not a limit in
# seconds: where work piles up, everything would pass that limit sooner or later, and a fresh change
# would then stand behind all that came before it.
OLDEST_EVERY: Final = 10

# So much may lie about before it is worth tidying up.
_LITTER: Final = 64


class Line(Generic[K]):
    """Needs by priority, and by age within one; and in every ten of them, the oldest.

    A need with ``n`` older ones in line is therefore the ``10 * (n + 1)``-th to go out, at the
    latest, whatever comes in meanwhile.
    """

    def __init__(self) -> None:
        #: By key. To be read: an empty line is looked at more often than anything else.
        self.needs: dict[K, Need[K]] = {}
        # Both also hold what has left the line since; it is passed over. What has moved up is twice
        # in the heap, and gone when its second turn comes.
        self._by_priority: list[tuple[int, int, Need[K]]] = []  # a heap
        self._by_age: deque[Need[K]] = deque()
        self._last_place = 0
        self._passed_over = 0  # how often in a row the oldest was not the one

    def __len__(self) -> int:
        return len(self.needs)

    def push(self, need: Need[K]) -> None:
        """Put in one that never was in line, and whose key is not."""
        self._last_place = place = self._last_place + 1
        need.place = place
        self.needs[need.key] = need
        self._by_age.append(need)
        heappush(self._by_priority, (-need.priority, place, need))

    def raise_to(self, priority: int, need: Need[K]) -> None:
        """Move one up, among those of the higher priority to where its age puts it."""
        need.priority = priority
        heappush(self._by_priority, (-priority, need.place, need))

    def pop(self) -> Need[K]:
        """Take out the next one; there must be one."""
        by_age = self._by_age
        oldest = by_age[0]
        if self._passed_over >= OLDEST_EVERY - 1:
            need = oldest
        else:
            need = heappop(self._by_priority)[2]
            while not need.place:
                need = heappop(self._by_priority)[2]
        del self.needs[need.key]
        need.place = 0
        if need is oldest:
            self._passed_over = 0
            while by_age and not by_age[0].place:
                by_age.popleft()
        else:
            self._passed_over += 1
        left = len(self.needs)
        if not left:
            # A dict that was large stays large, however little is in it; until it is cleared.
            self.needs.clear()
            self._by_priority.clear()
        elif len(self._by_priority) > 2 * left + _LITTER or len(by_age) > 2 * left + _LITTER:
            self._tidy()
        return need

    def clear(self) -> None:
        """Forget all of them."""
        self.needs.clear()
        self._by_priority.clear()
        self._by_age.clear()
        self._passed_over = 0

    def _tidy(self) -> None:
        self._by_age = deque(need for need in self._by_age if need.place)
        self._by_priority = [(-need.priority, need.place, need) for need in self._by_age]
        heapify(self._by_priority)
