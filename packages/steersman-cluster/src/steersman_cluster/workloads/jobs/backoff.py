"""How long a failed Pod is not replaced: ten seconds, then twice as long each time. Pure.

What has failed since the last success is counted on the Pods that are still there, so whoever takes
over in the middle waits no less than who began.
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
LONGEST_SECONDS: Final = 600.0

# What the server refuses is tried again as soon as this, and then as long after as it has lasted.
_FIRST_RETRY_SECONDS: Final = 1.0
_LONGEST_RETRY_SECONDS: Final = 60.0


def wait_seconds(
    pods: Iterable[Pod],
    spec: batch_v1.JobSpec,
    now: datetime,
    *,
    vanished: Mapping[str, datetime],
) -> float:
    """How long until the next Pod of a Job may be made.

    ``vanished`` are failures that are not to be seen any more, by the uids of their Pods.
    """
    failures, last_success = dict(vanished), None
    for pod in pods:
        if phase(pod) == "Succeeded":
            ended = finished_time(pod)
            last_success = ended if last_success is None else max(last_success, ended)
        # One that is going and not tracked was taken away, or is among those that vanish.
        elif phase(pod) == "Failed" or (is_tracked(pod) and has_failed(pod, spec)):
            failures[pod.uid] = finished_time(pod)
    times = [each for each in failures.values() if last_success is None or each > last_success]
    return _left_seconds(len(times), max(times), now) if times else 0.0


def index_wait_seconds(failed: Pod | None, now: datetime) -> float:
    """How long until the last failed Pod of an index may be replaced."""
    if failed is None:
        return 0.0
    failures = index_failures(failed) + ignored_index_failures(failed) + 1
    return _left_seconds(failures, finished_time(failed), now)


def retry_seconds(pods: Iterable[Pod], start_time: datetime | None, now: datetime) -> float:
    """How long to wait with what the server refuses, by when a Pod could last be made."""
    made = [each.metadata.creation_timestamp or now for each in pods]
    lasted_seconds = (now - max([*made, start_time or now])).total_seconds()
    return max(_FIRST_RETRY_SECONDS, min(lasted_seconds, _LONGEST_RETRY_SECONDS))


def _left_seconds(failures: int, last: datetime, now: datetime) -> float:
    # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
    whole = min(FIRST_SECONDS * 2.0 ** min(failures - 1, 64), LONGEST_SECONDS)
    return max(0.0, whole - (now - last).total_seconds())
