"""What is to be looked at later: at which moment, each key once. Pure; the time is an argument."""

from heapq import heapify, heappop, heappush
from typing import Final, Generic

from steersman.workqueue.needs import K, Need

# So much may lie about before it is worth tidying up.
_LITTER: Final = 64


class Delays(Generic[K]):
    """Needs whose moment, ``since_at``, is still to come."""

    def __init__(self) -> None:
        #: By key. To be read: an empty queue is looked at more often than anything else.
        self.needs: dict[K, Need[K]] = {}
        # Also holds what was taken out or moved since; it is passed over, and tidied up in time:
        # a look in an hour's time is often made unnecessary long before.
        self._by_moment: list[tuple[float, int, Need[K]]] = []  # a heap
        self._last_number = 0

    def __len__(self) -> int:
        return len(self.needs)

    def __contains__(self, key: K) -> bool:
        return key in self.needs

    @property
    def next_due_at(self) -> float | None:
        """The earliest moment, if there is one."""
        by_moment = self._by_moment
        while by_moment:
            if self._is_current(by_moment[0]):
                return by_moment[0][0]
            heappop(by_moment)
        return None

    def put(self, need: Need[K]) -> None:
        """Note a need; if its key has one, the earlier moment and the higher priority win."""
        known = self.needs.get(need.key)
        if known is not None:
            known.priority = max(known.priority, need.priority)
            if known.since_at <= need.since_at:
                return
            known.since_at = need.since_at
            need = known
        self.needs[need.key] = need
        self._last_number += 1
        heappush(self._by_moment, (need.since_at, self._last_number, need))
        self._tidy()

    def take_out(self, key: K) -> Need[K] | None:
        """Take out the need of this key, if there is one."""
        need = self.needs.pop(key, None)
        if need is not None:
            self._tidy()
        return need

    def take_due(self, now_at: float) -> list[Need[K]]:
        """Take out all whose moment has come, the earliest first."""
        by_moment = self._by_moment
        if not by_moment or by_moment[0][0] > now_at:
            return []
        due: list[Need[K]] = []
        while by_moment and by_moment[0][0] <= now_at:
            entry = heappop(by_moment)
            if self._is_current(entry):
                due.append(entry[2])
                del self.needs[entry[2].key]
        if due:
            self._tidy()
        return due

    def clear(self) -> None:
        """Forget all of them."""
        self.needs.clear()
        self._by_moment.clear()

    def _is_current(self, entry: tuple[float, int, Need[K]]) -> bool:
        moment_at, _, need = entry
        return self.needs.get(need.key) is need and need.since_at == moment_at

    def _tidy(self) -> None:
        if not self.needs:
            # A dict that was large stays large, however little is in it; until it is cleared.
            self.clear()
        elif len(self._by_moment) > 2 * len(self.needs) + _LITTER:
            self._by_moment = [entry for entry in self._by_moment if self._is_current(entry)]
            heapify(self._by_moment)
