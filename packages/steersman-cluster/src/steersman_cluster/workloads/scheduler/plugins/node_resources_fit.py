"""NodeResourcesFit: the requests of a Pod, and the free resources of a node. No I/O.

Quantities are integers: thousandths of a CPU, bytes of memory, units of any other resource.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman.units import Quantity

#: An amount of each resource.
Amounts: TypeAlias = Mapping[str, int]

TOO_MANY_PODS: Final = "Too many pods"


def resource_requests(spec: core_v1.PodSpec) -> Amounts:
    """Return the total resource requests of a Pod with ``spec``.

    They are the sum over the Pod's containers, or more if an init container needs more.
    """
    running: dict[str, int] = {}
    for container in spec.containers:
        _add(running, _container_requests(container.resources))
    if spec.init_containers:
        beside: dict[str, int] = {}  # of sidecar containers
        most: dict[str, int] = {}
        for container in spec.init_containers:
            asked = _container_requests(container.resources)
            if container.restart_policy == "Always":
                _add(beside, asked)
                moment = beside
            else:
                moment = dict(beside)
                _add(moment, asked)
            for name, amount in moment.items():
                most[name] = max(most.get(name, 0), amount)
        _add(running, beside)
        for name, amount in most.items():
            running[name] = max(running.get(name, 0), amount)
    if (
        spec.resources is not None
    ):  # requests of the Pod as a whole win over those of its containers
        running.update(_container_requests(spec.resources))
    if spec.overhead:
        _add(running, _amounts(spec.overhead))
    return running


def allocatable(node: core_v1.Node) -> Amounts:
    """Return the resources of ``node`` that can be allocated to Pods."""
    status = node.status
    return _amounts(status.allocatable or status.capacity or {}) if status is not None else {}


def insufficient_resources(
    wanted: Amounts, *, requested: Amounts, allocatable: Amounts, pods: int
) -> list[str]:
    """Return the reasons why a node has too few free resources for the requests ``wanted``.

    ``requested`` are the requests of the Pods on the node, ``pods`` is the number of these Pods,
    and ``allocatable`` are the node's resources.
    """
    short = [TOO_MANY_PODS] if pods + 1 > allocatable.get("pods", 0) else []
    for name, amount in wanted.items():
        if amount > 0 and amount > allocatable.get(name, 0) - requested.get(name, 0):
            short.append(f"Insufficient {name}")
    return short


def _container_requests(resources: core_v1.ResourceRequirements | None) -> Amounts:
    if resources is None:
        return {}
    if not resources.limits:
        return _amounts(resources.requests) if resources.requests else {}
    # The server defaults requests to limits; a template has not passed the server yet.
    return {**_amounts(resources.limits), **_amounts(resources.requests or {})}


def _amounts(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    return {
        name: quantity.milli_value() if name == "cpu" else quantity.as_int()
        for name, quantity in quantities.items()
    }


def _add(total: dict[str, int], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount
