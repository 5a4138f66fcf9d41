"""What is not to be seen on a Job and its Pods. Who starts anew has forgotten it, and waits less.

The counts of a Job do not depend on it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.jobs.accessors import finished_time
from steersman_cluster.workloads.jobs.backoff import LONGEST_SECONDS

Pod = core_v1.Pod

# Nobody waits for longer than this after a failure.
_KEPT: Final = timedelta(seconds=LONGEST_SECONDS)

# Pods of one Job often end together: what they came to is counted together.
BATCH_SECONDS: Final = 1.0
_BATCH: Final = timedelta(seconds=BATCH_SECONDS)


class Vanished:
    """Failures of which nothing is left to see: Pods that were deleted before they could fail.

    They count when it comes to how long the next is waited with.
    """

    def __init__(self) -> None:
        self._times: dict[str, dict[str, datetime]] = {}  # who was noted last is last

    def __len__(self) -> int:
        return len(self._times)

    def of(self, job_uid: str) -> Mapping[str, datetime]:
        """When each Pod of the Job was deleted, by its uid."""
        return self._times.get(job_uid, {})

    def note(self, job_uid: str, pods: Iterable[Pod], now: datetime) -> None:
        """These have lost their finalizer; the deleted ones among them will be gone."""
        times = {
            pod.uid: finished_time(pod)
            for pod in pods
            if pod.metadata.deletion_timestamp is not None
        }
        if not times:
            return
        # Jobs that are gone are not asked about any more: they go by their age.
        while self._times:
            uid, known = next(iter(self._times.items()))
            if now - max(known.values()) <= _KEPT:
                break
            del self._times[uid]
        self._times[job_uid] = {**self._times.pop(job_uid, {}), **times}

    def forget(self, job_uid: str) -> None:
        """That Job is over."""
        self._times.pop(job_uid, None)


class Batches:
    """When a Job is looked at of whose Pods something was heard: a moment after the first of it.

    What comes in between changes nothing about that, or a Job whose Pods never rest would never be
    looked at.
    """

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # in this order

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, job_uid: str, now: datetime) -> float:
        """How long to wait for more; 0 if it is time."""
        due = self._due.setdefault(job_uid, now + _BATCH)
        # Of a Job that went in between nobody says that it has been looked at.
        while (oldest := next(iter(self._due))) != job_uid and now - self._due[oldest] > _KEPT:
            del self._due[oldest]
        return max(0.0, (due - now).total_seconds())

    def end(self, job_uid: str) -> None:
        """The Job is being looked at."""
        self._due.pop(job_uid, None)


class Memory:
    """What one run of the controller of Jobs remembers."""

    def __init__(self) -> None:
        self.vanished = Vanished()
        self.batches = Batches()
