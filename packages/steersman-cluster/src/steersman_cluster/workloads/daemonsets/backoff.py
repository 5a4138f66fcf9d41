"""The backoff for failed Pods, per node."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

FIRST_SECONDS: Final = 1.0
MAX_SECONDS: Final = 15 * 60.0
_KEPT: Final = timedelta(seconds=2 * MAX_SECONDS)


class _Last(NamedTuple):
    moment: datetime
    wait_seconds: float


class FailedPods:
    """A record of the last Pod failure for each DaemonSet, DaemonSet generation, and node.

    The backoff doubles with each failure, until the record of that failure expires.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[str, int, str], _Last] = {}  # ordered by time

    def __len__(self) -> int:
        return len(self._last)

    def __repr__(self) -> str:
        return f"<FailedPods on {len(self)} nodes>"

    def wait_for(self, key: tuple[str, int, str], now: datetime) -> float:
        """Return the number of seconds until the failed Pod is to be deleted.

        ``key`` consists of the DaemonSet's uid, the DaemonSet's generation, and the node's name. If
        the result is 0, the Pod is to be deleted now, and this call records its failure.
        """
        last = self._last.get(key)
        if last is not None:
            since = (now - last.moment).total_seconds()
            if since < last.wait_seconds:
                return last.wait_seconds - since
            if now - last.moment > _KEPT:
                last = None
        wait_seconds = FIRST_SECONDS if last is None else last.wait_seconds * 2
        self._last.pop(key, None)
        self._last[key] = _Last(now, min(wait_seconds, MAX_SECONDS))
        self._forget_old(now)
        return 0.0

    def _forget_old(self, now: datetime) -> None:
        # It ends at the latest with the entry that was just added.
        while now - self._last[oldest := next(iter(self._last))].moment > _KEPT:
            del self._last[oldest]
