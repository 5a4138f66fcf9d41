"""The scheduler's cache: the nodes, their Pods, and the free resources of each node.

The scheduler updates the cache with each change of a Pod or a node. No operation on the cache
processes more than one node or one namespace.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.pods import selector_index_key
from steersman_cluster.workloads.scheduler.plugins.node_ports import HostPort, host_ports
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import (
    Amounts,
    allocatable,
    resource_requests,
)

# What kube-scheduler counts for a Pod without requests when it scores nodes.
DEFAULT_REQUESTS: Final[Amounts] = {"cpu": 100, "memory": 200 * 1024 * 1024}

Terms = tuple[core_v1.PodAffinityTerm, ...]


class PodInfo(NamedTuple):
    """The data that the scheduler needs about a Pod on a node."""

    uid: str
    namespace: str
    labels: Mapping[str, str]
    node: str
    requested: Amounts
    ports: tuple[HostPort, ...]
    owner: str
    required_anti_affinity_terms: Terms
    is_terminating: bool


class NodeInfo:
    """A node name, the Node object with this name, if it exists, and the Pods on the node.

    The Node object may not exist, because a Pod can be bound to any node name.
    """

    __slots__ = (
        "allocatable",
        "is_known",
        "node",
        "non_zero_requested",
        "owners",
        "pods",
        "ports",
        "requested",
    )

    def __init__(self) -> None:
        self.is_known = False
        self.node = core_v1.Node()
        self.allocatable: Amounts = {}
        self.requested: dict[str, int] = {}
        self.non_zero_requested = dict.fromkeys(DEFAULT_REQUESTS, 0)
        self.pods: dict[str, PodInfo] = {}
        self.ports: dict[str, tuple[HostPort, ...]] = {}
        self.owners: dict[str, int] = {}

    def add(self, pod_info: PodInfo) -> None:
        """Add a Pod to the node."""
        self.pods[pod_info.uid] = pod_info
        self._count(pod_info, 1)
        if pod_info.ports:
            self.ports[pod_info.uid] = pod_info.ports

    def remove(self, pod_info: PodInfo) -> None:
        """Remove the Pod ``pod_info`` from the node."""
        del self.pods[pod_info.uid]
        self._count(pod_info, -1)
        self.ports.pop(pod_info.uid, None)

    def _count(self, pod_info: PodInfo, sign: int) -> None:
        requested = self.requested
        for name, amount in pod_info.requested.items():
            requested[name] = requested.get(name, 0) + sign * amount
        for name, default in DEFAULT_REQUESTS.items():
            self.non_zero_requested[name] += sign * (pod_info.requested.get(name, 0) or default)
        if pod_info.owner:
            left = self.owners.get(pod_info.owner, 0) + sign
            if left:
                self.owners[pod_info.owner] = left
            else:
                del self.owners[pod_info.owner]


class SchedulerCache:
    """A cache of all nodes, and of all Pods on them by node, label and anti-affinity."""

    def __init__(self) -> None:
        self._node_infos: dict[str, NodeInfo] = {}
        self._pods: dict[str, PodInfo] = {}
        # By namespace and label: what a selector matches is under one of its labels.
        self._by_label: dict[str, dict[str, PodInfo]] = {}
        # Pods with anti-affinity, by what it repels; "" stands for any Pod in any namespace.
        self._anti_affinity: dict[str, dict[str, PodInfo]] = {}
        self._known: list[NodeInfo] | None = None

    def __repr__(self) -> str:
        return f"<SchedulerCache {len(self._pods)} Pods on {len(self.node_infos)} nodes>"

    @property
    def node_infos(self) -> list[NodeInfo]:
        """Return all nodes whose Node object exists, sorted by name."""
        if self._known is None:
            found = [node_info for node_info in self._node_infos.values() if node_info.is_known]
            self._known = sorted(found, key=_order)
        return self._known

    @property
    def has_anti_affinity(self) -> bool:
        """Return whether any cached Pod has required anti-affinity."""
        return bool(self._anti_affinity)

    def node_info(self, name: str) -> NodeInfo | None:
        """Return the node ``name``, or ``None`` if no Node object with this name exists."""
        found = self._node_infos.get(name)
        return found if found is not None and found.is_known else None

    def pods(
        self, namespaces: Iterable[str] | None, selector: meta_v1.LabelSelector | None
    ) -> Iterable[PodInfo]:
        """Return the cached Pods in ``namespaces`` that ``selector`` may match.

        If ``namespaces`` is ``None``, return all cached Pods.
        """
        if namespaces is None:
            return self._pods.values()
        keys = (selector_index_key(name, selector) for name in namespaces)
        return (each for key in keys for each in self._by_label.get(key, {}).values())

    def pods_with_anti_affinity(self, pod: core_v1.Pod) -> Iterable[PodInfo]:
        """Return the cached Pods whose required anti-affinity may exclude ``pod`` from a node."""
        found: dict[str, PodInfo] = {}
        for key in ("", *_label_keys(pod.namespace or "", pod.labels)):
            found.update(self._anti_affinity.get(key, {}))
        return found.values()

    def node_of(self, uid: str) -> str | None:
        """Return the name of the node of the Pod with the uid ``uid``.

        Return ``None`` if the Pod is not cached.
        """
        pod_info = self._pods.get(uid)
        return pod_info.node if pod_info is not None else None

    def set_node(self, node: core_v1.Node) -> None:
        """Add or update a node."""
        node_info = self._node_infos.setdefault(node.name, NodeInfo())
        if not node_info.is_known:
            node_info.is_known = True
            self._known = None
        node_info.node = node
        node_info.allocatable = allocatable(node)

    def remove_node(self, name: str) -> None:
        """Remove the Node object ``name``; Pods that are bound to this name stay cached."""
        node_info = self._node_infos.get(name)
        if node_info is not None:
            node_info.is_known = False
            self._known = None
            self._clear(name, node_info)

    def add_pod(self, pod: core_v1.Pod, node: str) -> None:
        """Add ``pod`` to the node named ``node``, or update the cached Pod."""
        pod_info = _pod_info(pod, node)
        before = self._pods.get(pod_info.uid)
        if before == pod_info:
            return
        if before is not None:
            self.remove_pod(pod_info.uid)
        self._pods[pod_info.uid] = pod_info
        for key in _label_keys(pod_info.namespace, pod_info.labels):
            self._by_label.setdefault(key, {})[pod_info.uid] = pod_info
        for key in _anti_affinity_keys(pod_info):
            self._anti_affinity.setdefault(key, {})[pod_info.uid] = pod_info
        self._node_infos.setdefault(node, NodeInfo()).add(pod_info)

    def remove_pod(self, uid: str) -> None:
        """Remove a Pod."""
        pod_info = self._pods.pop(uid, None)
        if pod_info is None:
            return
        for key in _label_keys(pod_info.namespace, pod_info.labels):
            _discard(self._by_label, key, uid)
        for key in _anti_affinity_keys(pod_info):
            _discard(self._anti_affinity, key, uid)
        node_info = self._node_infos[pod_info.node]
        node_info.remove(pod_info)
        self._clear(pod_info.node, node_info)

    def _clear(self, name: str, node_info: NodeInfo) -> None:
        if not node_info.is_known and not node_info.pods:
            del self._node_infos[name]


def _label_keys(namespace: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the index keys of a Pod: one for the namespace, and one for each label, prefixed with
    the namespace.
    """
    return (f"{namespace}/", *(f"{namespace}/{key}={value}" for key, value in labels.items()))


def _anti_affinity_keys(pod_info: PodInfo) -> list[str]:
    """Return the index keys that find the Pods which this Pod's anti-affinity may repel."""
    keys: dict[str, None] = {}
    for term in pod_info.required_anti_affinity_terms:
        is_wide = term.namespaces or term.namespace_selector is not None
        keys["" if is_wide else selector_index_key(pod_info.namespace, term.label_selector)] = None
    return list(keys)


def _discard(index: dict[str, dict[str, PodInfo]], key: str, uid: str) -> None:
    found = index.get(key)
    if found is not None:
        found.pop(uid, None)
        if not found:
            del index[key]


def owner_of(pod: core_v1.Pod) -> str:
    """Return the uid of the controller of ``pod``, or ``""`` if it has no controller."""
    for each in pod.metadata.owner_references or ():
        if each.controller:
            return each.uid
    return ""


def _order(node_info: NodeInfo) -> tuple[int, str]:
    # node-2 before node-10.
    return len(node_info.node.name), node_info.node.name


def _pod_info(pod: core_v1.Pod, node: str) -> PodInfo:
    spec = pod.spec or core_v1.PodSpec(containers=())
    keeping = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    required_anti_affinity_terms = (
        keeping.required_during_scheduling_ignored_during_execution if keeping is not None else None
    )
    return PodInfo(
        uid=pod.uid,
        namespace=pod.namespace or "",
        labels=pod.labels,
        node=node,
        requested=resource_requests(spec),
        ports=host_ports(spec),
        owner=owner_of(pod),
        required_anti_affinity_terms=required_anti_affinity_terms or (),
        is_terminating=pod.metadata.deletion_timestamp is not None,
    )
