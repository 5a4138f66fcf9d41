"""The status of a Deployment: its replica counts and its conditions. No I/O."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from steersman.kinds import apps_v1, replace
from steersman_cluster.workloads.deployments.accessors import (
    Deployment,
    ReplicaSet,
    deadline_seconds,
    group_of,
    spec_of,
)
from steersman_cluster.workloads.deployments.rollout import ReplicaLimits

Condition = apps_v1.DeploymentCondition
Status = apps_v1.DeploymentStatus

AVAILABLE, PROGRESSING, FAILING = "Available", "Progressing", "ReplicaFailure"

# The reasons that decide about the next one.
_DONE = "NewReplicaSetAvailable"
_TIMED_OUT = "ProgressDeadlineExceeded"
_PAUSED = "DeploymentPaused"


def condition_in(status: Status, type: str) -> Condition | None:
    """Return the condition of type ``type``, or ``None`` if ``status`` has no such condition."""
    return next((each for each in status.conditions or () if each.type == type), None)


def with_condition(
    status: Status, type: str, value: str, reason: str, message: str, now: datetime
) -> Status:
    """Return ``status`` with a condition of type ``type`` whose status is ``value``.

    The result is ``status`` itself if the existing condition has the same status and reason.
    """
    moment = now.replace(microsecond=0)
    new = Condition(
        type=type,
        status=value,
        reason=reason,
        message=message,
        last_update_time=moment,
        last_transition_time=moment,
    )
    return _with(status, new)


def paused_or_resumed(deployment: Deployment, status: Status, now: datetime) -> Status:
    """Return ``status`` with a ``Progressing`` condition that reports a pause or a resumption.

    The progress deadline does not elapse while the Deployment is paused.
    """
    if deadline_seconds(deployment) is None:
        return status
    progress = condition_in(status, PROGRESSING)
    reason = progress.reason if progress is not None else None
    if reason == _TIMED_OUT:
        return status
    if spec_of(deployment).paused and reason != _PAUSED:
        return with_condition(status, PROGRESSING, "Unknown", _PAUSED, "Deployment is paused", now)
    if not spec_of(deployment).paused and reason == _PAUSED:
        message = "Deployment is resumed"
        return with_condition(status, PROGRESSING, "Unknown", "DeploymentResumed", message, now)
    return status


def counted(
    deployment: Deployment,
    limits: ReplicaLimits,
    status: Status,
    new: ReplicaSet | None,
    olds: Sequence[ReplicaSet],
    now: datetime,
) -> Status:
    """Return ``status`` with the current replica counts and the ``Available`` condition.

    ``new`` is the ReplicaSet with the Deployment's template, and ``olds`` are all its other
    ReplicaSets.
    """
    sets = [*olds, *((new,) if new is not None else ())]
    groups = [group_of(rs) for rs in sets]
    available = sum(group.available for group in groups)
    unavailable = sum(group.size for group in groups) - available
    status = Status(
        observed_generation=deployment.generation or None,
        replicas=sum(_pods(rs) for rs in sets) or None,
        updated_replicas=(_pods(new) if new is not None else 0) or None,
        ready_replicas=sum(_ready(rs) for rs in sets) or None,
        available_replicas=available or None,
        unavailable_replicas=max(0, unavailable) or None,
        terminating_replicas=_terminating(sets),
        collision_count=status.collision_count,
        conditions=status.conditions,
    )
    if available >= limits.min_available:
        reason, message = "MinimumReplicasAvailable", "Deployment has minimum availability."
        return with_condition(status, AVAILABLE, "True", reason, message, now)
    reason, message = (
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
    )
    return with_condition(status, AVAILABLE, "False", reason, message, now)


def progressed(
    deployment: Deployment,
    limits: ReplicaLimits,
    before: Status,
    status: Status,
    new: ReplicaSet | None,
    olds: Sequence[ReplicaSet],
    now: datetime,
) -> Status:
    """Return ``status`` with the conditions that report the progress of the rollout.

    ``status`` contains the current counts; ``before`` is the previous status, with the counts at
    the last reconcile. ``new`` is the ReplicaSet with the Deployment's template, ``olds`` are the
    others.
    """
    seconds = deadline_seconds(deployment)
    if seconds is None:
        status = _without_condition(status, PROGRESSING)
    else:
        status = _with_progress(deployment, limits, before, status, new, now, seconds)
    failure = _failure(new, olds)
    return _with(status, failure) if failure is not None else _without_condition(status, FAILING)


def is_complete(deployment: Deployment, limits: ReplicaLimits, status: Status) -> bool:
    """Return whether all Pods have the new template and are available, and no old Pods exist."""
    replicas = limits.replicas
    return (
        (status.updated_replicas or 0) == replicas
        and (status.replicas or 0) == replicas
        and (status.available_replicas or 0) == replicas
        and (status.observed_generation or 0) >= deployment.generation
    )


def overdue_in_seconds(
    deployment: Deployment, limits: ReplicaLimits, status: Status, now: datetime
) -> float | None:
    """Return the seconds until the progress deadline has to be checked, or ``None`` if never."""
    seconds = deadline_seconds(deployment)
    progress = condition_in(status, PROGRESSING)
    if (
        seconds is None
        or progress is None
        or progress.reason == _TIMED_OUT
        or progress.last_update_time is None
        or is_complete(deployment, limits, status)
    ):
        return None
    # The server stores whole seconds: one second later it has passed for certain.
    left = (progress.last_update_time + timedelta(seconds=seconds + 1) - now).total_seconds()
    return max(1.0, left)


def _with_progress(
    deployment: Deployment,
    limits: ReplicaLimits,
    before: Status,
    status: Status,
    new: ReplicaSet | None,
    now: datetime,
    seconds: int,
) -> Status:
    progress = condition_in(before, PROGRESSING)
    reason = progress.reason if progress is not None else None
    if reason == _DONE and status.replicas == status.updated_replicas:
        return status  # it is reported already; later changes are not part of the rollout
    who = f'ReplicaSet "{new.name}"' if new is not None else f'Deployment "{deployment.name}"'
    if is_complete(deployment, limits, status):
        message = f"{who} has successfully progressed."
        return with_condition(status, PROGRESSING, "True", _DONE, message, now)
    if _has_moved(before, status):
        message = f"{who} is progressing."
        moment = now.replace(microsecond=0)
        since = progress.last_transition_time if progress and progress.is_true else moment
        annotations = Condition(
            type=PROGRESSING,
            status="True",
            reason="ReplicaSetUpdated",
            message=message,
            last_update_time=moment,
            last_transition_time=since,
        )
        # Also with the same content: the deadline counts from its last update.
        return _with(_without_condition(status, PROGRESSING), annotations)
    if _is_overdue(progress, seconds, now):
        message = f"{who} has timed out progressing."
        return with_condition(status, PROGRESSING, "False", _TIMED_OUT, message, now)
    return status


def _has_moved(before: Status, after: Status) -> bool:
    def old(status: Status) -> int:
        return (status.replicas or 0) - (status.updated_replicas or 0)

    return (
        (after.updated_replicas or 0) > (before.updated_replicas or 0)
        or old(after) < old(before)
        or (after.ready_replicas or 0) > (before.ready_replicas or 0)
        or (after.available_replicas or 0) > (before.available_replicas or 0)
    )


def _is_overdue(progress: Condition | None, seconds: int, now: datetime) -> bool:
    if progress is None or progress.reason == _DONE:
        return False
    if progress.reason == _TIMED_OUT:
        return True
    since = progress.last_update_time
    return since is not None and since + timedelta(seconds=seconds) < now


def _failure(new: ReplicaSet | None, olds: Iterable[ReplicaSet]) -> Condition | None:
    """Return the ``ReplicaFailure`` condition of the first ReplicaSet that has one, as a Deployment
    condition.

    The new ReplicaSet is checked first. Return ``None`` if no ReplicaSet has this condition.
    """
    for rs in (*((new,) if new is not None else ()), *olds):
        for each in (rs.status.conditions if rs.status is not None else None) or ():
            if each.type == FAILING:
                return Condition(
                    type=FAILING,
                    status=each.status,
                    reason=each.reason,
                    message=each.message,
                    last_update_time=each.last_transition_time,
                    last_transition_time=each.last_transition_time,
                )
    return None


def _with(status: Status, new: Condition) -> Status:
    there = condition_in(status, new.type)
    if there is not None and there.status == new.status:
        if there.reason == new.reason:
            return status
        new = replace(new, last_transition_time=there.last_transition_time)
    others = tuple(each for each in status.conditions or () if each.type != new.type)
    return replace(status, conditions=(*others, new))


def _without_condition(status: Status, type: str) -> Status:
    if condition_in(status, type) is None:
        return status
    others = tuple(each for each in status.conditions or () if each.type != type)
    return replace(status, conditions=others or None)


def _pods(rs: ReplicaSet) -> int:
    return rs.status.replicas if rs.status is not None else 0


def _ready(rs: ReplicaSet) -> int:
    return (rs.status.ready_replicas if rs.status is not None else None) or 0


def _terminating(sets: Iterable[ReplicaSet]) -> int | None:
    """Return how many Pods are terminating,
    or ``None`` if a ReplicaSet does not report this count.
    """
    total = 0
    for rs in sets:
        if rs.status is None:
            continue
        if rs.status.terminating_replicas is None:
            if rs.status.observed_generation:
                return None
            continue
        total += rs.status.terminating_replicas
    return total
