"""The distribution of endpoints over slices, with as few writes as possible. No I/O.

Endpoints with the same ports share slices. An existing endpoint stays in its slice. A new endpoint
is preferably added to a slice that is written anyway, then to a slice with free capacity, and then
to a new slice. If one slice would be deleted and another created, the existing slice is updated
instead. A Service without endpoints has one empty slice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from steersman.kinds import core_v1, discovery_v1
from steersman_cluster.workloads.services.endpoints import (
    NodeOf,
    address_types,
    endpoint_of,
    is_reachable,
    labels_of,
    port_number,
    publishes_all,
    without_reserved,
)
from steersman_cluster.workloads.services.port_order import in_order

Slice = discovery_v1.EndpointSlice
Endpoint = discovery_v1.Endpoint
Ports: TypeAlias = tuple[discovery_v1.EndpointPort, ...]

#: The manager in the label of a slice.
MANAGER: Final = "endpointslice-controller.k8s.io"

#: The maximum for a slice; in kube-controller-manager it is a flag.
MAX_ENDPOINTS: Final = 100

_Identity: TypeAlias = tuple[tuple[str, ...], str | None, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSlice:
    """The content of an EndpointSlice to write.

    ``old`` is the existing slice to update, or ``None`` if a slice has to be created.
    """

    address_type: str
    ports: Ports
    endpoints: tuple[Endpoint, ...]
    old: Slice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicePlan:
    """The EndpointSlices to create, update and delete for one Service.

    ``pods_without_node`` are the Pods that the slices do not include, because their node is
    unknown.
    """

    create: tuple[NewSlice, ...]
    update: tuple[NewSlice, ...]
    delete: tuple[Slice, ...]
    pods_without_node: tuple[core_v1.Pod, ...]


def make_plan(
    service: core_v1.Service,
    pods: Iterable[core_v1.Pod],
    slices: Iterable[Slice],
    *,
    node_of: NodeOf,
) -> SlicePlan:
    """Return the plan that changes ``slices`` to match ``pods``.

    ``slices`` are the existing EndpointSlices of ``service``.
    """
    there = [each for each in slices if each.metadata.deletion_timestamp is None]
    reachable = [each for each in pods if is_reachable(each)]
    pods_with_node, pods_without_node = _split_by_node(service, reachable, node_of)
    wanted = address_types(service)
    changes = _Changes()
    changes.delete += [each for each in there if each.address_type not in wanted]
    for address_type in wanted:
        existing = [each for each in there if each.address_type == address_type]
        part = _of_one_type(service, pods_with_node, existing, address_type)
        changes.create += part.create
        changes.update += part.update
        changes.delete += part.delete
    return SlicePlan(
        create=tuple(changes.create),
        update=tuple(changes.update),
        delete=tuple(changes.delete),
        pods_without_node=tuple(pods_without_node),
    )


@dataclass(slots=True)
class _Changes:
    create: list[NewSlice] = field(default_factory=list)
    update: list[NewSlice] = field(default_factory=list)
    delete: list[Slice] = field(default_factory=list)


_Homed: TypeAlias = tuple[core_v1.Pod, core_v1.Node | None]


def _split_by_node(
    service: core_v1.Service, pods: Sequence[core_v1.Pod], node_of: NodeOf
) -> tuple[list[_Homed], list[core_v1.Pod]]:
    pods_with_node: list[_Homed] = []
    pods_without_node: list[core_v1.Pod] = []
    for pod in pods:
        name = pod.spec.node_name if pod.spec else None
        node = node_of(name) if name else None
        if node is None and not publishes_all(service):
            pods_without_node.append(pod)
        else:
            pods_with_node.append((pod, node))
    return pods_with_node, pods_without_node


def _of_one_type(
    service: core_v1.Service, pods: Sequence[_Homed], existing: Sequence[Slice], address_type: str
) -> _Changes:
    changes = _Changes()
    by_ports: dict[Ports, list[Slice]] = {}
    for each in existing:
        if _is_of(each, service):
            by_ports.setdefault(in_order(each.ports or ()), []).append(each)
        else:
            # It belongs to a deleted Service of the same name, and is being deleted.
            changes.delete.append(each)
    desired: dict[Ports, dict[_Identity, Endpoint]] = {}
    # Nearly all Pods of a Service have the same ports.
    by_numbers: dict[tuple[int | None, ...], dict[_Identity, Endpoint]] = {}
    served = (service.spec.ports if service.spec else None) or ()
    for pod, node in pods:
        numbers = tuple([port_number(pod, each) for each in served])
        wanted = by_numbers.get(numbers)
        if wanted is None:
            wanted = desired.setdefault(_ports(served, numbers), {})
            by_numbers[numbers] = wanted
        endpoint = endpoint_of(pod, node, service, address_type)
        if endpoint is not None:
            wanted[_identity(endpoint)] = endpoint
    labels = without_reserved(service.labels.items())
    for ports, endpoints in desired.items():
        _spread(endpoints, ports, by_ports.pop(ports, []), address_type, labels, changes)
    for rest in by_ports.values():
        changes.delete += rest
    if len(changes.delete) == len(existing) and not changes.create:
        kept = next((each for each in existing if _is_placeholder(each, service)), None)
        if kept is not None:
            changes.delete.remove(kept)
        else:
            changes.create.append(NewSlice(address_type=address_type, ports=(), endpoints=()))
    _recycle(service, changes)
    return changes


def _spread(
    desired: dict[_Identity, Endpoint],
    ports: Ports,
    existing: Sequence[Slice],
    address_type: str,
    labels: dict[str, str],
    changes: _Changes,
) -> None:
    kept: list[tuple[Slice, list[Endpoint]]] = []
    changed: list[tuple[Slice, list[Endpoint]]] = []
    for each in existing:
        before = each.endpoints or ()
        now = [found for found in (desired.pop(_identity(e), None) for e in before) if found]
        is_same = len(now) == len(before) and all(map(_is_same, now, before))
        if not now and before:
            changes.delete.append(each)
        elif is_same and without_reserved(each.labels.items()) == labels:
            kept.append((each, now))
        else:
            changed.append((each, now))
    left = list(desired.values())
    for _, endpoints in sorted(changed, key=lambda each: -len(each[1])):
        left = _fill(endpoints, left)
    while left:
        roomy = _fullest_with_room(kept, len(left))
        if roomy is not None:
            kept.remove(roomy)
            changed.append(roomy)
            left = _fill(roomy[1], left)
        else:
            endpoints = list[Endpoint]()
            left = _fill(endpoints, left)
            changes.create.append(
                NewSlice(address_type=address_type, ports=ports, endpoints=tuple(endpoints))
            )
    changes.update += [
        NewSlice(address_type=address_type, ports=ports, endpoints=tuple(endpoints), old=each)
        for each, endpoints in changed
    ]


def _fill(endpoints: list[Endpoint], left: list[Endpoint]) -> list[Endpoint]:
    room = max(0, MAX_ENDPOINTS - len(endpoints))
    endpoints += left[:room]
    return left[room:]


def _fullest_with_room(
    kept: Sequence[tuple[Slice, list[Endpoint]]], number: int
) -> tuple[Slice, list[Endpoint]] | None:
    """Return the fullest slice that has room for ``number`` more endpoints."""
    if number >= MAX_ENDPOINTS:
        return None
    fitting = [each for each in kept if len(each[1]) + number <= MAX_ENDPOINTS]
    return max(fitting, key=lambda each: len(each[1]), default=None)


def _recycle(service: core_v1.Service, changes: _Changes) -> None:
    """Update slices that would be deleted, instead of creating new slices."""
    for each in list(changes.delete):
        if not changes.create:
            return
        if _is_of(each, service):
            new = changes.create.pop()
            changes.delete.remove(each)
            changes.update.append(
                NewSlice(
                    address_type=new.address_type,
                    ports=new.ports,
                    endpoints=new.endpoints,
                    old=each,
                )
            )


def _ports(served: Sequence[core_v1.ServicePort], numbers: Sequence[int | None]) -> Ports:
    found = [
        discovery_v1.EndpointPort(
            name=port.name or "",
            port=number,
            protocol=port.protocol or "TCP",
            app_protocol=port.app_protocol,
        )
        for port, number in zip(served, numbers, strict=True)
        if number is not None
    ]
    return in_order(tuple(found))


def _is_of(slice: Slice, service: core_v1.Service) -> bool:
    return any(
        each.uid == service.uid and each.kind == "Service"
        for each in slice.metadata.owner_references or ()
    )


def _is_placeholder(slice: Slice, service: core_v1.Service) -> bool:
    return (
        not slice.endpoints
        and not slice.ports
        and _is_of(slice, service)
        and dict(slice.labels) == labels_of(service, MANAGER)
    )


def _identity(endpoint: Endpoint) -> _Identity:
    target, addresses = endpoint.target_ref, endpoint.addresses
    return (
        addresses if len(addresses) < 2 else tuple(sorted(addresses)),
        endpoint.hostname,
        target.namespace if target else None,
        target.name if target else None,
    )


def _is_same(one: Endpoint, other: Endpoint) -> bool:
    mine, theirs = one.target_ref, other.target_ref
    return (
        one.node_name == other.node_name
        and one.zone == other.zone
        and one.conditions == other.conditions
        and (one.hints or None) == (other.hints or None)
        and (mine.uid if mine else None) == (theirs.uid if theirs else None)
    )
