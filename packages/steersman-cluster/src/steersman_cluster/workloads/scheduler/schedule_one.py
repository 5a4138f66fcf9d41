"""One scheduling cycle for a Pod. No I/O.

The cycle filters the nodes on which the Pod fits, scores these nodes, and selects one. Of several
nodes with the highest score, the first by name is selected.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from steersman.kinds import Codec, Part, core_v1
from steersman_cluster.workloads.scheduler.cache import (
    DEFAULT_REQUESTS,
    NodeInfo,
    SchedulerCache,
    owner_of,
)
from steersman_cluster.workloads.scheduler.plugins.inter_pod_affinity import (
    InterPodAffinity,
    LabelsOf,
)
from steersman_cluster.workloads.scheduler.plugins.node_affinity import (
    NOT_SELECTED,
    matches_node,
    preferred_score,
)
from steersman_cluster.workloads.scheduler.plugins.node_ports import (
    PORTS_TAKEN,
    HostPort,
    host_ports,
    ports_conflict,
)
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import (
    TOO_MANY_PODS,
    Amounts,
    insufficient_resources,
    resource_requests,
)
from steersman_cluster.workloads.scheduler.plugins.pod_topology_spread import PodTopologySpread
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import (
    TAINTED,
    count_prefer_no_schedule,
    tolerates,
    untolerated_taint,
)

NO_NODES: Final = "no nodes available to schedule pods"
NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NO_HELP: Final = "Preemption is not helpful for scheduling"
CORDONED: Final = "node(s) were unschedulable"
OTHER_NAME: Final = "node(s) didn't match the requested node name"
NOT_NAMED: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"

UNSCHEDULABLE_TAINT: Final = core_v1.Taint(
    key="node.kubernetes.io/unschedulable", effect="NoSchedule"
)

_ENCODE = Codec().encode


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The result of a scheduling cycle that has found a node for the Pod."""

    node: str


@dataclass(frozen=True, slots=True)
class FitError:
    """The reason why a Pod fits on no node.

    The condition and the event of the Pod contain ``message``.
    """

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedPodInfo:
    """A Pod that needs a node, and the data that determines on which nodes it fits.

    Pods with the same ``signature`` fit on the same nodes.
    """

    pod: core_v1.Pod
    requested: Amounts
    ports: tuple[HostPort, ...]
    signature: bytes
    has_pod_constraints: bool

    @property
    def priority(self) -> int:
        """Return the priority of the Pod; the queue pops the highest priority first."""
        return (self.pod.spec.priority if self.pod.spec is not None else None) or 0


def has_pod_constraints(spec: core_v1.PodSpec) -> bool:
    """Return whether ``spec`` contains constraints that depend on other Pods."""
    affinity = spec.affinity
    return bool(spec.topology_spread_constraints) or (
        affinity is not None
        and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
    )


def queued_pod_info(pod: core_v1.Pod) -> QueuedPodInfo:
    """Return ``pod`` with the data that determines on which nodes it fits."""
    spec = pod.spec or core_v1.PodSpec(containers=())
    requested, ports = resource_requests(spec), host_ports(spec)
    is_constrained = has_pod_constraints(spec)
    # All that decides where it fits. Labels and namespace matter only with constraints on other
    # Pods; the scheduler adds them where other Pods have anti-affinity.
    parts = (
        sorted(requested.items()),
        ports,
        sorted((spec.node_selector or {}).items()),
        _encoded(spec.affinity),
        [_encoded(each) for each in spec.tolerations or ()],
        [_encoded(each) for each in spec.topology_spread_constraints or ()],
        spec.preemption_policy,
        (pod.namespace, sorted(pod.labels.items())) if is_constrained else None,
    )
    return QueuedPodInfo(
        pod=pod,
        requested=requested,
        ports=ports,
        signature=msgspec.json.encode(parts),
        has_pod_constraints=is_constrained,
    )


def schedule_pod(
    queued: QueuedPodInfo, cache: SchedulerCache, *, labels_of: LabelsOf
) -> ScheduleResult | FitError:
    """Return the selected node for the Pod ``queued``, or the reason why it fits on no node.

    ``labels_of`` returns the labels of a namespace.
    """
    node_infos = cache.node_infos
    if not node_infos:
        return FitError(NO_NODES)
    pod, spec = queued.pod, queued.pod.spec
    named = _named_nodes(spec) if spec is not None else None
    candidates = (
        node_infos if named is None else [r for r in map(cache.node_info, named) if r is not None]
    )
    has_constraints = queued.has_pod_constraints or cache.has_anti_affinity
    pod_plugins = _PodPlugins(pod, cache, labels_of) if has_constraints else None
    feasible: list[NodeInfo] = []
    diagnosis = _Diagnosis(len(node_infos))
    for node_info in candidates:
        reasons, is_resolvable = _filter(queued, node_info, pod_plugins)
        if reasons:
            diagnosis.add(reasons, is_resolvable)
        else:
            feasible.append(node_info)
    if feasible:
        return ScheduleResult(_select_host(queued, feasible, pod_plugins))
    diagnosis.add_absent(len(node_infos) - len(candidates))
    return FitError(diagnosis.message(spec))


def static_reason(pod: core_v1.Pod, node: core_v1.Node) -> str | None:
    """Return why ``pod`` cannot run on ``node`` regardless of the Pods that run on the node.

    Return ``None`` if there is no such reason.
    """
    spec = pod.spec
    if spec is None:
        return NOT_SELECTED
    tolerations = spec.tolerations
    is_cordoned = node.spec is not None and node.spec.unschedulable
    if is_cordoned and not any(tolerates(each, UNSCHEDULABLE_TAINT) for each in tolerations or ()):
        return CORDONED
    if spec.node_name and spec.node_name != node.name:
        return OTHER_NAME
    if untolerated_taint(node, tolerations) is not None:
        return TAINTED
    if not matches_node(spec, node):
        return NOT_SELECTED
    return None


def _filter(
    queued: QueuedPodInfo, node_info: NodeInfo, pod_plugins: "_PodPlugins | None"
) -> tuple[Iterable[str], bool]:
    """Return why a node does not fit, and whether removing Pods from the node could help."""
    node = node_info.node
    reason = static_reason(queued.pod, node)
    if reason is not None:
        return (reason,), False
    if queued.ports and any(
        ports_conflict(ours, theirs)
        for ours in queued.ports
        for taken in node_info.ports.values()
        for theirs in taken
    ):
        return (PORTS_TAKEN,), True
    short = insufficient_resources(
        queued.requested,
        requested=node_info.requested,
        allocatable=node_info.allocatable,
        pods=len(node_info.pods),
    )
    if short:
        return short, _fits_empty_node(queued.requested, node_info.allocatable, short)
    if pod_plugins is not None:
        refused = pod_plugins.filter(node)
        if refused is not None:
            return (refused[0],), refused[1]
    return (), True


class _PodPlugins:
    """The plugins whose results depend on the Pods of all nodes."""

    __slots__ = ("affinity", "spread")

    def __init__(self, pod: core_v1.Pod, cache: SchedulerCache, labels_of: LabelsOf) -> None:
        self.affinity = InterPodAffinity(pod, cache, labels_of)
        self.spread = PodTopologySpread(pod, cache)

    def filter(self, node: core_v1.Node) -> tuple[str, bool] | None:
        return self.spread.filter(node) or self.affinity.filter(node)


def _fits_empty_node(requested: Amounts, allocatable: Amounts, short: Iterable[str]) -> bool:
    """Return whether the Pod would fit on the node if no Pods were on it."""
    return all(
        reason == TOO_MANY_PODS or requested[name] <= allocatable.get(name, 0)
        for reason in short
        for name in (reason.removeprefix("Insufficient "),)
    )


class _Diagnosis:
    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._reasons: dict[str, int] = {}
        self._resolvable = 0

    def add(self, reasons: Iterable[str], is_resolvable: bool) -> None:
        for reason in reasons:
            self._reasons[reason] = self._reasons.get(reason, 0) + 1
        self._resolvable += is_resolvable

    def add_absent(self, nodes: int) -> None:
        if nodes:
            self._reasons[NOT_NAMED] = nodes

    def message(self, spec: core_v1.PodSpec | None) -> str:
        reasons = _reasons_message(self._reasons, self._nodes)
        return f"{reasons} {_preemption_message(spec, self._nodes, self._resolvable)}"


def unschedulable(pod: core_v1.Pod, cache: SchedulerCache, reason: str) -> FitError:
    """Return the error for a Pod that would fit on no node at all, because of ``reason``."""
    nodes = len(cache.node_infos)
    if not nodes:
        return FitError(NO_NODES)
    return FitError(
        f"0/{nodes} nodes are available: {reason}. {_preemption_message(pod.spec, nodes, 0)}"
    )


def _preemption_message(spec: core_v1.PodSpec | None, nodes: int, resolvable: int) -> str:
    """Return the part of a message that describes preemption."""
    if spec is not None and spec.preemption_policy == "Never":
        return "preemption: not eligible due to preemptionPolicy=Never."
    reasons = {NO_VICTIMS: resolvable, NO_HELP: nodes - resolvable}
    return f"preemption: {_reasons_message(reasons, nodes)}"


def _reasons_message(reasons: Mapping[str, int], nodes: int) -> str:
    counted = sorted(f"{count} {reason}" for reason, count in reasons.items() if count)
    return f"0/{nodes} nodes are available: {', '.join(counted)}."


# Scores


def _select_host(
    queued: QueuedPodInfo, node_infos: list[NodeInfo], pod_plugins: _PodPlugins | None
) -> str:
    spec = queued.pod.spec
    if len(node_infos) == 1 or spec is None:
        return node_infos[0].node.name
    owner, affinity = owner_of(queued.pod), spec.affinity
    cpu = queued.requested.get("cpu", 0) or DEFAULT_REQUESTS["cpu"]
    memory = queued.requested.get("memory", 0) or DEFAULT_REQUESTS["memory"]
    scores = [_least_allocated_score(node_info, cpu, memory) for node_info in node_infos]
    if affinity is not None and affinity.node_affinity is not None:
        _add_normalized(
            scores, [preferred_score(spec, node_info.node) for node_info in node_infos], weight=2
        )
    _add_normalized(
        scores,
        [-count_prefer_no_schedule(node_info.node, spec.tolerations) for node_info in node_infos],
        weight=3,
    )
    if owner:
        _add_normalized(
            scores, [-node_info.owners.get(owner, 0) for node_info in node_infos], weight=2
        )
    if pod_plugins is not None:
        _add_normalized(
            scores,
            [pod_plugins.affinity.score(node_info.node) for node_info in node_infos],
            weight=2,
        )
        _add_normalized(
            scores,
            [-pod_plugins.spread.count(node_info.node) for node_info in node_infos],
            weight=2,
        )
    best = max(
        range(len(node_infos)),
        key=lambda index: (scores[index], -len(node_infos[index].pods), -index),
    )
    return node_infos[best].node.name


def _least_allocated_score(node_info: NodeInfo, cpu: int, memory: int) -> int:
    """Return the score of NodeResourcesFit with LeastAllocated.

    The score is the free share of CPU and memory, from 0 to 100. It is computed in integers, as in
    kube-scheduler.
    """
    return (
        _least_requested_score(
            node_info.allocatable.get("cpu", 0), node_info.non_zero_requested["cpu"] + cpu
        )
        + _least_requested_score(
            node_info.allocatable.get("memory", 0), node_info.non_zero_requested["memory"] + memory
        )
    ) // 2


def _least_requested_score(has: int, requested: int) -> int:
    return (has - requested) * 100 // has if has > requested else 0


def _add_normalized(scores: list[int], raw: list[int], *, weight: int) -> None:
    """Add a plugin's scores with its weight, after normalizing them to the range from 0 to 100."""
    least, most = min(raw), max(raw)
    if least == most:
        return
    for index, value in enumerate(raw):
        scores[index] += weight * 100 * (value - least) // (most - least)


def _named_nodes(spec: core_v1.PodSpec) -> list[str] | None:
    """Return the only nodes on which a Pod can run, if the Pod's affinity names them by name.

    Otherwise return ``None``. DaemonSet Pods have such an affinity.
    """
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity is not None
        else None
    )
    if required is None:
        return None
    names: dict[str, None] = {}
    for term in required.node_selector_terms:
        chosen: list[str] | None = None
        for each in term.match_fields or ():
            if each.key == "metadata.name" and each.operator == "In":
                values = each.values or ()
                chosen = [v for v in (values if chosen is None else chosen) if v in values]
        if chosen is None:
            return None
        names.update(dict.fromkeys(chosen))
    return list(names)


def _encoded(part: Part | None) -> str:
    return "" if part is None else _ENCODE(part).decode()
