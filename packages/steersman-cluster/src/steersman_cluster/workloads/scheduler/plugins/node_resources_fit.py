"""NodeResourcesFit: what a Pod requests, and what a node has left. Pure.

Amounts are integers: thousandths of a CPU, bytes of memory, pieces of anything else.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman.units import Quantity

#: An amount of each resource.
Amounts: TypeAlias = Mapping[str, int]

TOO_MANY_PODS: Final = "Too many pods"


def requests(spec: core_v1.PodSpec) -> Amounts:
    """What the Pod asks for: its containers together, or its greediest moment while it starts."""
    running: dict[str, int] = {}
    for container in spec.containers:
        _add(running, _asked(container.resources))
    if spec.init_containers:
        beside: dict[str, int] = {}  # init containers that go on running
        most: dict[str, int] = {}
        for container in spec.init_containers:
            asked = _asked(container.resources)
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
    if spec.resources is not None:  # what is said of the Pod as a whole goes before its parts
        running.update(_asked(spec.resources))
    if spec.overhead:
        _add(running, _amounts(spec.overhead))
    return running


def allocatable(node: core_v1.Node) -> Amounts:
    """What the node has for Pods."""
    status = node.status
    return _amounts(status.allocatable or status.capacity or {}) if status is not None else {}


def insufficient(wanted: Amounts, *, used: Amounts, has: Amounts, pods: int) -> list[str]:
    """Of what there is too little left on a node with so many Pods, as reasons to refuse it."""
    short = [TOO_MANY_PODS] if pods + 1 > has.get("pods", 0) else []
    for name, amount in wanted.items():
        if amount > 0 and amount > has.get(name, 0) - used.get(name, 0):
            short.append(f"Insufficient {name}")
    return short


def _asked(resources: core_v1.ResourceRequirements | None) -> Amounts:
    if resources is None:
        return {}
    if not resources.limits:
        return _amounts(resources.requests) if resources.requests else {}
    # The server fills in what is limited and not asked for; templates have not been there yet.
    return {**_amounts(resources.limits), **_amounts(resources.requests or {})}


def _amounts(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    return {
        name: quantity.milli_value() if name == "cpu" else quantity.as_int()
        for name, quantity in quantities.items()
    }


def _add(total: dict[str, int], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount
