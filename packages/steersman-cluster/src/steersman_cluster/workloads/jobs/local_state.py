"""State of the Job controller that is not stored in Jobs and Pods.

A restart loses this state. Backoffs are then shorter, but the counters of Jobs stay correct.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.jobs.accessors import finished_time
from steersman_cluster.workloads.jobs.backoff import LONGEST_SECONDS

Pod = core_v1.Pod

# The longest backoff after a failure.
_KEPT: Final = timedelta(seconds=LONGEST_SECONDS)

# Pods of one Job often end together: they are counted together.
BATCH_SECONDS: Final = 1.0
_BATCH: Final = timedelta(seconds=BATCH_SECONDS)


class VanishedPods:
    """The failures of Pods that have been deleted.

    These failures count for the backoff, although the Pods no longer exist.
    """

    def __init__(self) -> None:
        self._times: dict[str, dict[str, datetime]] = {}  # the most recent last

    def __len__(self) -> int:
        return len(self._times)

    def of(self, job_uid: str) -> Mapping[str, datetime]:
        """Return the failure time of each vanished Pod of the Job, by the uid of the Pod."""
        return self._times.get(job_uid, {})

    def note(self, job_uid: str, pods: Iterable[Pod], now: datetime) -> None:
        """Add those of ``pods`` that are being deleted.

        The finalizers of these Pods are removed next, so the Pods will soon not exist.
        """
        times = {
            pod.uid: finished_time(pod)
            for pod in pods
            if pod.metadata.deletion_timestamp is not None
        }
        if not times:
            return
        # Entries of deleted Jobs expire.
        while self._times:
            uid, known = next(iter(self._times.items()))
            if now - max(known.values()) <= _KEPT:
                break
            del self._times[uid]
        self._times[job_uid] = {**self._times.pop(job_uid, {}), **times}

    def forget(self, job_uid: str) -> None:
        """Remove the entries of a finished Job."""
        self._times.pop(job_uid, None)


class JobBatches:
    """The time at which each Job will be reconciled after events of its Pods.

    The time is a fixed delay after the first event. Later events do not extend the delay. Otherwise
    a Job whose Pods change constantly would never be reconciled.
    """

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # ordered by time

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, job_uid: str, now: datetime) -> float:
        """Return how long to wait for more events; 0 if the delay has passed."""
        due = self._due.setdefault(job_uid, now + _BATCH)
        # Nothing removes the entry of a Job that was deleted meanwhile.
        while (oldest := next(iter(self._due))) != job_uid and now - self._due[oldest] > _KEPT:
            del self._due[oldest]
        return max(0.0, (due - now).total_seconds())

    def end(self, job_uid: str) -> None:
        """Close the batch, because the Job is being reconciled."""
        self._due.pop(job_uid, None)


class LocalState:
    """The state that the Job controller keeps in memory while it runs."""

    def __init__(self) -> None:
        self.vanished = VanishedPods()
        self.batches = JobBatches()
