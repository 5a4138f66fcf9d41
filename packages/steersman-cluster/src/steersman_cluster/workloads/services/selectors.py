"""Indexes that find the Pods of a Service and the Services of a Pod. No I/O.

A Pod is indexed under each of its labels, a Service under one label of its selector.
"""

from collections.abc import Iterable, Mapping

from steersman.controller import CacheReader, Context
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman.watch import key_of
from steersman_cluster.workloads.pods import is_ready
from steersman_cluster.workloads.services.endpoints import addresses, has_endpoints, is_reachable

Pod = core_v1.Pod
Service = core_v1.Service

#: The index of Pods by namespace and label.
LABEL_INDEX = "label"
#: The index of Pods by the node they run on.
NODE_INDEX = "node"
#: The index of Services by namespace and one label of their selector.
SELECTOR_INDEX = "selector"


def by_label(pod: Pod) -> Iterable[str]:
    """Return the index keys of ``pod``: one for each label, prefixed with the Pod's namespace."""
    namespace = pod.namespace
    return [f"{namespace}/{key}={value}" for key, value in pod.labels.items()]


def by_node(pod: Pod) -> Iterable[str]:
    """Return the index key of ``pod``: the name of its node. A Pod without a node has no key."""
    name = pod.spec.node_name if pod.spec else None
    return (name,) if name else ()


def by_selector(service: Service) -> Iterable[str]:
    """Return the index key of ``service``: one label of its selector, after the namespace.

    A Service without managed endpoints has no key.
    """
    selector = _selector(service)
    if not has_endpoints(service) or not selector:
        return ()
    key = max(selector)
    return (f"{service.namespace}/{key}={selector[key]}",)


def pods_of(service: Service, ctx: Context) -> list[Pod]:
    """Return the cached Pods that ``service`` selects, sorted by name."""
    selector = _selector(service)
    buckets = [
        ctx.by_index(Pod, LABEL_INDEX, f"{service.namespace}/{key}={value}")
        for key, value in selector.items()
    ]
    if not buckets:
        return []
    found = min(buckets, key=len)
    if len(selector) > 1:
        found = [pod for pod in found if _matches(selector, pod.labels)]
    return sorted(found, key=lambda pod: pod.name)


def services_of(pod: Pod, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the cached Services that select ``pod``."""
    labels = pod.labels
    return [
        key_of(service)
        for label in by_label(pod)
        for service in cached.by_index(Service, SELECTOR_INDEX, label)
        if _matches(_selector(service), labels)
    ]


def services_on(node: core_v1.Node, cached: CacheReader) -> list[ObjectKey]:
    """Return the keys of the cached Services that select a Pod on ``node``."""
    return [
        key
        for pod in cached.by_index(Pod, NODE_INDEX, node.name)
        for key in services_of(pod, cached)
    ]


def changes_endpoints(old: Pod | None, new: Pod) -> bool:
    """Return whether the change of a Pod from ``old`` to ``new`` can change endpoints."""
    if old is None:
        return is_reachable(new)
    if not is_reachable(new):
        return is_reachable(old)
    return (
        not is_reachable(old)
        or (old.metadata.deletion_timestamp is None) != (new.metadata.deletion_timestamp is None)
        or old.labels != new.labels
        or is_ready(old) != is_ready(new)
        or addresses(old) != addresses(new)
    )


def _selector(service: Service) -> Mapping[str, str]:
    return (service.spec.selector if service.spec else None) or {}


def _matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())
