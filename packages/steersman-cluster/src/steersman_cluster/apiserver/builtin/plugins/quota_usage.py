"""The usage of an object in a ResourceQuota, and whether the quota applies to the object."""

from collections.abc import Mapping
from typing import Final

from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    aggregated,
    is_extended,
    is_native,
    quality_of_service,
)
from steersman_cluster.apiserver.meta.strategy import Object

ONE: Final = Quantity(1)
_PODS: Final = GroupResource("", "pods")
_SERVICES: Final = GroupResource("", "services")
_CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
# Resources that are also counted under their own name, not only as count/RESOURCE.
_OLD_COUNTS: Final = frozenset(
    GroupResource("", each)
    for each in ("configmaps", "resourcequotas", "replicationcontrollers", "secrets")
)
_COMPUTED: Final = ("cpu", "memory", "ephemeral-storage")
_REQUIRED: Final = frozenset(
    ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
)
_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_PRIORITY: Final = "PriorityClass"
_ATTRIBUTES: Final = "VolumeAttributesClass"

Usage = dict[str, Quantity]


def is_counted(resource: GroupResource, obj: Object, old: Object | None) -> bool:
    """Return whether a write of ``obj`` in place of ``old`` can change the usage of a quota."""
    if resource in (_SERVICES, _CLAIMS) or old is None:
        return True
    return resource == _PODS and _has_deadline(obj) != _has_deadline(old)


def usage(resource: GroupResource, obj: Object) -> Usage:
    """Return what ``obj`` uses of each resource name that a quota can contain."""
    counted = {f"count/{resource}": ONE}
    if resource in _OLD_COUNTS:
        return {**counted, resource.resource: ONE}
    if resource == _PODS:
        return counted | _pod_usage(obj)
    if resource == _SERVICES:
        return counted | _service_usage(obj)
    return counted | _claim_usage(obj) if resource == _CLAIMS else counted


def _pod_usage(pod: Object) -> Usage:
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return {}
    spec = pod["spec"]
    return {"pods": ONE, **_computed(*(_of_pod(spec, each) for each in ("requests", "limits")))}


def _of_pod(spec: Object, part: str) -> Usage:
    of_all = aggregated(spec, part)
    for name, amount in ((spec.get("resources") or {}).get(part) or {}).items():
        if name in ("cpu", "memory") or name.startswith("hugepages-"):
            of_all[name] = Quantity(amount)
    for name, amount in (spec.get("overhead") or {}).items():
        if part == "requests" or name in of_all:
            of_all[name] = of_all.get(name, Quantity(0)) + Quantity(amount)
    return of_all


def _computed(requests: Usage, limits: Usage) -> Usage:
    found: Usage = {}
    for name in _COMPUTED:
        if name in requests:
            found[name] = found[f"requests.{name}"] = requests[name]
        if name in limits:
            found[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            found[name] = found[f"requests.{name}"] = amount
        elif is_extended(name):
            found[f"requests.{name}"] = amount
    return found


def _service_usage(service: Object) -> Usage:
    spec = service["spec"]
    ports = spec.get("ports") or ()
    kind, count = spec.get("type"), 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        count = sum(1 for port in ports if port.get("nodePort"))
    elif kind in ("NodePort", "LoadBalancer"):
        count = len(ports)
    balancers = Quantity(1 if kind == "LoadBalancer" else 0)
    return {
        "services": ONE,
        "services.loadbalancers": balancers,
        "services.nodeports": Quantity(count),
    }


def _claim_usage(claim: Object) -> Usage:
    spec = claim["spec"]
    annotations = claim["metadata"].get("annotations") or {}
    named = spec.get("storageClassName") or ""
    class_name = annotations.get("volume.beta.kubernetes.io/storage-class", named)
    found: Usage = {"persistentvolumeclaims": ONE}
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        found["requests.storage"] = max(Quantity(asked), Quantity(allocated or "0"))
    if class_name:
        found |= {f"{class_name}{_OF_CLASS}{name}": each for name, each in found.items()}
    return found


def matching(resource: GroupResource, names: Mapping[str, str]) -> list[str]:
    """Return those of ``names``, the resource names in a quota, that ``resource`` can use."""
    return [name for name in names if _may_use(resource, name)]


def _may_use(resource: GroupResource, name: str) -> bool:
    if name == f"count/{resource}":
        return True
    if resource == _PODS:
        bare = name.removeprefix("requests.").removeprefix("limits.")
        is_device = name.startswith("requests.") and not is_native(name)
        return name == "pods" or bare in _COMPUTED or bare.startswith("hugepages-") or is_device
    if resource == _SERVICES:
        return name in ("services", "services.nodeports", "services.loadbalancers")
    if resource == _CLAIMS:
        return name.rpartition(_OF_CLASS)[2] in ("persistentvolumeclaims", "requests.storage")
    return resource in _OLD_COUNTS and name == resource.resource


def missing(resource: GroupResource, obj: Object, names: list[str]) -> str:
    """Return which requests and limits are missing in ``obj``, although a quota limits them.

    ``names`` contains the resource names in the quota. The result is the text for the error; "" if
    nothing is missing.
    """
    if resource != _PODS or (obj["spec"].get("resources") or {}):
        return ""
    wanted = sorted(_REQUIRED & set(names))
    without: dict[str, set[str]] = {}
    for kind in ("containers", "initContainers"):
        for container in obj["spec"].get(kind) or ():
            resources = container.get("resources") or {}
            said = _computed(*(_read(resources.get(each)) for each in ("requests", "limits")))
            for name in wanted:
                if name not in said:
                    without.setdefault(name, set()).add(container.get("name", ""))
    return "; ".join(f"{each} for: {','.join(sorted(without[each]))}" for each in sorted(without))


def _read(amounts: Mapping[str, str] | None) -> Usage:
    return {name: Quantity(amount) for name, amount in (amounts or {}).items()}


def is_in_scope(resource: GroupResource, obj: Object, quota: Object) -> bool:
    """Return whether the object is in every scope of ``quota``."""
    spec = quota.get("spec") or {}
    rules = [{"scopeName": each, "operator": "Exists"} for each in spec.get("scopes") or ()]
    rules += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(_is_in(resource, obj, rule) for rule in rules)


def _is_in(resource: GroupResource, obj: Object, rule: Object) -> bool:
    scope = rule["scopeName"]
    if resource == _CLAIMS and scope == _ATTRIBUTES:
        names = (
            obj["spec"].get("volumeAttributesClassName"),
            (obj.get("status") or {}).get("currentVolumeAttributesClassName"),
        )
        found = [each for each in names if each]
        return any(_fulfils(rule, each) for each in found) if found else _fulfils(rule, "")
    if resource != _PODS:
        return False
    match scope:
        case "Terminating":
            return _has_deadline(obj)
        case "NotTerminating":
            return not _has_deadline(obj)
        case "BestEffort":
            return quality_of_service(obj["spec"]) == "BestEffort"
        case "NotBestEffort":
            return quality_of_service(obj["spec"]) != "BestEffort"
        case "CrossNamespacePodAffinity":
            return _looks_elsewhere(obj["spec"])
        case "PriorityClass":
            return _fulfils(rule, obj["spec"].get("priorityClassName") or "")
        case _:
            return False


def _fulfils(rule: Object, value: str) -> bool:
    values = rule.get("values") or ()
    match rule.get("operator"):
        case "In":
            return bool(value) and value in values
        case "NotIn":
            return not value or value not in values
        case "Exists":
            return bool(value)
        case _:
            return not value


def _has_deadline(pod: Object) -> bool:
    return (pod["spec"].get("activeDeadlineSeconds") or -1) >= 0


def _looks_elsewhere(spec: Object) -> bool:
    """Return whether the Pod affinity in ``spec`` depends on Pods of other namespaces."""
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        required = terms.get("requiredDuringSchedulingIgnoredDuringExecution") or []
        preferred = terms.get("preferredDuringSchedulingIgnoredDuringExecution") or []
        for term in (*required, *(each.get("podAffinityTerm") or {} for each in preferred)):
            if term.get("namespaces") or term.get("namespaceSelector") is not None:
                return True
    return False
