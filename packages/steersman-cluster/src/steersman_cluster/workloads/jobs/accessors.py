"""Functions that read fields and annotations of Jobs and their Pods. No I/O."""

from datetime import datetime, timedelta

from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.pods import condition as pod_condition
from steersman_cluster.workloads.pods import phase

Job = batch_v1.Job
Pod = core_v1.Pod

TRACKING = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
# The default of ``spec.managedBy``; any other value names another controller.
MANAGER = "kubernetes.io/job-controller"

NO_INDEX = -1
_MOST = 2**31 - 1


def spec_of(job: Job) -> batch_v1.JobSpec:
    """Return the spec of ``job``.

    Raise ``ValueError`` if there is no spec; the API server rejects such a Job.
    """
    if job.spec is None:
        raise ValueError(f"{job.ref} has no spec")
    return job.spec


def status_of(job: Job) -> batch_v1.JobStatus:
    """Return the status of ``job``, or an empty status before the first status write."""
    return job.status or batch_v1.JobStatus()


def is_indexed(spec: batch_v1.JobSpec) -> bool:
    """Return whether the completion mode of the Job is ``Indexed``."""
    return spec.completion_mode == "Indexed"


def is_managed_elsewhere(job: Job) -> bool:
    """Return whether ``spec.managedBy`` of ``job`` names another controller."""
    return spec_of(job).managed_by not in (None, MANAGER)


def replaces_only_failed(spec: batch_v1.JobSpec) -> bool:
    """Return whether a Job replaces a Pod only after the Pod has failed.

    Otherwise the Job already replaces a Pod that is terminating.
    """
    return spec.pod_replacement_policy == "Failed" or spec.pod_failure_policy is not None


def true_condition(job: Job, *types: str) -> batch_v1.JobCondition | None:
    """Return the first condition of ``job`` that is true and has one of ``types``, or ``None``."""
    for each in status_of(job).conditions or ():
        if each.type in types and each.status == "True":
            return each
    return None


def end_of(job: Job) -> batch_v1.JobCondition | None:
    """Return the condition that marks ``job`` as complete or failed, or ``None``."""
    return true_condition(job, "Complete", "Failed")


def is_tracked(pod: Pod) -> bool:
    """Return whether ``pod`` has the tracking finalizer, and therefore is not counted yet."""
    return TRACKING in (pod.metadata.finalizers or ())


def has_failed(pod: Pod, spec: batch_v1.JobSpec) -> bool:
    """Return whether ``pod`` counts as failed for a Job with ``spec``.

    A terminating Pod counts as failed, unless the Job replaces only failed Pods.
    """
    if phase(pod) == "Failed":
        return True
    if pod.metadata.deletion_timestamp is None or replaces_only_failed(spec):
        return False
    return phase(pod) != "Succeeded"


def index_of(pod: Pod) -> int:
    """Return the completion index of ``pod``, or ``NO_INDEX`` if it has no valid index."""
    return _number(pod.annotations.get(COMPLETION_INDEX, ""), NO_INDEX)


def index_failures(pod: Pod) -> int:
    """Return how often the completion index of ``pod`` had failed before this Pod was created.

    Failures that the Pod failure policy ignores do not count.
    """
    return _number(pod.annotations.get(INDEX_FAILURES, ""), 0)


def ignored_index_failures(pod: Pod) -> int:
    """Return how many ignored failures the index of ``pod`` had before this Pod was created.

    These are the failures that the Pod failure policy ignores.
    """
    return _number(pod.annotations.get(INDEX_IGNORED_FAILURES, ""), 0)


def finished_time(pod: Pod) -> datetime:
    """Return the time at which ``pod`` ended: when its last container ended.

    If that time is unknown, return the first of these times that is known: when the Pod became
    unready, when its deletion was requested, when it was created.
    """
    if (ended := _containers_ended(pod)) is not None:
        return ended
    ready = pod_condition(pod, "Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time is not None:
        return ready.last_transition_time
    metadata = pod.metadata
    if metadata.deletion_timestamp is not None:
        grace = timedelta(seconds=metadata.deletion_grace_period_seconds or 0)
        return metadata.deletion_timestamp - grace
    created = metadata.creation_timestamp
    if created is None:
        raise ValueError(f"{pod.ref} was never created")
    return created


def _containers_ended(pod: Pod) -> datetime | None:
    """Return when the last container ended, sidecars included; ``None`` if any container has not
    ended.
    """
    if pod.status is None or pod.spec is None:
        return None
    sidecars = [
        each.name for each in pod.spec.init_containers or () if each.restart_policy == "Always"
    ]
    statuses = (
        *(pod.status.container_statuses or ()),
        *(each for each in pod.status.init_container_statuses or () if each.name in sidecars),
    )
    ends: list[datetime] = []
    for each in statuses:
        terminated = each.state.terminated if each.state is not None else None
        if terminated is None or terminated.finished_at is None:
            return None
        ends.append(terminated.finished_at)
    return max(ends, default=None)


def _number(text: str, otherwise: int) -> int:
    try:
        number = int(text)
    except ValueError:
        return otherwise
    return number if 0 <= number <= _MOST else otherwise
