"""The Pod conditions that the kubelet maintains. No I/O."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from steersman.kinds import core_v1
from steersman.kinds.base import replace

# The kubelet's own conditions; all others are kept.
OURS: Final = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)

_OVER: Final = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}


def with_conditions(
    pod: core_v1.Pod,
    before: core_v1.PodStatus,
    after: core_v1.PodStatus,
    *,
    now: datetime,
    has_sandbox: bool,
) -> core_v1.PodStatus:
    """Return the status ``after`` with conditions that match its containers and its phase.

    ``before`` is the previous status; its conditions of other writers are preserved.
    ``has_sandbox`` is whether the Pod's containers can already start.
    """
    old = {each.type: each for each in before.conditions or ()}
    others = [each for each in before.conditions or () if each.type not in OURS]
    containers = _containers_ready(pod, after)
    is_running = has_sandbox and after.phase not in _OVER
    conditions_ = (
        _Condition("PodReadyToStartContainers", "True" if is_running else "False"),
        _initialized(pod, after),
        _ready(pod, containers, old),
        containers,
        _Condition("PodScheduled", "True"),
    )
    generation = pod.metadata.generation
    conditions = (
        *others,
        *(
            each.condition(old.get(each.type), now=now, generation=generation)
            for each in conditions_
        ),
    )
    return replace(after, conditions=conditions)


class _Condition:
    __slots__ = ("message", "reason", "status", "type")

    def __init__(self, type: str, status: str, reason: str = "", message: str = "") -> None:
        self.type = type
        self.status = status
        self.reason = reason or None
        self.message = message or None

    def condition(
        self, old: core_v1.PodCondition | None, *, now: datetime, generation: int | None
    ) -> core_v1.PodCondition:
        has_flipped = old is None or old.status != self.status
        since = now if has_flipped or old is None else old.last_transition_time
        return core_v1.PodCondition(
            type=self.type,
            status=self.status,
            reason=self.reason,
            message=self.message,
            last_transition_time=since,
            observed_generation=generation,
        )


def _initialized(pod: core_v1.Pod, status: core_v1.PodStatus) -> _Condition:
    spec = pod.spec
    if status.phase == "Succeeded":
        return _Condition("Initialized", "True", "PodCompleted")
    has_run = any(each.container_id for each in status.container_statuses or ())
    if spec is None or not spec.init_containers or has_run:
        return _Condition("Initialized", "True")
    incomplete = [
        container.name
        for container, each in zip(
            spec.init_containers, status.init_container_statuses or (), strict=True
        )
        if not _is_initialized(container, each)
    ]
    if not incomplete:
        return _Condition("Initialized", "True")
    message = f"containers with incomplete status: {_format(incomplete)}"
    return _Condition("Initialized", "False", "ContainersNotInitialized", message)


def _is_initialized(container: core_v1.Container, status: core_v1.ContainerStatus) -> bool:
    return bool(status.started) if container.restart_policy == "Always" else status.ready


def _containers_ready(pod: core_v1.Pod, status: core_v1.PodStatus) -> _Condition:
    over = _OVER.get(status.phase or "")
    if over:
        return _Condition("ContainersReady", "False", over)
    spec = pod.spec
    inits = spec.init_containers if spec is not None else None
    sidecars = {each.name for each in inits or () if each.restart_policy == "Always"}
    unready = [
        each.name
        for each in status.init_container_statuses or ()
        if each.name in sidecars and not each.ready
    ]
    unready += [each.name for each in status.container_statuses or () if not each.ready]
    if not unready:
        return _Condition("ContainersReady", "True")
    message = f"containers with unready status: {_format(unready)}"
    return _Condition("ContainersReady", "False", "ContainersNotReady", message)


def _ready(
    pod: core_v1.Pod, containers: _Condition, old: dict[str, core_v1.PodCondition]
) -> _Condition:
    if containers.status != "True":
        reason, message = containers.reason or "", containers.message or ""
        return _Condition("Ready", containers.status, reason, message)
    missing: list[str] = []
    for gate in (pod.spec.readiness_gates if pod.spec is not None else None) or ():
        type_ = gate.condition_type
        found = old.get(type_)
        if found is None:
            missing.append(
                f'corresponding condition of pod readiness gate "{type_}" does not exist.'
            )
        elif found.status != "True":
            missing.append(
                f'the status of pod readiness gate "{type_}" is not "True", but {found.status}'
            )
    if missing:
        return _Condition("Ready", "False", "ReadinessGatesNotReady", ", ".join(missing))
    return _Condition("Ready", "True")


def _format(names: Iterable[str]) -> str:
    return f"[{' '.join(names)}]"
