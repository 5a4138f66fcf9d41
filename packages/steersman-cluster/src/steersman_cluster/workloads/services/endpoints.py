"""The endpoint of a Service for one Pod: addresses, ports and conditions. No I/O."""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Final, TypeAlias

from steersman.kinds import core_v1, discovery_v1
from steersman_cluster.workloads.pods import is_ended, is_ready

Pod = core_v1.Pod
Service = core_v1.Service

#: Finds a node by name; ``None`` if there is none.
NodeOf: TypeAlias = Callable[[str], core_v1.Node | None]

HEADLESS: Final = "service.kubernetes.io/headless"
SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
TRIGGER_TIME: Final = "endpoints.kubernetes.io/last-change-trigger-time"
ZONE: Final = "topology.kubernetes.io/zone"

_RESERVED: Final = (SERVICE_NAME, MANAGED_BY, HEADLESS)
_CLOSE: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_TOPOLOGY_MODES: Final = (
    "service.kubernetes.io/topology-aware-hints",
    "service.kubernetes.io/topology-mode",
)


def has_endpoints(service: Service) -> bool:
    """Return whether ``service`` has a selector, so that its endpoints are managed."""
    spec = service.spec
    return spec is not None and spec.type != "ExternalName" and bool(spec.selector)


def is_headless(service: Service) -> bool:
    """Return whether ``service`` has no cluster IP."""
    return service.spec is None or service.spec.cluster_ip in (None, "", "None")


def publishes_all(service: Service) -> bool:
    """Return whether the endpoints of ``service`` also include Pods that are not ready."""
    return service.spec is not None and bool(service.spec.publish_not_ready_addresses)


def address_types(service: Service) -> tuple[str, ...]:
    """Return the IP families of ``service``, in the order of its spec."""
    spec = service.spec
    families = tuple(
        each for each in (spec.ip_families if spec else None) or () if each in ("IPv4", "IPv6")
    )
    if families:
        return families
    if spec is None or is_headless(service):
        return ("IPv4", "IPv6")
    return ("IPv6" if ":" in (spec.cluster_ip or "") else "IPv4",)


def addresses(pod: Pod) -> tuple[str, ...]:
    """Return all IP addresses of ``pod``."""
    status = pod.status
    if status is None:
        return ()
    if status.pod_ips:
        return tuple([each.ip for each in status.pod_ips if each.ip])
    return (status.pod_ip,) if status.pod_ip else ()


def addresses_of_type(pod: Pod, address_type: str) -> tuple[str, ...]:
    """Return the IP addresses of ``pod`` in the family ``address_type``, in canonical form."""
    wants_colons = address_type == "IPv6"
    found = [each for each in addresses(pod) if (":" in each) is wants_colons]
    if wants_colons:
        found = [_usual(each) for each in found]
    return tuple(sorted(found) if len(found) > 1 else found)


def is_reachable(pod: Pod) -> bool:
    """Return whether ``pod`` has an IP address and has not ended."""
    return bool(addresses(pod)) and not is_ended(pod)


def port_number(pod: Pod, port: core_v1.ServicePort) -> int | None:
    """Return the port number of ``pod`` to which the Service port ``port`` refers.

    Return ``None`` if the port is referred to by a name that the Pod does not have.
    """
    target = port.target_port
    if target is None:
        return port.port
    if isinstance(target, int):
        return target
    protocol = port.protocol or "TCP"
    for container in _listening_containers(pod):
        for each in container.ports or ():
            if each.name == target and (each.protocol or "TCP") == protocol:
                return each.container_port
    return None


def hostname(pod: Pod, service: Service) -> str | None:
    """Return the hostname of ``pod`` in the DNS records of ``service``.

    Return ``None`` if the Pod has no hostname in these records.
    """
    spec = pod.spec
    if spec is None or not spec.hostname or spec.subdomain != service.name:
        return None
    return spec.hostname


def endpoint_of(
    pod: Pod, node: core_v1.Node | None, service: Service, address_type: str
) -> discovery_v1.Endpoint | None:
    """Return the endpoint of ``service`` for ``pod``, which runs on ``node``.

    Return ``None`` if the Pod has no IP address in the family ``address_type``.
    """
    reached = addresses_of_type(pod, address_type)
    if not reached:
        return None
    serves = is_ready(pod)
    is_terminating = pod.metadata.deletion_timestamp is not None
    # Never ready while it terminates, for readers that know no other condition.
    ready = publishes_all(service) or (serves and not is_terminating)
    node_name = (pod.spec.node_name if pod.spec else None) or None
    zone = (node.labels.get(ZONE) if node is not None else None) or None
    return discovery_v1.Endpoint(
        addresses=reached,
        conditions=discovery_v1.EndpointConditions(
            ready=ready, serving=serves, terminating=is_terminating
        ),
        hostname=hostname(pod, service),
        node_name=node_name,
        target_ref=core_v1.ObjectReference(
            kind="Pod", namespace=pod.namespace, name=pod.name, uid=pod.uid
        ),
        zone=zone,
        hints=_hints(service, node_name, zone) if ready else None,
    )


def labels_of(service: Service, managed_by: str) -> dict[str, str]:
    """Return the labels of the EndpointSlices of ``service``.

    These are the Service's own labels, and the labels by which clients select the slices.
    """
    labels = {key: value for key, value in service.labels.items() if key not in _RESERVED}
    if is_headless(service):
        labels[HEADLESS] = ""
    return {**labels, SERVICE_NAME: service.name, MANAGED_BY: managed_by}


def without_reserved(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return ``labels`` without those that the controller sets itself."""
    return {key: value for key, value in labels if key not in _RESERVED}


def _listening_containers(pod: Pod) -> Iterable[core_v1.Container]:
    if pod.spec is None:
        return
    yield from pod.spec.containers
    for each in pod.spec.init_containers or ():
        if each.restart_policy == "Always":
            yield each


def _hints(
    service: Service, node_name: str | None, zone: str | None
) -> discovery_v1.EndpointHints | None:
    wanted = service.spec.traffic_distribution if service.spec else None
    if wanted not in _CLOSE or _is_topology_aware(service):
        return None
    zones = (discovery_v1.ForZone(name=zone),) if zone else None
    nodes = None
    if wanted == "PreferSameNode" and node_name:
        nodes = (discovery_v1.ForNode(name=node_name),)
    if zones is None and nodes is None:
        return None
    return discovery_v1.EndpointHints(for_zones=zones, for_nodes=nodes)


def _is_topology_aware(service: Service) -> bool:
    for key in _TOPOLOGY_MODES:
        if key in service.annotations:
            return service.annotations[key] in ("Auto", "auto")
    return False


def _usual(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        return address
