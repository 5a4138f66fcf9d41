"""The lifecycle of one container. No I/O.

    waiting ──▶ running ──▶ terminated ──▶ waiting (CrashLoopBackOff) ──▶ running …
       │
       └──▶ waiting (ErrImagePull) ──▶ waiting (ImagePullBackOff)

All transitions that are due at the same time happen in one step, so the kubelet writes the Pod's
status only once for these transitions.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.annotations import Script

# The kubelet's backoff of restarts. The first restart is immediate; a container that has run for
# twice the longest backoff starts over.
FIRST_WAIT_SECONDS: Final = 10
MAX_WAIT_SECONDS: Final = 300

# The exit code of a process that does not handle SIGTERM.
TERMINATED: Final = 143

CRASHING: Final = "CrashLoopBackOff"
PULL_FAILED: Final = "ErrImagePull"
PULL_WAITING: Final = "ImagePullBackOff"


class PodEvent(NamedTuple):
    """A Kubernetes event that the kubelet records about a Pod."""

    reason: str
    note: str
    type: Literal["Normal", "Warning"] = "Normal"
    is_routine: bool = True


@dataclass(slots=True)
class SyncContext:
    """The data of one sync of a Pod: the events to record, and the times at which to sync again."""

    pod: core_v1.Pod
    now: datetime
    events: list[PodEvent] = field(default_factory=list)
    due_times: list[datetime] = field(default_factory=list)

    def is_past(self, since: datetime | None, seconds: float) -> bool:
        """Return whether at least ``seconds`` have passed since ``since``, by default since now.

        If not, the time at which they will have passed is added to ``due_times``.
        """
        due = (since or self.now) + timedelta(seconds=seconds)
        if due <= self.now:
            return True
        self.due_times.append(due)
        return False


def wait_seconds(restarts: int, *, ran_seconds: float) -> int:
    """Return the backoff before the next restart of a container.

    ``restarts`` is the number of restarts so far, and ``ran_seconds`` the duration of the last run.
    The result is 0 for the first restart, and after a run of at least twice the longest backoff.
    """
    if restarts == 0 or ran_seconds >= 2 * MAX_WAIT_SECONDS:
        return 0
    # Ten doublings exceed the longest backoff.
    return min(FIRST_WAIT_SECONDS << min(restarts - 1, 10), MAX_WAIT_SECONDS)


def waiting_status(container: core_v1.Container, reason: str) -> core_v1.ContainerStatus:
    """Return the status of ``container`` before its first start; ``reason`` is why it waits."""
    return core_v1.ContainerStatus(
        name=container.name,
        image=container.image or "",
        image_id="",
        ready=False,
        started=False,
        restart_count=0,
        last_state=core_v1.ContainerState(),
        state=core_v1.ContainerState(waiting=core_v1.ContainerStateWaiting(reason=reason)),
    )


def advance(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    script: Script,
    *,
    restart_policy: str,
    is_init: bool,
    sync: SyncContext,
) -> core_v1.ContainerStatus:
    """Return the status of ``container`` after all transitions from ``status`` that are due.

    The Pod's start must already permit this container to run. ``sync`` collects the events of the
    transitions, and the times of later transitions.
    """
    while True:
        state = status.state or core_v1.ContainerState()
        if state.running is not None:
            after = _running(container, status, state.running, script, sync)
        elif state.terminated is not None:
            after = _terminated(container, status, state.terminated, restart_policy, sync)
        else:
            after = _waiting(container, status, script, sync)
        # Further transitions that are due now happen now.
        if after is status or after.state == status.state:
            return _probed(after, script, is_init=is_init, sync=sync)
        status = after


def stop(
    status: core_v1.ContainerStatus, *, exit_code: int, now: datetime
) -> core_v1.ContainerStatus:
    """Return the status of a container after it was terminated with ``exit_code``.

    If the container is not running, only its readiness is set to false.
    """
    running = status.state.running if status.state is not None else None
    if running is None:
        return status if not status.ready else replace(status, ready=False)
    return _ended(status, running, exit_code=exit_code, now=now)


def may_restart(exit_code: int, restart_policy: str) -> bool:
    """Return whether ``restart_policy`` restarts a container that has exited with ``exit_code``."""
    return restart_policy == "Always" or (restart_policy == "OnFailure" and exit_code != 0)


def _waiting(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    script: Script,
    sync: SyncContext,
) -> core_v1.ContainerStatus:
    last = status.last_state.terminated if status.last_state is not None else None
    if last is not None:
        wait = wait_seconds(status.restart_count, ran_seconds=_ran_seconds(last))
        if not sync.is_past(last.finished_at, wait):
            return status
    if script.image_is_missing:
        return _without_image(container, status, sync)
    restarts = status.restart_count + (last is not None)
    return _started(container, status, restarts, sync)


def _without_image(
    container: core_v1.Container, status: core_v1.ContainerStatus, sync: SyncContext
) -> core_v1.ContainerStatus:
    waiting = status.state.waiting if status.state is not None else None
    reason = waiting.reason if waiting is not None else None
    image = container.image or ""
    missing = f'failed to pull and unpack image "{image}": not found'
    if reason == PULL_WAITING:
        return status
    if reason == PULL_FAILED:
        started = sync.pod.status.start_time if sync.pod.status is not None else None
        if not sync.is_past(started, FIRST_WAIT_SECONDS):
            return status
        sync.events += [
            PodEvent("BackOff", f'Back-off pulling image "{image}"', is_routine=False),
            PodEvent("Failed", f"Error: {PULL_WAITING}", "Warning", is_routine=False),
        ]
        message = f'Back-off pulling image "{image}": {PULL_FAILED}: {missing}'
        return _waiting_status(status, PULL_WAITING, message)
    sync.events += [
        PodEvent("Pulling", f'Pulling image "{image}"'),
        PodEvent(
            "Failed", f'Failed to pull image "{image}": {missing}', "Warning", is_routine=False
        ),
        PodEvent("Failed", f"Error: {PULL_FAILED}", "Warning", is_routine=False),
    ]
    return _waiting_status(status, PULL_FAILED, missing)


def _waiting_status(
    status: core_v1.ContainerStatus, reason: str, message: str
) -> core_v1.ContainerStatus:
    waiting = core_v1.ContainerStateWaiting(reason=reason, message=message)
    return replace(
        status, state=core_v1.ContainerState(waiting=waiting), ready=False, started=False
    )


def _started(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    restarts: int,
    sync: SyncContext,
) -> core_v1.ContainerStatus:
    image = container.image or ""
    already = f'Container image "{image}" already present on machine and can be accessed by the pod'
    sync.events += [
        PodEvent("Pulled", already),
        PodEvent("Created", "Container created"),
        PodEvent("Started", "Container started"),
    ]
    running = core_v1.ContainerStateRunning(started_at=sync.now)
    return replace(
        status,
        image=image,
        container_id=_container_id(sync.pod.uid, container.name, restarts),
        restart_count=restarts,
        state=core_v1.ContainerState(running=running),
    )


def _running(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    running: core_v1.ContainerStateRunning,
    script: Script,
    sync: SyncContext,
) -> core_v1.ContainerStatus:
    if status.image != (container.image or ""):
        note = f"Container {container.name} definition changed, will be restarted"
        sync.events.append(PodEvent("Killing", note))
        over = _ended(status, running, exit_code=TERMINATED, now=sync.now)
        # Without backoff: the container has not failed.
        fresh = replace(over, last_state=over.state)
        return _started(container, fresh, status.restart_count + 1, sync)
    if script.run_seconds is None or not sync.is_past(running.started_at, script.run_seconds):
        return status
    return _ended(status, running, exit_code=script.exit_code, now=sync.now)


def _ended(
    status: core_v1.ContainerStatus,
    running: core_v1.ContainerStateRunning,
    *,
    exit_code: int,
    now: datetime,
) -> core_v1.ContainerStatus:
    terminated = core_v1.ContainerStateTerminated(
        exit_code=exit_code,
        reason="Error" if exit_code else "Completed",
        started_at=running.started_at,
        finished_at=now,
        container_id=status.container_id,
    )
    return replace(
        status, state=core_v1.ContainerState(terminated=terminated), ready=False, started=False
    )


def _terminated(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    terminated: core_v1.ContainerStateTerminated,
    restart_policy: str,
    sync: SyncContext,
) -> core_v1.ContainerStatus:
    if not may_restart(terminated.exit_code, restart_policy):
        return status
    last = replace(status, last_state=core_v1.ContainerState(terminated=terminated))
    wait = wait_seconds(status.restart_count, ran_seconds=_ran_seconds(terminated))
    if sync.is_past(terminated.finished_at, wait):
        return _started(container, last, status.restart_count + 1, sync)
    pod = f"{sync.pod.name}_{sync.pod.namespace}({sync.pod.uid})"
    note = f"Back-off restarting failed container {container.name} in pod {pod}"
    sync.events.append(PodEvent("BackOff", note, "Warning", is_routine=False))
    message = f"back-off {_format(wait)} restarting failed container={container.name} pod={pod}"
    return _waiting_status(last, CRASHING, message)


def _probed(
    status: core_v1.ContainerStatus, script: Script, *, is_init: bool, sync: SyncContext
) -> core_v1.ContainerStatus:
    """Return the status with the results of the container's probes."""
    state = status.state or core_v1.ContainerState()
    started = state.running is not None
    if state.running is not None:
        ready = script.ready_seconds is not None and sync.is_past(
            state.running.started_at, script.ready_seconds
        )
        if script.ready_seconds is None and not status.started:
            note = "Readiness probe failed: an annotation keeps it from being ready"
            sync.events.append(PodEvent("Unhealthy", note, "Warning", is_routine=False))
    else:
        # A completed init container is ready.
        ready = is_init and state.terminated is not None and state.terminated.exit_code == 0
    if status.ready == ready and status.started == started:
        return status
    return replace(status, ready=ready, started=started)


def _ran_seconds(terminated: core_v1.ContainerStateTerminated) -> float:
    if terminated.started_at is None or terminated.finished_at is None:
        return 0.0
    return (terminated.finished_at - terminated.started_at).total_seconds()


def _format(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _container_id(uid: str, name: str, restarts: int) -> str:
    return f"containerd://{sha256(f'{uid}/{name}/{restarts}'.encode()).hexdigest()}"
