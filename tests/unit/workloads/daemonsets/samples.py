"""Nodes and the Pods of DaemonSets, as the server returns them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.units import IntOrString
from steersman_cluster.workloads.daemonsets.node_fit import Fit
from steersman_cluster.workloads.daemonsets.template_version import HASH_LABEL, Version
from tests.unit.workloads.pods.samples import ago, pod

NEW = Version(hash="new", generation=None)

YES, NO, STAY = Fit(True, True), Fit(False, False), Fit(False, True)


def node(
    name: str = "node-1",
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[tuple[str, str]] = (),
) -> core_v1.Node:
    """Return a node with these labels, and taints with these keys and effects."""
    return core_v1.Node(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.NodeSpec(
            taints=tuple(core_v1.Taint(key=key, effect=effect) for key, effect in taints) or None
        ),
    )


def spec(**rest: Any) -> core_v1.PodSpec:
    """The Pod spec of a daemon; ``rest`` are further fields."""
    return core_v1.PodSpec(containers=(core_v1.Container(name="main", image="main"),), **rest)


def daemon(
    name: str,
    node: str | None = "node-1",
    *,
    hash: str = "new",
    ready: bool = True,
    since: datetime | None = None,
    **rest: Any,
) -> core_v1.Pod:
    """A Pod of a DaemonSet, available by default."""
    return pod(
        name,
        labels={"app": "agent", HASH_LABEL: hash},
        node=node,
        ready=(since or ago(600)) if ready else None,
        **rest,
    )


def rolling(
    unavailable: IntOrString | None = 1, surge: IntOrString | None = 0
) -> apps_v1.DaemonSetUpdateStrategy:
    """A rolling update."""
    return apps_v1.DaemonSetUpdateStrategy(
        type="RollingUpdate",
        rolling_update=apps_v1.RollingUpdateDaemonSet(max_unavailable=unavailable, max_surge=surge),
    )


def on(*pods: core_v1.Pod) -> dict[str, list[core_v1.Pod]]:
    """The Pods by node."""
    placed: dict[str, list[core_v1.Pod]] = {}
    for each in pods:
        assert each.spec is not None
        placed.setdefault(each.spec.node_name or "", []).append(each)
    return placed
