"""PodTopologySpread: the even distribution of Pods over topology domains. No I/O.

The Pods of each domain are counted once, before the nodes are filtered and scored.
"""

from collections.abc import Mapping
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import selects
from steersman_cluster.workloads.scheduler.cache import SchedulerCache
from steersman_cluster.workloads.scheduler.plugins.node_affinity import matches_node
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import untolerated_taint

NOT_SPREAD: Final = "node(s) didn't match pod topology spread constraints"
NO_LABEL: Final = f"{NOT_SPREAD} (missing required label)"


class PodTopologySpread:
    """The spread constraints of one Pod, with the numbers of cached Pods in each domain."""

    __slots__ = ("_hard", "_soft")

    def __init__(self, pod: core_v1.Pod, cache: SchedulerCache) -> None:
        constraints = (pod.spec.topology_spread_constraints if pod.spec is not None else None) or ()
        self._hard = [
            _Constraint(pod, each, cache)
            for each in constraints
            if each.when_unsatisfiable == "DoNotSchedule"
        ]
        self._soft = [
            _Constraint(pod, each, cache)
            for each in constraints
            if each.when_unsatisfiable != "DoNotSchedule"
        ]

    def filter(self, node: core_v1.Node) -> tuple[str, bool] | None:
        """Return why ``node`` does not fit the Pod, or ``None`` if it fits.

        The second part of the result is whether removing Pods from the node could help.
        """
        labels = node.labels
        for constraint in self._hard:
            reason = constraint.filter(labels)
            if reason is not None:
                return reason, reason != NO_LABEL
        return None

    def count(self, node: core_v1.Node) -> int:
        """Return how many matching Pods are in the topology domains of ``node``.

        The numbers are summed over the soft constraints, which have ``ScheduleAnyway``.
        """
        return sum(each.count(node.labels) for each in self._soft)


class _Constraint:
    __slots__ = ("_counts", "_matches_itself", "_max_skew", "_min_count", "key")

    def __init__(
        self, pod: core_v1.Pod, constraint: core_v1.TopologySpreadConstraint, cache: SchedulerCache
    ) -> None:
        self.key = constraint.topology_key
        self._max_skew = constraint.max_skew
        self._matches_itself = selects(constraint.label_selector, pod.labels)
        counts: dict[str, int] = {}
        domains: dict[str, str] = {}  # of the nodes that are counted
        for node_info in cache.node_infos:
            value = node_info.node.labels.get(self.key)
            if value is not None and _is_counted(pod, constraint, node_info.node):
                domains[node_info.node.name] = value
                counts.setdefault(value, 0)
        home, selector = pod.namespace or "", constraint.label_selector
        for pod_info in cache.pods((home,), selector):
            value = domains.get(pod_info.node)
            if (
                value is not None
                and not pod_info.is_terminating
                and selects(selector, pod_info.labels)
            ):
                counts[value] += 1
        self._counts = counts
        lacks_domains = len(counts) < (constraint.min_domains or 1)
        self._min_count = 0 if lacks_domains or not counts else min(counts.values())

    def count(self, labels: Mapping[str, str]) -> int:
        value = labels.get(self.key)
        return self._counts.get(value, 0) if value is not None else 0

    def filter(self, labels: Mapping[str, str]) -> str | None:
        if self.key not in labels:
            return NO_LABEL
        skew = self.count(labels) + self._matches_itself - self._min_count
        return NOT_SPREAD if skew > self._max_skew else None


def _is_counted(
    pod: core_v1.Pod, constraint: core_v1.TopologySpreadConstraint, node: core_v1.Node
) -> bool:
    """Return whether the Pods of the node count for the constraint."""
    spec = pod.spec
    if spec is None:
        return True
    if (constraint.node_affinity_policy or "Honor") == "Honor" and not matches_node(spec, node):
        return False
    is_honored = (constraint.node_taints_policy or "Ignore") == "Honor"
    return not is_honored or untolerated_taint(node, spec.tolerations) is None
