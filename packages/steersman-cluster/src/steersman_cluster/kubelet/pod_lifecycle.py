"""The lifecycle of a Pod on its node: the status at a given time. No I/O.

A Pod without a start delay changes from pending to ready in one step.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.annotations import (
    START_SECONDS,
    invalid_annotations,
    is_scripted,
    script,
    seconds_of,
)
from steersman_cluster.kubelet.containers import (
    TERMINATED,
    PodEvent,
    SyncContext,
    advance,
    may_restart,
    stop,
    waiting_status,
)
from steersman_cluster.kubelet.pod_conditions import with_conditions

DEADLINE: Final = "Pod was active on the node longer than the specified deadline"

_NO_STATUS: Final = core_v1.PodStatus()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """The result of one sync of a Pod.

    The kubelet writes ``status``, records ``events``, and syncs the Pod again after
    ``after_seconds``. If ``after_seconds`` is ``None``, the Pod is synced again only after a
    change.
    """

    status: core_v1.PodStatus
    events: tuple[PodEvent, ...] = ()
    after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodAddresses:
    """The IP address of a node, and the IP address of a Pod on this node."""

    host_ip: str
    pod_ip: str


def sync_pod(
    pod: core_v1.Pod, addresses: PodAddresses, *, now: datetime, start_seconds: float
) -> SyncResult:
    """Sync ``pod``, which is bound to a node and not being deleted, and return the result.

    The containers start ``start_seconds`` after the binding, unless an annotation of the Pod sets
    another delay.
    """
    before = pod.status or _NO_STATUS
    if before.phase in ("Succeeded", "Failed") or pod.spec is None:
        return SyncResult(status=before)
    sync = SyncContext(pod=pod, now=now)
    if is_scripted(pod):
        if before.start_time is None:
            sync.events += [
                PodEvent("UnreadableAnnotation", f"{each}; it is ignored", "Warning", False)
                for each in invalid_annotations(pod)
            ]
        own_seconds = seconds_of(pod, START_SECONDS)
        start_seconds = start_seconds if own_seconds is None else own_seconds
    start_time = before.start_time or now
    has_sandbox_ = _has_sandbox(before) or sync.is_past(_scheduled_time(before), start_seconds)
    inits, mains = _statuses(pod.spec, before)
    if has_sandbox_:
        inits, mains = _sync_containers(pod.spec, inits, mains, sync)
    after = replace(
        before,
        phase=_phase(pod.spec, inits, mains),
        start_time=start_time,
        host_ip=addresses.host_ip,
        host_ips=(core_v1.HostIP(ip=addresses.host_ip),),
        observed_generation=pod.metadata.generation,
        init_container_statuses=inits or None,
        container_statuses=mains,
    )
    if has_sandbox_:
        after = _at(after, addresses)
    limit = pod.spec.active_deadline_seconds
    is_alive = after.phase not in ("Succeeded", "Failed")
    if limit is not None and is_alive and sync.is_past(start_time, limit):
        events = PodEvent("DeadlineExceeded", DEADLINE, is_routine=False)
        after = _stop_containers(after, now)
        after = replace(after, phase="Failed", reason=events.reason, message=events.note)
        sync.events.append(events)
    status = with_conditions(pod, before, after, now=now, has_sandbox=has_sandbox_)
    # An ended Pod needs no further sync.
    is_over = status.phase in ("Succeeded", "Failed")
    due_times = () if is_over else sync.due_times
    return SyncResult(
        status=status,
        events=tuple(sync.events),
        after_seconds=min(((due - now).total_seconds() for due in due_times), default=None),
    )


def with_address(pod: core_v1.Pod, addresses: PodAddresses) -> core_v1.PodStatus:
    """Return the status of ``pod`` with the IP addresses in ``addresses``."""
    return _at(pod.status or _NO_STATUS, addresses)


def _at(status: core_v1.PodStatus, addresses: PodAddresses) -> core_v1.PodStatus:
    return replace(status, pod_ip=addresses.pod_ip, pod_ips=(core_v1.PodIP(ip=addresses.pod_ip),))


def terminated_status(pod: core_v1.Pod, *, now: datetime) -> core_v1.PodStatus:
    """Return the status of ``pod`` after all its containers were stopped."""
    before = pod.status or _NO_STATUS
    if before.phase in ("Succeeded", "Failed") or pod.spec is None:
        return before
    after = _stop_containers(before, now)
    is_success = bool(after.container_statuses) and all(
        each.state is not None
        and each.state.terminated is not None
        and each.state.terminated.exit_code == 0
        for each in after.container_statuses or ()
    )
    after = replace(after, phase="Succeeded" if is_success else "Failed")
    return with_conditions(pod, before, after, now=now, has_sandbox=False)


def killing_events(pod: core_v1.Pod) -> tuple[PodEvent, ...]:
    """Return the events to record when the kubelet stops the containers of ``pod``."""
    status = pod.status or _NO_STATUS
    return tuple(
        PodEvent("Killing", f"Stopping container {each.name}")
        for each in (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
        if each.state is not None and each.state.running is not None
    )


def _stop_containers(status: core_v1.PodStatus, now: datetime) -> core_v1.PodStatus:
    def all_of(
        statuses: Iterable[core_v1.ContainerStatus] | None,
    ) -> tuple[core_v1.ContainerStatus, ...] | None:
        found = tuple(stop(each, exit_code=TERMINATED, now=now) for each in statuses or ())
        return found or None

    return replace(
        status,
        init_container_statuses=all_of(status.init_container_statuses),
        container_statuses=all_of(status.container_statuses),
    )


def _has_sandbox(status: core_v1.PodStatus) -> bool:
    """Return whether the sandbox is running, which means that the Pod has an IP address."""
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
        tuple(known.get(c.name) or waiting_status(c, reason) for c in spec.init_containers or ()),
        tuple(known.get(c.name) or waiting_status(c, reason) for c in spec.containers),
    )


def _sync_containers(
    spec: core_v1.PodSpec, inits: Statuses, mains: Statuses, sync: SyncContext
) -> tuple[Statuses, Statuses]:
    pod, policy = sync.pod, spec.restart_policy or "Always"
    after: list[core_v1.ContainerStatus] = []
    may_go_on = True
    for container, status in zip(spec.init_containers or (), inits, strict=True):
        if may_go_on:
            is_sidecar = container.restart_policy == "Always"
            status = advance(
                container,
                status,
                script(pod, container, is_init=True),
                # Init containers are retried until they succeed, if the policy allows it.
                restart_policy="Always" if is_sidecar else _until_success(policy),
                is_init=not is_sidecar,
                sync=sync,
            )
            may_go_on = _is_through(status, is_sidecar=is_sidecar) or _has_run(mains)
        after.append(status)
    if may_go_on:
        mains = tuple(
            advance(
                container,
                status,
                script(pod, container, is_init=False),
                restart_policy=policy,
                is_init=False,
                sync=sync,
            )
            for container, status in zip(spec.containers, mains, strict=True)
        )
        if _have_ended(mains, policy):
            after = [stop(each, exit_code=0, now=sync.now) for each in after]
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


def _have_ended(statuses: Statuses, policy: str) -> bool:
    """Return whether all containers have exited and none will be restarted."""
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
    if not _have_ended(mains, policy):
        return "Running"
    codes = [
        each.state.terminated.exit_code for each in mains if each.state and each.state.terminated
    ]
    return "Failed" if any(codes) else "Succeeded"
