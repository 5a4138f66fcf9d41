"""What a Pod's status says. Pure."""

from collections.abc import Iterable
from datetime import datetime

from steersman.kinds import core_v1

Pod = core_v1.Pod

# What these have done is done: no controller counts on them any more.
_ENDED = ("Succeeded", "Failed")


def phase(pod: Pod) -> str:
    """``status.phase``; ``"Pending"`` while nobody has said anything."""
    status = pod.status
    return (status.phase if status is not None else None) or "Pending"


def condition(pod: Pod, type: str) -> core_v1.PodCondition | None:
    """The condition of this type, if the Pod has one."""
    status = pod.status
    if status is not None:
        for each in status.conditions or ():
            if each.type == type:
                return each
    return None


def is_ready(pod: Pod) -> bool:
    """Whether it says so itself, in its condition."""
    ready = condition(pod, "Ready")
    return ready is not None and ready.status == "True"


def ready_since(pod: Pod) -> datetime | None:
    """Since when it is ready; ``None`` if it is not, or does not say."""
    ready = condition(pod, "Ready")
    return ready.last_transition_time if ready is not None and ready.status == "True" else None


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """Whether it has been ready for so long."""
    wait_seconds = available_in_seconds(pod, min_ready_seconds, now)
    return wait_seconds is not None and wait_seconds <= 0


def available_in_seconds(pod: Pod, min_ready_seconds: int, now: datetime) -> float | None:
    """How long until it is available if it stays ready: 0 if it is; ``None`` if it is not ready."""
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
    """How long until the next of them becomes available by waiting; ``None`` if none will."""
    if not min_ready_seconds:
        return None
    waits = (available_in_seconds(pod, min_ready_seconds, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


def is_ended(pod: Pod) -> bool:
    """Whether it has succeeded or failed, and will not run again."""
    return phase(pod) in _ENDED


def is_active(pod: Pod) -> bool:
    """Whether it runs or will run: it has not ended and is not being deleted."""
    return pod.metadata.deletion_timestamp is None and phase(pod) not in _ENDED


def is_terminating(pod: Pod) -> bool:
    """Whether it is being deleted and has not ended yet."""
    return pod.metadata.deletion_timestamp is not None and phase(pod) not in _ENDED
