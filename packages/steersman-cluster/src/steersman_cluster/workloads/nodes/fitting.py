"""Whether a Pod may and can run on a node: selectors, affinity, taints, resources, ports. Pure.

Amounts are whole numbers: thousandths of cpu, bytes of memory, pieces of anything else. The words
in which a node is refused are those of the Kubernetes scheduler.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from steersman.kinds import core_v1
from steersman.units import Quantity

#: So much of each resource.
Amounts: TypeAlias = Mapping[str, int]

#: Effects of a taint that keep new Pods away.
REPELLING: Final = ("NoSchedule", "NoExecute")
#: The one that drives away those that are there.
EVICTING: Final = ("NoExecute",)

UNSCHEDULABLE_TAINT: Final = core_v1.Taint(
    key="node.kubernetes.io/unschedulable", effect="NoSchedule"
)

CORDONED: Final = "node(s) were unschedulable"
OTHER_NAME: Final = "node(s) didn't match the requested node name"
TAINTED: Final = "node(s) had untolerated taint(s)"
NOT_SELECTED: Final = "node(s) didn't match Pod's node affinity/selector"
PORTS_TAKEN: Final = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY_PODS: Final = "Too many pods"

_ANY_ADDRESS: Final = ("", "0.0.0.0")  # noqa: S104 - nobody listens here


# Where it wants to be


def matches_node(spec: core_v1.PodSpec, node: core_v1.Node) -> bool:
    """Whether the Pod's node selector and its required node affinity allow this node."""
    labels = node.labels
    wanted = spec.node_selector
    if wanted and any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None:
        return True
    required = affinity.required_during_scheduling_ignored_during_execution
    return required is None or any(
        matches_term(term, node) for term in required.node_selector_terms
    )


def matches_term(term: core_v1.NodeSelectorTerm, node: core_v1.Node) -> bool:
    """Whether all that one term asks is true of the node; a term that asks nothing never is."""
    expressions, fields = term.match_expressions or (), term.match_fields or ()
    if not expressions and not fields:
        return False
    labels = node.labels
    return all(_holds(each, labels.get(each.key)) for each in expressions) and all(
        # The name is the only field that can be asked for.
        _holds(each, node.name if each.key == "metadata.name" else None)
        for each in fields
    )


def preference(spec: core_v1.PodSpec, node: core_v1.Node) -> int:
    """The weights of all the preferred node affinity terms that hold for this node."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None:
        return 0
    return sum(
        each.weight
        for each in affinity.preferred_during_scheduling_ignored_during_execution or ()
        if matches_term(each.preference, node)
    )


def _holds(wanted: core_v1.NodeSelectorRequirement, value: str | None) -> bool:
    match wanted.operator:
        case "In":
            return value is not None and value in (wanted.values or ())
        case "NotIn":
            return value is None or value not in (wanted.values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            have, limit = _number(value), _number((wanted.values or ("",))[0])
            if have is None or limit is None:
                return False
            return have > limit if wanted.operator == "Gt" else have < limit
        case _:
            return False


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


# What it bears


def tolerates(toleration: core_v1.Toleration, taint: core_v1.Taint) -> bool:
    """Whether this toleration is for this taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator or "Equal":
        case "Equal":
            return (toleration.value or "") == (taint.value or "")
        case "Exists":
            return True
        case "Gt" | "Lt":
            theirs, ours = _number(taint.value), _number(toleration.value)
            if theirs is None or ours is None:
                return False
            return theirs > ours if toleration.operator == "Gt" else theirs < ours
        case _:
            return False


def untolerated(
    node: core_v1.Node,
    tolerations: Iterable[core_v1.Toleration] | None,
    *,
    effects: Collection[str] = REPELLING,
) -> core_v1.Taint | None:
    """The first taint of these effects that nothing tolerates; ``None`` if there is none."""
    taints = node.spec.taints if node.spec is not None else None
    if not taints:
        return None
    borne = tuple(tolerations or ())
    for taint in taints:
        if taint.effect in effects and not any(tolerates(each, taint) for each in borne):
            return taint
    return None


def unpreferred(node: core_v1.Node, tolerations: Iterable[core_v1.Toleration] | None) -> int:
    """How many taints of the node would rather not have the Pod."""
    taints = node.spec.taints if node.spec is not None else None
    if not taints:
        return 0
    borne = tuple(tolerations or ())
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(each, taint) for each in borne)
        for taint in taints
    )


# How much it needs


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


# Which ports of the machine it takes


class HostPort(NamedTuple):
    """A port of the node itself."""

    address: str
    protocol: str
    port: int


def host_ports(spec: core_v1.PodSpec) -> tuple[HostPort, ...]:
    """The node's ports that the Pod takes while it runs."""
    beside = [each for each in spec.init_containers or () if each.restart_policy == "Always"]
    found: list[HostPort] = []
    for container in (*beside, *spec.containers):
        for port in container.ports or ():
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                found.append(HostPort(port.host_ip or "", port.protocol or "TCP", number))
    return tuple(found)


def clashes(wanted: HostPort, taken: HostPort) -> bool:
    """Whether two cannot have both."""
    return (
        wanted.port == taken.port
        and wanted.protocol == taken.protocol
        and (
            wanted.address == taken.address
            or wanted.address in _ANY_ADDRESS
            or taken.address in _ANY_ADDRESS
        )
    )


# All of it


def may_run(pod: core_v1.Pod, node: core_v1.Node) -> str | None:
    """Why the Pod may not be on the node, whatever room there is; ``None`` if it may."""
    spec = pod.spec
    if spec is None:
        return NOT_SELECTED
    tolerations = spec.tolerations
    is_cordoned = node.spec is not None and node.spec.unschedulable
    if is_cordoned and not any(tolerates(each, UNSCHEDULABLE_TAINT) for each in tolerations or ()):
        return CORDONED
    if spec.node_name and spec.node_name != node.name:
        return OTHER_NAME
    if untolerated(node, tolerations) is not None:
        return TAINTED
    if not matches_node(spec, node):
        return NOT_SELECTED
    return None
