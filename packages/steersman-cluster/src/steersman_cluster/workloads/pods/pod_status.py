"""The phase, readiness and availability of a Pod. No I/O."""

from collections.abc import Iterable
from datetime import datetime

from steersman.kinds import core_v1

Pod = core_v1.Pod

# A Pod in one of these phases will not run again.
_ENDED = ("Succeeded", "Failed")


def phase(pod: Pod) -> str:
    """Return ``status.phase`` of ``pod``, or ``"Pending"`` if it is not set."""
    status = pod.status
    return (status.phase if status is not None else None) or "Pending"


def condition(pod: Pod, type: str) -> core_v1.PodCondition | None:
    """Return the condition of type ``type``, or ``None`` if ``pod`` has no such condition."""
    status = pod.status
    if status is not None:
        for each in status.conditions or ():
            if each.type == type:
                return each
    return None


def is_ready(pod: Pod) -> bool:
    """Return whether the ``Ready`` condition of ``pod`` is true."""
    ready = condition(pod, "Ready")
    return ready is not None and ready.status == "True"


def ready_since(pod: Pod) -> datetime | None:
    """Return when ``pod`` became ready.

    Return ``None`` if the Pod is not ready or if the time is unknown.
    """
    ready = condition(pod, "Ready")
    return ready.last_transition_time if ready is not None and ready.status == "True" else None


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """Return whether ``pod`` has been ready for at least ``min_ready_seconds``."""
    wait_seconds = available_in_seconds(pod, min_ready_seconds, now)
    return wait_seconds is not None and wait_seconds <= 0


def available_in_seconds(pod: Pod, min_ready_seconds: int, now: datetime) -> float | None:
    """Return the seconds until ``pod`` is available.

    The result is 0 if the Pod is already available, and ``None`` if it is not ready.
    """
    ready = condition(pod, "Ready")
    if ready is None or ready.status != "True":
        return None
    if not min_ready_seconds:
        return 0.0
    since = ready.last_transition_time
    if since is None:
        return None
    return max(0.0, min_ready_seconds - (now - since).total_seconds())


def next_available_seconds(
    pods: Iterable[Pod], min_ready_seconds: int, now: datetime
) -> float | None:
    """Return the seconds until the next of ``pods`` becomes available.

    Return ``None`` if none of them will become available by the passing of time alone.
    """
    if not min_ready_seconds:
        return None
    waits = (available_in_seconds(pod, min_ready_seconds, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


def is_ended(pod: Pod) -> bool:
    """Return whether the Pod has succeeded or failed."""
    return phase(pod) in _ENDED


def is_active(pod: Pod) -> bool:
    """Return whether the Pod has not ended and is not being deleted."""
    return pod.metadata.deletion_timestamp is None and phase(pod) not in _ENDED


def is_terminating(pod: Pod) -> bool:
    """Return whether the Pod is being deleted and has not ended."""
    return pod.metadata.deletion_timestamp is not None and phase(pod) not in _ENDED
