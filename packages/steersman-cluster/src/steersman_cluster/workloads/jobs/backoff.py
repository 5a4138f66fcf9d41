"""The backoff of a Job after failed Pods. No I/O.

The backoff is ten seconds, doubled with each further failure. The failures since the last success
are counted on Pods that still exist, so the backoff is the same after a restart of the controller.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs.accessors import (
    finished_time,
    has_failed,
    ignored_index_failures,
    index_failures,
    is_tracked,
)
from steersman_cluster.workloads.pods import phase

Pod = core_v1.Pod

FIRST_SECONDS: Final = 10.0
MAX_SECONDS: Final = 600.0

# A rejected request is retried after this time, and then after as long as it has failed.
_FIRST_RETRY_SECONDS: Final = 1.0
_MAX_RETRY_SECONDS: Final = 60.0


def wait_seconds(
    pods: Iterable[Pod],
    spec: batch_v1.JobSpec,
    now: datetime,
    *,
    vanished: Mapping[str, datetime],
) -> float:
    """Return the seconds until the next Pod of a Job is permitted to be created.

    ``pods`` are the existing Pods of the Job. ``vanished`` contains the failure times of deleted
    Pods, by the Pod's uid.
    """
    failures, last_success = dict(vanished), None
    for pod in pods:
        if phase(pod) == "Succeeded":
            ended = finished_time(pod)
            last_success = ended if last_success is None else max(last_success, ended)
        # A terminating Pod without finalizer was deleted by others, or is in ``vanished``.
        elif phase(pod) == "Failed" or (is_tracked(pod) and has_failed(pod, spec)):
            failures[pod.uid] = finished_time(pod)
    times = [each for each in failures.values() if last_success is None or each > last_success]
    return _left_seconds(len(times), max(times), now) if times else 0.0


def index_wait_seconds(failed: Pod | None, now: datetime) -> float:
    """Return the seconds until ``failed``, the last failed Pod of an index, can be replaced.

    The result is 0 if ``failed`` is ``None``.
    """
    if failed is None:
        return 0.0
    failures = index_failures(failed) + ignored_index_failures(failed) + 1
    return _left_seconds(failures, finished_time(failed), now)


def retry_seconds(pods: Iterable[Pod], start_time: datetime | None, now: datetime) -> float:
    """Return the seconds until the controller retries a request that the API server rejected.

    The delay grows with the time since the newest of ``pods`` was created, or since ``start_time``,
    if that is later.
    """
    made = [each.metadata.creation_timestamp or now for each in pods]
    lasted_seconds = (now - max([*made, start_time or now])).total_seconds()
    return max(_FIRST_RETRY_SECONDS, min(lasted_seconds, _MAX_RETRY_SECONDS))


def _left_seconds(failures: int, last: datetime, now: datetime) -> float:
    # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
    whole = min(FIRST_SECONDS * 2.0 ** min(failures - 1, 64), MAX_SECONDS)
    return max(0.0, whole - (now - last).total_seconds())
