"""``is_ready``: whether an object has become what its spec says.

Each built-in kind is judged as ``kubectl rollout status`` and its like would: by what its own
controller says in the status, once that has seen the newest spec. A kind that is ready as soon as
it is there, such as a ConfigMap, is; any other kind is ready when it says so itself, in a condition
called ``Ready`` or, without one, ``Available``. What is being deleted never is.
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
    """Whether the object has become what its spec says, as far as its status tells.

    An object whose kind needs a status, and which has none yet, is not ready.
    """
    if isinstance(obj, Unstructured):
        gvk = obj.gvk
    elif isinstance(obj, Resource):
        gvk = obj.resource_type.gvk
    else:
        raise TypeError(
            f"is_ready was asked about an object of {type(obj).__name__}, not of Resource or"
            f" Unstructured. What is not there, or has not been read, cannot be asked about."
        )
    if obj.deletion_time is not None:
        return False
    check = _CHECKS.get((gvk.group, gvk.kind))
    if check is not None:
        return check(obj)
    return (gvk.group, gvk.kind) in _BUILT_IN or _says_so_itself(obj)


def _deployment(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    return (
        _is_seen(obj)
        and _count(obj, "updated_replicas") == wanted
        # More than those that are updated: old ones that have not gone yet.
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        and _count(obj, "available_replicas") >= wanted
    )


def _stateful_set(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    available = _read(obj, "status", "available_replicas")
    return (
        _is_seen(obj)
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        # Older servers do not count these.
        and (available is None or available >= wanted)
        and _is_rolled_out(obj, wanted)
    )


def _is_rolled_out(obj: Object, wanted: int) -> bool:
    strategy = _read(obj, "spec", "update_strategy")
    if _read(strategy, "type") == "OnDelete":
        return True  # a person rolls it out, whenever they like
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
        _is_seen(obj)
        and wanted is not None
        and _count(obj, "current_number_scheduled") >= wanted
        and (by_hand or _count(obj, "updated_number_scheduled") >= wanted)
        and _count(obj, "number_ready") >= wanted
        and _count(obj, "number_available") >= wanted
    )


def _replica_set(obj: Object) -> bool:
    wanted = _wanted_replicas(obj)
    return (
        _is_seen(obj)
        and not _holds(obj, "ReplicaFailure")
        and _count(obj, "replicas") == wanted
        and _count(obj, "ready_replicas") >= wanted
        and _count(obj, "available_replicas") >= wanted
    )


def _pod(obj: Object) -> bool:
    phase = _read(obj, "status", "phase")
    # A Pod that has failed may still have the condition of better days.
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
    return _is_seen(obj) and healthy is not None and wanted is not None and healthy >= wanted


def _autoscaler(obj: Object) -> bool:
    if _condition(obj, "AbleToScale") is not None:
        return _holds(obj, "AbleToScale") and _holds(obj, "ScalingActive")
    # Its first version has no conditions.
    wanted = _count(obj, "desired_replicas")
    return wanted > 0 and _count(obj, "current_replicas") == wanted


def _signing_request(obj: Object) -> bool:
    return _holds(obj, "Approved") and bool(_read(obj, "status", "certificate"))


def _says_so_itself(obj: Object) -> bool:
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


# By group and kind: the versions of a kind that is in here differ in nothing that matters.
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


# Kinds that are there and not above have nothing to wait for.
_BUILT_IN = frozenset(
    (split_api_version(api_version)[0], kind) for api_version, kind in BUILTIN_KINDS
)


def _is_seen(obj: Object) -> bool:
    """Whether its controller has said something, and about the newest spec."""
    return _read(obj, "status") is not None and _count(obj, "observed_generation") >= obj.generation


def _is_current(obj: Object, seen: Any) -> bool:
    # A custom kind need not say what it has seen, and may say it in text.
    return seen is None or not str(seen).isdecimal() or int(seen) >= obj.generation


def _wanted_replicas(obj: Object) -> int:
    replicas = _read(obj, "spec", "replicas")
    return 1 if replicas is None else int(replicas)


def _count(obj: Object, field: str) -> int:
    # The servers leave a zero out.
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
    """What is at the path in a typed object or in JSON, or ``None``."""
    if isinstance(value, Unstructured):
        value = value.body
    for field in path:
        # A dict has methods, which are no fields. What a class is asked about costs more than this.
        if type(value) is dict or isinstance(value, Mapping):
            value = value.get(wire_name(field))
        else:
            value = getattr(value, field, None)
    return value
