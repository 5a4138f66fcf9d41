"""The endpointslice mirroring controller: it creates slices for user-managed Endpoints.

User-managed Endpoints are not written by the endpoints controller. This controller also deletes the
Endpoints of deleted Services, as kube-controller-manager does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from steersman.client import MergePatch
from steersman.controller import CacheReader, Context, Controller, Done, Outcome, Watch, Writes
from steersman.kinds import core_v1, discovery_v1, meta_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.services import subsets
from steersman_cluster.workloads.services.endpoints import MANAGED_BY, SERVICE_NAME
from steersman_cluster.workloads.services.port_order import in_order

Endpoint = discovery_v1.Endpoint
Endpoints = core_v1.Endpoints
Service = core_v1.Service
Slice = discovery_v1.EndpointSlice

#: The manager in the label of a mirrored slice.
MANAGER: Final = "endpointslicemirroring-controller.k8s.io"
#: The index of mirrored slices by namespace and name of their Endpoints.
MIRROR_INDEX: Final = "mirror"
#: More addresses of one subset than this are not mirrored.
MAX_ADDRESSES: Final = 1000

_SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
_NOT_MIRRORED: Final = (
    "endpoints.kubernetes.io/last-change-trigger-time",
    "kubectl.kubernetes.io/last-applied-configuration",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """The content of one EndpointSlice that mirrors Endpoints."""

    address_type: str
    ports: tuple[discovery_v1.EndpointPort, ...]
    endpoints: tuple[Endpoint, ...]


def mirroring_controller() -> Controller[Endpoints]:
    """Return the endpointslice mirroring controller."""
    return Controller(
        Endpoints,
        name="endpoint-slice-mirroring-controller",
        event_source="endpoint-slice-mirroring-controller",
        reconcile=_reconcile,
        when=_is_by_hand,
        writes=(
            Writes(Slice, verbs=("create", "patch", "delete")),
            Writes(Endpoints, verbs=("delete",)),
        ),
        watches=(
            Watch(Service, to=_without_pods),
            Watch(Slice, to=_mirrored, indexes={MIRROR_INDEX: _by_mirrored}),
        ),
    )


def mirrors(endpoints: Endpoints) -> tuple[Mirror, ...]:
    """Return the content of the slices that mirror ``endpoints``.

    There is one slice for each combination of ports and IP family.
    """
    found: dict[tuple[str, tuple[discovery_v1.EndpointPort, ...]], list[Endpoint]] = {}
    for subset in endpoints.subsets or ():
        ports = in_order(tuple(map(_port, subset.ports or ())))
        both = [(each, True) for each in subset.addresses or ()]
        both += [(each, False) for each in subset.not_ready_addresses or ()]
        for address, ready in both[:MAX_ADDRESSES]:
            address_type = "IPv6" if ":" in address.ip else "IPv4"
            found.setdefault((address_type, ports), []).append(_endpoint(address, ready))
    return tuple(
        Mirror(address_type=address_type, ports=ports, endpoints=tuple(shown[:MAX_ADDRESSES]))
        for (address_type, ports), shown in found.items()
    )


async def _reconcile(endpoints: Endpoints, ctx: Context) -> Outcome:
    service = ctx.get(Service, endpoints.name)
    if service is None and endpoints.labels.get(subsets.MANAGED_BY) == subsets.MANAGER:
        await ctx.delete(endpoints)
        return Done()
    there = ctx.by_index(Slice, MIRROR_INDEX, f"{endpoints.namespace}/{endpoints.name}")
    there.sort(key=lambda each: each.name)
    wanted = list(mirrors(endpoints)) if _is_mirrored(endpoints, service) else []
    labels = {**endpoints.labels, SERVICE_NAME: endpoints.name, MANAGED_BY: MANAGER}
    annotations = {
        key: each for key, each in endpoints.annotations.items() if key not in _NOT_MIRRORED
    }
    spare: list[Slice] = []
    for each in there:
        mirror = next((m for m in wanted if _shows(each, m)), None)
        if mirror is None:
            spare.append(each)
            continue
        wanted.remove(mirror)
        if not _is_up_to_date(each, mirror, labels, annotations):
            await ctx.patch(each, MergePatch(_change(each, mirror, labels, annotations)))
    for mirror in wanted:
        old = next((s for s in spare if s.address_type == mirror.address_type), None)
        if old is None:
            await ctx.create_owned(_new_slice(endpoints, mirror, labels, annotations))
        else:
            spare.remove(old)
            await ctx.patch(old, MergePatch(_change(old, mirror, labels, annotations)))
    for each in spare:
        await ctx.delete(each)
    if wanted:
        _record_skipped(endpoints, ctx)
    return Done()


def _record_skipped(endpoints: Endpoints, ctx: Context) -> None:
    skipped = sum(
        max(0, len(each.addresses or ()) + len(each.not_ready_addresses or ()) - MAX_ADDRESSES)
        for each in endpoints.subsets or ()
    )
    if skipped:
        ctx.record(
            "TooManyAddressesToMirror",
            f"A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints"
            f" subset. {skipped} addresses were skipped",
            type="Warning",
        )


def _is_mirrored(endpoints: Endpoints, service: Service | None) -> bool:
    return (
        service is not None
        and not (service.spec and service.spec.selector)
        and endpoints.labels.get(_SKIP) != "true"
        and _LEADER not in endpoints.annotations
    )


def _shows(slice: Slice, mirror: Mirror) -> bool:
    return slice.address_type == mirror.address_type and in_order(slice.ports or ()) == mirror.ports


def _is_up_to_date(
    slice: Slice, mirror: Mirror, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> bool:
    return (
        (slice.endpoints or ()) == mirror.endpoints
        and dict(slice.labels) == labels
        and dict(slice.annotations) == annotations
    )


def _new_slice(
    endpoints: Endpoints, mirror: Mirror, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Slice:
    return Slice(
        metadata=meta_v1.ObjectMeta(
            generate_name=f"{endpoints.name}-",
            namespace=endpoints.namespace,
            labels=labels,
            annotations=annotations or None,
        ),
        address_type=mirror.address_type,
        ports=mirror.ports,
        endpoints=mirror.endpoints,
    )


def _change(
    old: Slice, mirror: Mirror, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "metadata": {
            "labels": {**dict.fromkeys(old.labels), **labels},
            "annotations": {**dict.fromkeys(old.annotations), **annotations},
        },
        "ports": mirror.ports,
        "endpoints": mirror.endpoints,
    }


def _endpoint(address: core_v1.EndpointAddress, ready: bool) -> Endpoint:
    return Endpoint(
        addresses=(address.ip,),
        conditions=discovery_v1.EndpointConditions(ready=ready),
        target_ref=address.target_ref,
        node_name=address.node_name,
        hostname=address.hostname or None,
    )


def _port(port: core_v1.EndpointPort) -> discovery_v1.EndpointPort:
    return discovery_v1.EndpointPort(
        name=port.name or "",
        port=port.port,
        protocol=port.protocol or "TCP",
        app_protocol=port.app_protocol,
    )


def _is_by_hand(old: Endpoints | None, new: Endpoints) -> bool:
    # At the start, reconcile all: their Service may have been deleted meanwhile.
    return old is None or any(
        each.labels.get(subsets.MANAGED_BY) != subsets.MANAGER for each in (old, new)
    )


def _without_pods(service: Service, cached: CacheReader) -> tuple[ObjectKey, ...]:
    """Return the key of the Endpoints, if the Service is deleted or has no selector."""
    has_pods = bool(service.spec and service.spec.selector)
    if has_pods and cached.get(Service, service.name, namespace=service.namespace) is not None:
        return ()
    return (ObjectKey(service.namespace, service.name),)


def _by_mirrored(slice: Slice) -> Iterable[str]:
    labels = slice.labels
    if labels.get(MANAGED_BY) != MANAGER:
        return ()
    return (f"{slice.namespace}/{labels.get(SERVICE_NAME)}",)


def _mirrored(slice: Slice, _cached: CacheReader) -> tuple[ObjectKey, ...]:
    labels = slice.labels
    if labels.get(MANAGED_BY) != MANAGER or SERVICE_NAME not in labels:
        return ()
    return (ObjectKey(slice.namespace, labels[SERVICE_NAME]),)
