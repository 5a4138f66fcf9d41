"""The check whether a node fits the Pods of a DaemonSet. No I/O.

This module also contains the affinity that ties a Pod to one node.
"""

from typing import Final, NamedTuple, TypeAlias

from steersman.kinds import apps_v1, core_v1, replace
from steersman_cluster.workloads.scheduler.plugins.node_affinity import matches_node
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import (
    NO_EXECUTE,
    untolerated_taint,
)

DaemonSet: TypeAlias = apps_v1.DaemonSet
Node: TypeAlias = core_v1.Node
Pod: TypeAlias = core_v1.Pod

_NAME_FIELD: Final = "metadata.name"

# Taints that a daemon tolerates: a node's problems neither evict it nor keep it away.
_DAEMON_TOLERATIONS: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK_TOLERATION: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")


class Fit(NamedTuple):
    """Whether a DaemonSet's Pod should run on a node, and whether an existing Pod stays there."""

    should_run: bool
    may_stay: bool


def daemon_spec(template: core_v1.PodTemplateSpec) -> core_v1.PodSpec:
    """Return the spec of ``template``, with the tolerations that every daemon Pod gets."""
    spec = template.spec
    if spec is None:
        raise ValueError("the template of a DaemonSet has no spec; the API server requires one")
    daemon_tolerations = (
        (*_DAEMON_TOLERATIONS, _HOST_NETWORK_TOLERATION)
        if spec.host_network
        else _DAEMON_TOLERATIONS
    )
    tolerations = list(spec.tolerations or ())
    for key, effect in daemon_tolerations:
        wanted = core_v1.Toleration(key=key, operator="Exists", effect=effect)
        for place, each in enumerate(tolerations):
            if replace(each, toleration_seconds=None, value=each.value or None) == wanted:
                tolerations[place] = wanted
                break
        else:
            tolerations.append(wanted)
    return replace(spec, tolerations=tuple(tolerations))


def fit(spec: core_v1.PodSpec, node: Node) -> Fit:
    """Return whether a Pod with ``spec`` should run on ``node``, and whether it may stay there."""
    if spec.node_name and spec.node_name != node.name:
        return Fit(False, False)
    if not matches_node(spec, node):
        return Fit(False, False)
    if untolerated_taint(node, spec.tolerations) is not None:
        return Fit(False, untolerated_taint(node, spec.tolerations, effects=NO_EXECUTE) is None)
    return Fit(True, True)


def on_node(spec: core_v1.PodSpec, node: str) -> core_v1.PodSpec:
    """Return ``spec`` with a required node affinity to the node named ``node``.

    This affinity replaces the required node affinity in ``spec``, which the node has already
    matched.
    """
    selector = core_v1.NodeSelector(
        node_selector_terms=(
            core_v1.NodeSelectorTerm(
                match_fields=(
                    core_v1.NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node,)),
                ),
            ),
        )
    )
    affinity = spec.affinity or core_v1.Affinity()
    # The required terms match this node: else no Pod would be created for it.
    of_node = replace(
        affinity.node_affinity or core_v1.NodeAffinity(),
        required_during_scheduling_ignored_during_execution=selector,
    )
    return replace(spec, affinity=replace(affinity, node_affinity=of_node))


def target_of(pod: Pod) -> str | None:
    """Return the name of the node that ``pod`` is bound to, or else has an affinity to.

    Return ``None`` if the Pod has neither.
    """
    spec = pod.spec
    if spec is None:
        return None
    if spec.node_name:
        return spec.node_name
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity and affinity.required_during_scheduling_ignored_during_execution
    for term in required.node_selector_terms if required else ():
        for each in term.match_fields or ():
            if each.key == _NAME_FIELD and each.operator == "In":
                return each.values[0] if each.values and len(each.values) == 1 else None
    return None
