"""A Pod's life on its node: what its status is to say at a moment. Pure.

A Pod that starts at once goes from nothing to running and ready in one step.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.annotations import (
    START_SECONDS,
    is_told,
    script,
    seconds_of,
    unreadable,
)
from steersman_cluster.kubelet.containers import (
    TERMINATED,
    Moment,
    Told,
    advanced,
    may_restart,
    stopped,
    unborn,
)
from steersman_cluster.kubelet.pod_conditions import with_conditions

DEADLINE: Final = "Pod was active on the node longer than the specified deadline"

_NO_STATUS: Final = core_v1.PodStatus()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to write and tell now, and when to look again."""

    status: core_v1.PodStatus
    told: tuple[Told, ...] = ()
    after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a Pod runs: the node's address and its own."""

    host_ip: str
    pod_ip: str


def lived(pod: core_v1.Pod, place: Place, *, now: datetime, start_seconds: float) -> Step:
    """What becomes of a Pod that has a node and is not being deleted."""
    before = pod.status or _NO_STATUS
    if before.phase in ("Succeeded", "Failed") or pod.spec is None:
        return Step(status=before)
    moment = Moment(pod=pod, now=now)
    if is_told(pod):
        if before.start_time is None:
            moment.told += [
                Told("UnreadableAnnotation", f"{each}, and goes for unsaid", "Warning", False)
                for each in unreadable(pod)
            ]
        own_seconds = seconds_of(pod, START_SECONDS)
        start_seconds = start_seconds if own_seconds is None else own_seconds
    start_time = before.start_time or now
    has_begun = _has_begun(before) or moment.is_past(_scheduled_time(before), start_seconds)
    inits, mains = _statuses(pod.spec, before)
    if has_begun:
        inits, mains = _lived(pod.spec, inits, mains, moment)
    after = replace(
        before,
        phase=_phase(pod.spec, inits, mains),
        start_time=start_time,
        host_ip=place.host_ip,
        host_ips=(core_v1.HostIP(ip=place.host_ip),),
        observed_generation=pod.metadata.generation,
        init_container_statuses=inits or None,
        container_statuses=mains,
    )
    if has_begun:
        after = _at(after, place)
    limit = pod.spec.active_deadline_seconds
    is_alive = after.phase not in ("Succeeded", "Failed")
    if limit is not None and is_alive and moment.is_past(start_time, limit):
        told = Told("DeadlineExceeded", DEADLINE, is_routine=False)
        after = _stopped(after, now)
        after = replace(after, phase="Failed", reason=told.reason, message=told.note)
        moment.told.append(told)
    status = with_conditions(pod, before, after, now=now, has_sandbox=has_begun)
    # Nobody is waiting for what would come later.
    is_over = status.phase in ("Succeeded", "Failed")
    due_times = () if is_over else moment.due_times
    return Step(
        status=status,
        told=tuple(moment.told),
        after_seconds=min(((due - now).total_seconds() for due in due_times), default=None),
    )


def moved(pod: core_v1.Pod, place: Place) -> core_v1.PodStatus:
    """The status of a Pod that needs another address."""
    return _at(pod.status or _NO_STATUS, place)


def _at(status: core_v1.PodStatus, place: Place) -> core_v1.PodStatus:
    return replace(status, pod_ip=place.pod_ip, pod_ips=(core_v1.PodIP(ip=place.pod_ip),))


def ended(pod: core_v1.Pod, *, now: datetime) -> core_v1.PodStatus:
    """The status of a Pod all of whose containers were told to stop."""
    before = pod.status or _NO_STATUS
    if before.phase in ("Succeeded", "Failed") or pod.spec is None:
        return before
    after = _stopped(before, now)
    is_success = bool(after.container_statuses) and all(
        each.state is not None
        and each.state.terminated is not None
        and each.state.terminated.exit_code == 0
        for each in after.container_statuses or ()
    )
    after = replace(after, phase="Succeeded" if is_success else "Failed")
    return with_conditions(pod, before, after, now=now, has_sandbox=False)


def killings(pod: core_v1.Pod) -> tuple[Told, ...]:
    """What is told of the containers of a Pod that has to stop."""
    status = pod.status or _NO_STATUS
    return tuple(
        Told("Killing", f"Stopping container {each.name}")
        for each in (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
        if each.state is not None and each.state.running is not None
    )


def _stopped(status: core_v1.PodStatus, now: datetime) -> core_v1.PodStatus:
    def all_of(
        statuses: Iterable[core_v1.ContainerStatus] | None,
    ) -> tuple[core_v1.ContainerStatus, ...] | None:
        found = tuple(stopped(each, exit_code=TERMINATED, now=now) for each in statuses or ())
        return found or None

    return replace(
        status,
        init_container_statuses=all_of(status.init_container_statuses),
        container_statuses=all_of(status.container_statuses),
    )


def _has_begun(status: core_v1.PodStatus) -> bool:
    """Whether it has an address: that it gets when its first container starts."""
    return bool(status.pod_ip)


def _scheduled_time(status: core_v1.PodStatus) -> datetime | None:
    for each in status.conditions or ():
        if each.type == "PodScheduled" and each.status == "True":
            return each.last_transition_time
    return status.start_time


Statuses = tuple[core_v1.ContainerStatus, ...]


def _statuses(spec: core_v1.PodSpec, before: core_v1.PodStatus) -> tuple[Statuses, Statuses]:
    known = {
        each.name: each
        for each in (*(before.init_container_statuses or ()), *(before.container_statuses or ()))
    }
    reason = "PodInitializing" if spec.init_containers else "ContainerCreating"
    return (
        tuple(known.get(c.name) or unborn(c, reason) for c in spec.init_containers or ()),
        tuple(known.get(c.name) or unborn(c, reason) for c in spec.containers),
    )


def _lived(
    spec: core_v1.PodSpec, inits: Statuses, mains: Statuses, moment: Moment
) -> tuple[Statuses, Statuses]:
    pod, policy = moment.pod, spec.restart_policy or "Always"
    after: list[core_v1.ContainerStatus] = []
    may_go_on = True
    for container, status in zip(spec.init_containers or (), inits, strict=True):
        if may_go_on:
            is_sidecar = container.restart_policy == "Always"
            status = advanced(
                container,
                status,
                script(pod, container, is_init=True),
                # Those that prepare the Pod are tried again until they succeed, if at all.
                restart_policy="Always" if is_sidecar else _until_success(policy),
                is_init=not is_sidecar,
                moment=moment,
            )
            may_go_on = _is_through(status, is_sidecar=is_sidecar) or _has_run(mains)
        after.append(status)
    if may_go_on:
        mains = tuple(
            advanced(
                container,
                status,
                script(pod, container, is_init=False),
                restart_policy=policy,
                is_init=False,
                moment=moment,
            )
            for container, status in zip(spec.containers, mains, strict=True)
        )
        if _are_over(mains, policy):
            after = [stopped(each, exit_code=0, now=moment.now) for each in after]
    return tuple(after), mains


def _until_success(policy: str) -> str:
    return "Never" if policy == "Never" else "OnFailure"


def _is_through(status: core_v1.ContainerStatus, *, is_sidecar: bool) -> bool:
    if is_sidecar:
        return bool(status.started)
    terminated = status.state.terminated if status.state is not None else None
    return terminated is not None and terminated.exit_code == 0


def _has_run(statuses: Statuses) -> bool:
    return any(each.container_id for each in statuses)


def _are_over(statuses: Statuses, policy: str) -> bool:
    """Whether they have all exited, and none will be started again."""
    for each in statuses:
        terminated = each.state.terminated if each.state is not None else None
        if terminated is None or may_restart(terminated.exit_code, policy):
            return False
    return True


def _phase(spec: core_v1.PodSpec, inits: Statuses, mains: Statuses) -> str:
    policy = spec.restart_policy or "Always"
    for container, status in zip(spec.init_containers or (), inits, strict=True):
        terminated = status.state.terminated if status.state is not None else None
        has_failed = terminated is not None and terminated.exit_code != 0
        if has_failed and policy == "Never" and container.restart_policy != "Always":
            return "Failed"
    if not _has_run(mains):
        return "Pending"
    if not all(each.container_id for each in mains):
        return "Pending"
    if not _are_over(mains, policy):
        return "Running"
    codes = [
        each.state.terminated.exit_code for each in mains if each.state and each.state.terminated
    ]
    return "Failed" if any(codes) else "Succeeded"
