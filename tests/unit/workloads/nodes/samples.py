"""Nodes and Pods, as the server returns them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from steersman.kinds import core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.scheduler.cache import SchedulerCache

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def amounts(given: Mapping[str, str] | None) -> dict[str, Quantity] | None:
    return {name: Quantity(amount) for name, amount in given.items()} if given else None


def container(
    name: str = "app",
    *,
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **rest: Any,
) -> core_v1.Container:
    resources = core_v1.ResourceRequirements(requests=amounts(requests), limits=amounts(limits))
    return core_v1.Container(name=name, image=f"{name}:1", resources=resources, **rest)


def pod(
    name: str = "one",
    *containers: core_v1.Container,
    namespace: str = "here",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: str = "",
    status: core_v1.PodStatus | None = None,
    **spec: Any,
) -> core_v1.Pod:
    owners = None
    if owner:
        reference = meta_v1.OwnerReference(
            api_version="apps/v1", kind="ReplicaSet", name=owner, uid=owner, controller=True
        )
        owners = (reference,)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"uid-of-{name}",
            labels=labels,
            annotations=annotations,
            owner_references=owners,
        ),
        spec=core_v1.PodSpec(containers=containers or (container(),), **spec),
        status=status,
    )


def node(
    name: str = "node-1",
    *,
    labels: Mapping[str, str] | None = None,
    has: Mapping[str, str] | None = None,
    **spec: Any,
) -> core_v1.Node:
    size = amounts({"cpu": "4", "memory": "8Gi", "pods": "10", **(has or {})})
    return core_v1.Node(
        metadata=meta_v1.ObjectMeta(
            name=name, labels={"kubernetes.io/hostname": name, **(labels or {})}
        ),
        spec=core_v1.NodeSpec(**spec),
        status=core_v1.NodeStatus(allocatable=size, capacity=size),
    )


def cache(*nodes: core_v1.Node, **pods: tuple[core_v1.Pod, ...]) -> SchedulerCache:
    """A cache of nodes and the Pods on them: ``node_1=(pod,)``."""
    made = SchedulerCache()
    for each in nodes:
        made.set_node(each)
    for name, bound in pods.items():
        for pod_ in bound:
            made.add_pod(pod_, name.replace("_", "-"))
    return made
