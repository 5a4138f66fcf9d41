"""``is_ready``: whether an object has the state that its spec describes.

Built-in kinds are checked as ``kubectl rollout status`` does: by the status, once the controller
has observed the latest spec. An object of a kind without a status, such as a ConfigMap, is ready
when it exists. An object of any other kind is ready when its condition ``Ready`` is true; if it has
no such condition, when its condition ``Available`` is true. An object that is being deleted is
never ready.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.kinds.declaration import wire_name
from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured
from steersman.names import split_api_version

Object: TypeAlias = Resource | Unstructured


def is_ready(obj: Object) -> bool:
    """Whether ``obj`` has the state that its spec describes, according to its status.

    An object without a status is not ready, if its kind has a status.
    """
    if isinstance(obj, Unstructured):
        gvk = obj.gvk
    elif isinstance(obj, Resource):
        gvk = obj.resource_type.gvk
    else:
        raise TypeError(
            f"is_ready expects a Resource or Unstructured, got an object of {type(obj).__name__}."
            f" If the object may be missing, check for None first."
        )
    if obj.deletion_time is not None:
        return False
    check = _CHECKS.get((gvk.group, gvk.kind))
    if check is not None:
        return check(obj)
    return (gvk.group, gvk.kind) in _BUILT_IN or _has_ready_condition(obj)


def _deployment(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    return (
        _is_observed(obj)
        and _count(obj, "updated_replicas") == wanted
        # More replicas than updated ones: old ones still exist.
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        and _count(obj, "available_replicas") >= wanted
    )


def _stateful_set(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    available = _read(obj, "status", "available_replicas")
    return (
        _is_observed(obj)
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        # Older servers do not have this field.
        and (available is None or available >= wanted)
        and _is_rolled_out(obj, wanted)
    )


def _is_rolled_out(obj: Object, wanted: int) -> bool:
    strategy = _read(obj, "spec", "update_strategy")
    if _read(strategy, "type") == "OnDelete":
        return True  # Pods are updated when a user deletes them
    # Pods with a lower number keep the revision they have.
    partition = _read(strategy, "rolling_update", "partition") or 0
    if partition:
        return _count(obj, "updated_replicas") >= wanted - partition
    current, update = (_read(obj, "status", f"{which}_revision") for which in ("current", "update"))
    return bool(current == update and _count(obj, "updated_replicas") >= wanted)


def _daemon_set(obj: Object) -> bool:
    wanted = _read(obj, "status", "desired_number_scheduled")
    by_hand = _read(obj, "spec", "update_strategy", "type") == "OnDelete"
    return (
        _is_observed(obj)
        and wanted is not None
        and _count(obj, "current_number_scheduled") >= wanted
        and (by_hand or _count(obj, "updated_number_scheduled") >= wanted)
        and _count(obj, "number_ready") >= wanted
        and _count(obj, "number_available") >= wanted
    )


def _replica_set(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    return (
        _is_observed(obj)
        and not _holds(obj, "ReplicaFailure")
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        and _count(obj, "available_replicas") >= wanted
    )


def _pod(obj: Object) -> bool:
    phase = _read(obj, "status", "phase")
    # A failed Pod may still have its old condition.
    return phase == "Succeeded" or (phase != "Failed" and _holds(obj, "Ready"))


def _service(obj: Object) -> bool:
    if _read(obj, "spec", "type") != "LoadBalancer":
        return _read(obj, "spec") is not None
    return bool(_read(obj, "status", "load_balancer", "ingress"))


def _definition(obj: Object) -> bool:
    return _holds(obj, "Established") and _holds(obj, "NamesAccepted")


def _disruption_budget(obj: Object) -> bool:
    healthy, wanted = (
        _read(obj, "status", which) for which in ("current_healthy", "desired_healthy")
    )
    return _is_observed(obj) and healthy is not None and wanted is not None and healthy >= wanted


def _autoscaler(obj: Object) -> bool:
    if _condition(obj, "AbleToScale") is not None:
        return _holds(obj, "AbleToScale") and _holds(obj, "ScalingActive")
    # autoscaling/v1 has no conditions.
    wanted = _count(obj, "desired_replicas")
    return wanted > 0 and _count(obj, "current_replicas") == wanted


def _signing_request(obj: Object) -> bool:
    return _holds(obj, "Approved") and bool(_read(obj, "status", "certificate"))


def _has_ready_condition(obj: Object) -> bool:
    seen = _read(obj, "status", "observed_generation")
    if not _is_current(obj, seen) or _holds(obj, "Reconciling") or _holds(obj, "Stalled"):
        return False
    for type in ("Ready", "Available"):
        condition = _condition(obj, type)
        if condition is not None:
            seen = _read(condition, "observed_generation")
            return _is_true(condition) and _is_current(obj, seen)
    return False


def _is_in_phase(*phases: str) -> Callable[[Object], bool]:
    return lambda obj: _read(obj, "status", "phase") in phases


def _has_condition(type: str) -> Callable[[Object], bool]:
    return lambda obj: _holds(obj, type)


def _is_attached(obj: Object) -> bool:
    return _read(obj, "status", "attached") is True


# By group and kind: the versions of these kinds do not differ in these fields.
_CHECKS: Mapping[tuple[str, str], Callable[[Object], bool]] = MappingProxyType(
    {
        ("", "Namespace"): _is_in_phase("Active"),
        ("", "Node"): _has_condition("Ready"),
        ("", "PersistentVolume"): _is_in_phase("Available", "Bound"),
        ("", "PersistentVolumeClaim"): _is_in_phase("Bound"),
        ("", "Pod"): _pod,
        ("", "ReplicationController"): _replica_set,
        ("", "Service"): _service,
        ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
        ("apiregistration.k8s.io", "APIService"): _has_condition("Available"),
        ("apps", "DaemonSet"): _daemon_set,
        ("apps", "Deployment"): _deployment,
        ("apps", "ReplicaSet"): _replica_set,
        ("apps", "StatefulSet"): _stateful_set,
        ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
        ("batch", "Job"): _has_condition("Complete"),
        ("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
        ("networking.k8s.io", "ServiceCIDR"): _has_condition("Ready"),
        ("policy", "PodDisruptionBudget"): _disruption_budget,
        ("storage.k8s.io", "VolumeAttachment"): _is_attached,
    }
)


# Built-in kinds without a check have nothing to wait for.
_BUILT_IN = frozenset(
    (split_api_version(api_version)[0], kind) for api_version, kind in BUILTIN_KINDS
)


def _is_observed(obj: Object) -> bool:
    """Whether the controller has written a status for the latest spec of the object."""
    return _read(obj, "status") is not None and _count(obj, "observed_generation") >= obj.generation


def _is_current(obj: Object, seen: Any) -> bool:
    # A custom kind may lack the field, or have it as a string.
    return seen is None or not str(seen).isdecimal() or int(seen) >= obj.generation


def _wanted_replicas(obj: Object) -> int:
    replicas = _read(obj, "spec", "replicas")
    return 1 if replicas is None else int(replicas)


def _count(obj: Object, field: str) -> int:
    # Servers omit a zero.
    return _read(obj, "status", field) or 0


def _holds(obj: Object, type: str) -> bool:
    condition = _condition(obj, type)
    return condition is not None and _is_true(condition)


def _is_true(condition: Any) -> bool:
    return bool(_read(condition, "status") == "True")


def _condition(obj: Object, type: str) -> Any:
    conditions = _read(obj, "status", "conditions")
    for condition in conditions if isinstance(conditions, tuple | list) else ():
        if _read(condition, "type") == type:
            return condition
    return None


def _read(value: Any, *path: str) -> Any:
    """Return the value at ``path`` in a typed object or in JSON; ``None`` if there is no value."""
    if isinstance(value, Unstructured):
        value = value.body
    for field in path:
        # getattr would find a dict's methods. Comparing the type is faster than isinstance.
        if type(value) is dict or isinstance(value, Mapping):
            value = value.get(wire_name(field))
        else:
            value = getattr(value, field, None)
    return value
