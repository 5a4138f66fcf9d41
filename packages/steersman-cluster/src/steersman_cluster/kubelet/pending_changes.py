"""The check whether the kubelet will change a Pod soon. No I/O."""

from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.kubelet.annotations import script
from steersman_cluster.kubelet.containers import CRASHING, PULL_WAITING
from steersman_cluster.workloads import SCHEDULER

_STUCK: Final = (CRASHING, PULL_WAITING)


def has_pending_changes(pod: core_v1.Pod) -> bool:
    """Return whether the simulated scheduler or kubelet will soon change ``pod``.

    The Pod will change while it waits for a node, starts, becomes ready, runs to completion, or
    terminates. The Pod will not change while it is unschedulable, crashes repeatedly, lacks its
    image, or is scripted never to become ready.
    """
    spec, status, metadata = pod.spec, pod.status, pod.metadata
    if spec is None:
        return False
    if metadata.deletion_timestamp is not None:
        return bool(spec.node_name) and metadata.deletion_grace_period_seconds != 0
    if not spec.node_name:
        return _waits_for_a_node(spec, status)
    if status is None:
        return True
    if status.phase in ("Succeeded", "Failed"):
        return False
    statuses = (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
    for each in statuses:
        waiting = each.state.waiting if each.state is not None else None
        if waiting is not None and waiting.reason in _STUCK:
            return False
    return status.phase != "Running" or _will_change(pod, spec, status)


def _waits_for_a_node(spec: core_v1.PodSpec, status: core_v1.PodStatus | None) -> bool:
    if spec.scheduling_gates or (spec.scheduler_name or SCHEDULER) != SCHEDULER:
        return False
    conditions = status.conditions if status is not None else None
    return not any(
        each.type == "PodScheduled" and each.status == "False" for each in conditions or ()
    )


def _will_change(pod: core_v1.Pod, spec: core_v1.PodSpec, status: core_v1.PodStatus) -> bool:
    is_for_ever = (spec.restart_policy or "Always") == "Always"
    known = {each.name: each for each in status.container_statuses or ()}
    for container in spec.containers:
        events = script(pod, container, is_init=False)
        if events.run_seconds is not None and not is_for_ever:
            return True
        each = known.get(container.name)
        if each is None or (not each.ready and events.ready_seconds is not None):
            return True
    return False
