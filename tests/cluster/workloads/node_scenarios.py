"""Pods and nodes for tests, and accessors for their fields."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steersman.kinds import core_v1, events_v1, meta_v1
from steersman.kinds.base import replace
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads.settings import WorkloadSettings

Pod = core_v1.Pod
PREFIX = "nodes.steersman.dev/"


def script(**values: str) -> dict[str, str]:
    """Annotations for the simulated kubelet: ``run_seconds="3"``."""
    return {f"{PREFIX}{what.replace('_', '-')}": value for what, value in values.items()}


def pod(
    name: str = "one",
    *,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    host_port: int | None = None,
    finalizers: tuple[str, ...] | None = None,
    init: tuple[core_v1.Container, ...] | None = None,
    **spec: Any,
) -> Pod:
    """A Pod of one container."""
    resources = None
    if requests is not None:
        amounts = {each: Quantity(amount) for each, amount in requests.items()}
        # Extended resources cannot be overcommitted: they need limits, too.
        limits = {each: amount for each, amount in amounts.items() if "/" in each} or None
        resources = core_v1.ResourceRequirements(requests=amounts, limits=limits)
    ports = (core_v1.ContainerPort(container_port=80, host_port=host_port),) if host_port else None
    container = core_v1.Container(name="app", image="app:1", resources=resources, ports=ports)
    return Pod(
        metadata=meta_v1.ObjectMeta(
            name=name, annotations=annotations, labels=labels, finalizers=finalizers
        ),
        spec=core_v1.PodSpec(containers=(container,), init_containers=init, **spec),
    )


def node(name: str, *, labels: Mapping[str, str] | None = None, **spec: Any) -> core_v1.Node:
    """A node that the test creates, with a simulated kubelet."""
    return core_v1.Node(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels, annotations=script(simulated="true")),
        spec=core_v1.NodeSpec(**spec),
    )


def run_steps(steps: Callable[[SimulatedCluster], Awaitable[None]], **settings: Any) -> None:
    """Run the steps in a cluster with only nodes and the scheduler."""
    given: dict[str, Any] = {"parts": ("nodes", "scheduler"), **settings}
    simulate(steps, settings=WorkloadSettings(**given))


def node_of(each: Pod) -> str | None:
    return each.spec.node_name if each.spec is not None else None


def status_of(each: Pod) -> core_v1.PodStatus:
    return each.status or core_v1.PodStatus()


def container_of(each: Pod) -> core_v1.ContainerStatus:
    """The status of its only container."""
    statuses = status_of(each).container_statuses or ()
    assert len(statuses) == 1
    return statuses[0]


def state_of(container: core_v1.ContainerStatus) -> str:
    """``running``, ``waiting: REASON`` or ``terminated: CODE``."""
    return _shown(container.state)


def last_state_of(container: core_v1.ContainerStatus) -> str:
    """The same for its last state."""
    return _shown(container.last_state)


def _shown(state: core_v1.ContainerState | None) -> str:
    if state is None:
        return ""
    if state.waiting is not None:
        return f"waiting: {state.waiting.reason}"
    if state.terminated is not None:
        return f"terminated: {state.terminated.exit_code} {state.terminated.reason}"
    return "running" if state.running is not None else ""


def inits_of(each: Pod) -> list[str]:
    """The states of its init containers."""
    return [state_of(one) for one in status_of(each).init_container_statuses or ()]


def taints_of(each: core_v1.Node) -> list[tuple[str, str]]:
    """The key and effect of each taint."""
    taints = each.spec.taints if each.spec is not None else None
    return [(one.key, one.effect) for one in taints or ()]


def conditions_of(each: Pod) -> dict[str, tuple[str, str | None]]:
    """The status and reason of each condition."""
    return {one.type: (one.status, one.reason) for one in status_of(each).conditions or ()}


def message_of(each: Pod, type_: str) -> str | None:
    return next(
        (one.message for one in status_of(each).conditions or () if one.type == type_), None
    )


async def events_of(cluster: SimulatedCluster, name: str) -> list[tuple[str, str, str]]:
    """The controller, reason and note of each event of a Pod."""
    found = await cluster.list(events_v1.Event)
    about = [each for each in found if each.regarding and each.regarding.name == name]
    # The name starts with the time; the order of components at one time is random.
    about.sort(key=lambda e: (e.name.rpartition(".")[2][:14], e.reporting_controller or "", e.name))
    return [(e.reporting_controller or "", e.reason or "", e.note or "") for e in about]


def writes_since(cluster: SimulatedCluster, before: int) -> list[str]:
    """The writes of the cluster's own controllers after the first ``before`` requests."""
    writes = cluster.history.writes(since=before, actor="workloads")
    return [f"{each.method} {each.target.partition('?')[0]}" for each in writes]


def with_node_affinity(each: Pod, **affinity: Any) -> Pod:
    return _with_affinity(each, node_affinity=core_v1.NodeAffinity(**affinity))


def with_anti_affinity(
    each: Pod, labels: Mapping[str, str], *, key: str = "kubernetes.io/hostname"
) -> Pod:
    """The Pod, with anti-affinity to Pods with these labels."""
    anti = core_v1.PodAntiAffinity(
        required_during_scheduling_ignored_during_execution=(_term(labels, key),)
    )
    return _with_affinity(each, pod_anti_affinity=anti)


def with_affinity(
    each: Pod, labels: Mapping[str, str], *, key: str = "kubernetes.io/hostname"
) -> Pod:
    """The Pod, with affinity to Pods with these labels."""
    near = core_v1.PodAffinity(
        required_during_scheduling_ignored_during_execution=(_term(labels, key),)
    )
    return _with_affinity(each, pod_affinity=near)


def _term(labels: Mapping[str, str], key: str) -> core_v1.PodAffinityTerm:
    return core_v1.PodAffinityTerm(
        topology_key=key, label_selector=meta_v1.LabelSelector(match_labels=labels)
    )


def _with_affinity(each: Pod, **affinity: Any) -> Pod:
    assert each.spec is not None
    return replace(each, spec=replace(each.spec, affinity=core_v1.Affinity(**affinity)))
