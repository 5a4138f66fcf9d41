"""Evaluators, which compute how much of a quota an object uses. No I/O.

The usage is by the resource names that a quota's ``spec.hard`` contains. The API server's quota
admission uses the same rules.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from steersman.kinds import Resource, core_v1
from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.workloads.quotas.pod_requests import (
    COMPUTED,
    HUGE_PAGES,
    Usage,
    is_native,
    pod_usage,
)

PODS: Final = GroupResource("", "pods")
SERVICES: Final = GroupResource("", "services")
CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
# Resources that have a name of their own in a quota.
_OLD_COUNTS: Final = ("configmaps", "replicationcontrollers", "resourcequotas", "secrets")
# Kubernetes does not count these.
_NOT_COUNTED: Final = (GroupResource("", "events"), GroupResource("events.k8s.io", "events"))

_COUNT: Final = "count/"
_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_ONE: Final = Quantity(1)
_NONE: Final = Quantity(0)


def kind_of_resource(name: str) -> GroupResource | None:
    """Return the kind whose objects use the quota resource ``name``, or ``None`` if none do."""
    if name.startswith(_COUNT):
        resource, _, group = name.removeprefix(_COUNT).partition(".")
        counted = GroupResource(group, resource)
        return None if counted in _NOT_COUNTED else counted
    if name in _OLD_COUNTS:
        return GroupResource("", name)
    if name in ("services", "services.nodeports", "services.loadbalancers"):
        return SERVICES
    if name.rpartition(_OF_CLASS)[2] in ("persistentvolumeclaims", "requests.storage"):
        return CLAIMS
    bare = name.removeprefix("requests.").removeprefix("limits.")
    is_device = name.startswith("requests.") and not is_native(name)
    if name == "pods" or bare in COMPUTED or bare.startswith(HUGE_PAGES) or is_device:
        return PODS
    return None


def usage(resource: GroupResource, obj: Resource, now: datetime) -> Usage:
    """Return how much of each quota resource ``obj`` uses at the time ``now``.

    ``resource`` is the kind of ``obj``.
    """
    counted = {f"{_COUNT}{resource}": _ONE}
    if isinstance(obj, core_v1.Pod):
        return counted | (_pod_usage(obj) if is_charged(obj, now) else {})
    if isinstance(obj, core_v1.Service):
        return counted | _service_usage(obj)
    if isinstance(obj, core_v1.PersistentVolumeClaim):
        return counted | _claim_usage(obj)
    return {**counted, resource.resource: _ONE} if _has_old_count(resource) else counted


def is_charged(pod: core_v1.Pod, now: datetime) -> bool:
    """Return whether ``pod`` counts toward a quota at the time ``now``.

    A Pod that has ended does not count, and neither does a Pod whose deletion is overdue.
    """
    if pod.status is not None and pod.status.phase in ("Failed", "Succeeded"):
        return False
    ends = released_time(pod)
    return ends is None or now <= ends


def released_time(pod: core_v1.Pod) -> datetime | None:
    """Return when ``pod``, if it is being deleted, stops counting even if it still exists.

    Return ``None`` if the Pod is not being deleted, or if its grace period is unknown.
    """
    due, grace_seconds = pod.metadata.deletion_timestamp, pod.metadata.deletion_grace_period_seconds
    if due is None or grace_seconds is None:
        return None
    # Twice its grace period, as in Kubernetes.
    return due + timedelta(seconds=grace_seconds)


def _pod_usage(pod: core_v1.Pod) -> Usage:
    return {"pods": _ONE} if pod.spec is None else {"pods": _ONE, **pod_usage(pod.spec)}


def _service_usage(service: core_v1.Service) -> Usage:
    spec = service.spec or core_v1.ServiceSpec()
    ports = spec.ports or ()
    count = 0
    if spec.type == "LoadBalancer" and spec.allocate_load_balancer_node_ports is False:
        count = sum(1 for port in ports if port.node_port)
    elif spec.type in ("NodePort", "LoadBalancer"):
        count = len(ports)
    return {
        "services": _ONE,
        "services.loadbalancers": _ONE if spec.type == "LoadBalancer" else _NONE,
        "services.nodeports": Quantity(count),
    }


def _claim_usage(claim: core_v1.PersistentVolumeClaim) -> Usage:
    spec = claim.spec or core_v1.PersistentVolumeClaimSpec()
    class_name = claim.annotations.get(_CLASS_ANNOTATION, spec.storage_class_name or "")
    found: Usage = {"persistentvolumeclaims": _ONE}
    asked = _storage(spec.resources.requests if spec.resources is not None else None)
    if asked is not None:
        allocated = _storage(claim.status.allocated_resources if claim.status else None)
        found["requests.storage"] = asked if allocated is None else max(asked, allocated)
    if class_name:
        found |= {f"{class_name}{_OF_CLASS}{name}": each for name, each in found.items()}
    return found


def _storage(amounts: Mapping[str, Quantity] | None) -> Quantity | None:
    return (amounts or {}).get("storage")


def _has_old_count(resource: GroupResource) -> bool:
    return not resource.group and resource.resource in _OLD_COUNTS
