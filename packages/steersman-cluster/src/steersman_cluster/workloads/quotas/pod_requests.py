"""The requests and limits of a Pod, as quotas count them. No I/O.

They are the sum over the Pod's containers, or more if an init container needs more. The API server
computes them the same way when it charges a quota.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from steersman.kinds import core_v1
from steersman.units import Quantity

Usage: TypeAlias = dict[str, Quantity]
Part: TypeAlias = Literal["requests", "limits"]

COMPUTED: Final = ("cpu", "memory", "ephemeral-storage")
HUGE_PAGES: Final = "hugepages-"

_ZERO: Final = Quantity(0)


def is_native(name: str) -> bool:
    """Return whether the resource ``name`` is built into Kubernetes."""
    return "/" not in name or "kubernetes.io/" in name


def pod_usage(spec: core_v1.PodSpec) -> Usage:
    """Return the requests and limits of a Pod with ``spec``, by the resource names of quotas."""
    requests, limits = _of_pod(spec, "requests"), _of_pod(spec, "limits")
    found: Usage = {}
    for name in COMPUTED:
        if name in requests:
            found[name] = found[f"requests.{name}"] = requests[name]
        if name in limits:
            found[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES):
            found[name] = found[f"requests.{name}"] = amount
        elif not is_native(name) and not name.startswith("requests."):
            found[f"requests.{name}"] = amount
    return found


def is_best_effort(spec: core_v1.PodSpec) -> bool:
    """Return whether the QoS class of a Pod with ``spec`` is BestEffort.

    This is the case if there are no requests or limits for CPU or memory. If ``spec`` contains
    resources of the Pod as a whole, only these count, otherwise those of all containers.
    """
    if spec.resources is not None:
        parts: Iterable[core_v1.ResourceRequirements | None] = (spec.resources,)
    else:
        every = (*spec.containers, *(spec.init_containers or ()))
        parts = [each.resources for each in every]
    return not any(
        amount > _ZERO
        for resources in parts
        if resources is not None
        for amounts in (resources.requests, resources.limits)
        for name, amount in (amounts or {}).items()
        if name in ("cpu", "memory")
    )


def _of_pod(spec: core_v1.PodSpec, part: Part) -> Usage:
    total = _of_containers(spec, part)
    for name, amount in _amounts(spec.resources, part).items():
        if name in ("cpu", "memory") or name.startswith(HUGE_PAGES):
            total[name] = amount
    for name, amount in (spec.overhead or {}).items():
        if part == "requests" or name in total:
            total[name] = total.get(name, _ZERO) + amount
    return total


def _of_containers(spec: core_v1.PodSpec, part: Part) -> Usage:
    total: Usage = {}
    for container in spec.containers:
        _add(total, _amounts(container.resources, part))
    beside: Usage = {}  # by sidecars that were started before
    most: Usage = {}
    for container in spec.init_containers or ():
        own = dict(_amounts(container.resources, part))
        if container.restart_policy == "Always":
            _add(total, own)
            _add(beside, own)
            own = dict(beside)
        else:
            _add(own, beside)
        _raise(most, own)
    _raise(total, most)
    return total


def _amounts(resources: core_v1.ResourceRequirements | None, part: Part) -> Mapping[str, Quantity]:
    if resources is None:
        return {}
    return (resources.requests if part == "requests" else resources.limits) or {}


def _add(total: Usage, amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def _raise(least: Usage, amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        if name not in least or amount > least[name]:
            least[name] = amount
