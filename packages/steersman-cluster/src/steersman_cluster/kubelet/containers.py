"""One container's life, from waiting to running to its end and back. Pure.

    waiting ──▶ running ──▶ terminated ──▶ waiting (CrashLoopBackOff) ──▶ running …
       │
       └──▶ waiting (ErrImagePull) ──▶ waiting (ImagePullBackOff)

All that is due at a moment happens in one step: whoever writes the outcome writes once.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.annotations import Script

# The kubelet's waits before it starts a container again, the first time excepted: that it does at
# once. A container that has run for twice the longest wait is forgiven.
FIRST_WAIT_SECONDS: Final = 10
LONGEST_WAIT_SECONDS: Final = 300

# What a process ends with that is told to, and has not learned to answer.
TERMINATED: Final = 143

CRASHING: Final = "CrashLoopBackOff"
PULL_FAILED: Final = "ErrImagePull"
PULL_WAITING: Final = "ImagePullBackOff"


class Told(NamedTuple):
    """An event, as people read it."""

    reason: str
    note: str
    type: Literal["Normal", "Warning"] = "Normal"
    is_routine: bool = True


@dataclass(slots=True)
class Moment:
    """What comes of one look at a Pod: what to tell, and when to look again."""

    pod: core_v1.Pod
    now: datetime
    told: list[Told] = field(default_factory=list)
    due_times: list[datetime] = field(default_factory=list)

    def is_past(self, since: datetime | None, seconds: float) -> bool:
        """Whether so much time has passed; if not, it is to be looked at again then."""
        due = (since or self.now) + timedelta(seconds=seconds)
        if due <= self.now:
            return True
        self.due_times.append(due)
        return False


def wait_seconds(restarts: int, *, ran_seconds: float) -> int:
    """How long to wait before a container that was restarted so often is started again."""
    if restarts == 0 or ran_seconds >= 2 * LONGEST_WAIT_SECONDS:
        return 0
    # Ten doublings go far beyond the longest wait.
    return min(FIRST_WAIT_SECONDS << min(restarts - 1, 10), LONGEST_WAIT_SECONDS)


def unborn(container: core_v1.Container, reason: str) -> core_v1.ContainerStatus:
    """A container of which nothing has happened yet."""
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


def advanced(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    script: Script,
    *,
    restart_policy: str,
    is_init: bool,
    moment: Moment,
) -> core_v1.ContainerStatus:
    """The container as it is at this moment, if it may run."""
    while True:
        state = status.state or core_v1.ContainerState()
        if state.running is not None:
            after = _running(container, status, state.running, script, moment)
        elif state.terminated is not None:
            after = _terminated(container, status, state.terminated, restart_policy, moment)
        else:
            after = _waiting(container, status, script, moment)
        # A moment later it would be the same moment: what is due at once is done at once.
        if after is status or after.state == status.state:
            return _seen(after, script, is_init=is_init, moment=moment)
        status = after


def stopped(
    status: core_v1.ContainerStatus, *, exit_code: int, now: datetime
) -> core_v1.ContainerStatus:
    """The container after it was told to stop; one that did not run is as it was."""
    running = status.state.running if status.state is not None else None
    if running is None:
        return status if not status.ready else replace(status, ready=False)
    return _ended(status, running, exit_code=exit_code, now=now)


def may_restart(exit_code: int, restart_policy: str) -> bool:
    """Whether a container that has exited so is started again."""
    return restart_policy == "Always" or (restart_policy == "OnFailure" and exit_code != 0)


def _waiting(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    script: Script,
    moment: Moment,
) -> core_v1.ContainerStatus:
    last = status.last_state.terminated if status.last_state is not None else None
    if last is not None:
        wait = wait_seconds(status.restart_count, ran_seconds=_ran_seconds(last))
        if not moment.is_past(last.finished_at, wait):
            return status
    if script.image_is_missing:
        return _without_image(container, status, moment)
    restarts = status.restart_count + (last is not None)
    return _started(container, status, restarts, moment)


def _without_image(
    container: core_v1.Container, status: core_v1.ContainerStatus, moment: Moment
) -> core_v1.ContainerStatus:
    waiting = status.state.waiting if status.state is not None else None
    reason = waiting.reason if waiting is not None else None
    image = container.image or ""
    missing = f'failed to pull and unpack image "{image}": not found'
    if reason == PULL_WAITING:
        return status
    if reason == PULL_FAILED:
        started = moment.pod.status.start_time if moment.pod.status is not None else None
        if not moment.is_past(started, FIRST_WAIT_SECONDS):
            return status
        moment.told += [
            Told("BackOff", f'Back-off pulling image "{image}"', is_routine=False),
            Told("Failed", f"Error: {PULL_WAITING}", "Warning", is_routine=False),
        ]
        message = f'Back-off pulling image "{image}": {PULL_FAILED}: {missing}'
        return _made_wait(status, PULL_WAITING, message)
    moment.told += [
        Told("Pulling", f'Pulling image "{image}"'),
        Told("Failed", f'Failed to pull image "{image}": {missing}', "Warning", is_routine=False),
        Told("Failed", f"Error: {PULL_FAILED}", "Warning", is_routine=False),
    ]
    return _made_wait(status, PULL_FAILED, missing)


def _made_wait(
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
    moment: Moment,
) -> core_v1.ContainerStatus:
    image = container.image or ""
    already = f'Container image "{image}" already present on machine and can be accessed by the pod'
    moment.told += [
        Told("Pulled", already),
        Told("Created", "Container created"),
        Told("Started", "Container started"),
    ]
    running = core_v1.ContainerStateRunning(started_at=moment.now)
    return replace(
        status,
        image=image,
        container_id=_container_id(moment.pod.uid, container.name, restarts),
        restart_count=restarts,
        state=core_v1.ContainerState(running=running),
    )


def _running(
    container: core_v1.Container,
    status: core_v1.ContainerStatus,
    running: core_v1.ContainerStateRunning,
    script: Script,
    moment: Moment,
) -> core_v1.ContainerStatus:
    if status.image != (container.image or ""):
        note = f"Container {container.name} definition changed, will be restarted"
        moment.told.append(Told("Killing", note))
        over = _ended(status, running, exit_code=TERMINATED, now=moment.now)
        # Not after a wait: it has done nothing wrong.
        fresh = replace(over, last_state=over.state)
        return _started(container, fresh, status.restart_count + 1, moment)
    if script.run_seconds is None or not moment.is_past(running.started_at, script.run_seconds):
        return status
    return _ended(status, running, exit_code=script.exit_code, now=moment.now)


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
    moment: Moment,
) -> core_v1.ContainerStatus:
    if not may_restart(terminated.exit_code, restart_policy):
        return status
    last = replace(status, last_state=core_v1.ContainerState(terminated=terminated))
    wait = wait_seconds(status.restart_count, ran_seconds=_ran_seconds(terminated))
    if moment.is_past(terminated.finished_at, wait):
        return _started(container, last, status.restart_count + 1, moment)
    pod = f"{moment.pod.name}_{moment.pod.namespace}({moment.pod.uid})"
    note = f"Back-off restarting failed container {container.name} in pod {pod}"
    moment.told.append(Told("BackOff", note, "Warning", is_routine=False))
    message = f"back-off {_as_go(wait)} restarting failed container={container.name} pod={pod}"
    return _made_wait(last, CRASHING, message)


def _seen(
    status: core_v1.ContainerStatus, script: Script, *, is_init: bool, moment: Moment
) -> core_v1.ContainerStatus:
    """The container with what its probes would say."""
    state = status.state or core_v1.ContainerState()
    started = state.running is not None
    if state.running is not None:
        ready = script.ready_seconds is not None and moment.is_past(
            state.running.started_at, script.ready_seconds
        )
        if script.ready_seconds is None and not status.started:
            note = "Readiness probe failed: it is told never to be ready"
            moment.told.append(Told("Unhealthy", note, "Warning", is_routine=False))
    else:
        # An init container that is through counts as ready.
        ready = is_init and state.terminated is not None and state.terminated.exit_code == 0
    if status.ready == ready and status.started == started:
        return status
    return replace(status, ready=ready, started=started)


def _ran_seconds(terminated: core_v1.ContainerStateTerminated) -> float:
    if terminated.started_at is None or terminated.finished_at is None:
        return 0.0
    return (terminated.finished_at - terminated.started_at).total_seconds()


def _as_go(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _container_id(uid: str, name: str, restarts: int) -> str:
    return f"containerd://{sha256(f'{uid}/{name}/{restarts}'.encode()).hexdigest()}"
