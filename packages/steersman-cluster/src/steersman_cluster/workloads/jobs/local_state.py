"""The state of the Job controller that exists only in memory.

This state is lost when the controller is restarted. Backoffs are then shorter, but the counters of
Jobs stay correct.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.jobs.accessors import finished_time
from steersman_cluster.workloads.jobs.backoff import MAX_SECONDS

Pod = core_v1.Pod

# The longest backoff after a failure.
_KEPT: Final = timedelta(seconds=MAX_SECONDS)

# Pods of one Job often end together: they are counted together.
BATCH_SECONDS: Final = 1.0
_BATCH: Final = timedelta(seconds=BATCH_SECONDS)


class VanishedPods:
    """The failure times of Pods that have been deleted.

    The backoff also counts these failures, although the Pods no longer exist.
    """

    def __init__(self) -> None:
        self._times: dict[str, dict[str, datetime]] = {}  # the most recent last

    def __len__(self) -> int:
        return len(self._times)

    def of(self, job_uid: str) -> Mapping[str, datetime]:
        """Return the failure times of the deleted Pods of a Job, by the Pod's uid.

        ``job_uid`` is the uid of the Job.
        """
        return self._times.get(job_uid, {})

    def note(self, job_uid: str, pods: Iterable[Pod], now: datetime) -> None:
        """Record the failure times of those Pods in ``pods`` that are being deleted.

        ``job_uid`` is the uid of their Job. The controller removes the finalizers of these Pods
        next, so they will soon no longer exist.
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
        """Remove all failure times of the Job with the uid ``job_uid``."""
        self._times.pop(job_uid, None)


class JobBatches:
    """The times at which Jobs will be reconciled after events of their Pods.

    A Job is reconciled at a fixed delay after the first event of its Pods. Later events do not
    extend the delay. Otherwise a Job whose Pods change constantly would never be reconciled.
    """

    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}  # ordered by time

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, job_uid: str, now: datetime) -> float:
        """Return how long the Job with the uid ``job_uid`` waits for more events of its Pods.

        The result is 0 if the delay has passed.
        """
        due = self._due.setdefault(job_uid, now + _BATCH)
        # Nothing removes the entry of a Job that was deleted meanwhile.
        while (oldest := next(iter(self._due))) != job_uid and now - self._due[oldest] > _KEPT:
            del self._due[oldest]
        return max(0.0, (due - now).total_seconds())

    def end(self, job_uid: str) -> None:
        """Remove the entry of the Job with the uid ``job_uid``, because it is being reconciled."""
        self._due.pop(job_uid, None)


class LocalState:
    """The state that the Job controller stores only in memory."""

    def __init__(self) -> None:
        self.vanished = VanishedPods()
        self.batches = JobBatches()
