"""The objects that a server creates at its start, complete as they are stored.

These are namespaces, priority classes, flow control and the Service ``kubernetes``. RBAC's
bootstrap policy is not in this module.
"""

from collections.abc import Iterator
from datetime import datetime
from ipaddress import IPv4Network, ip_address
from typing import Any
from uuid import UUID

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.cluster.bootstrap_flows import flow_control_objects
from steersman_cluster.apiserver.builtin.cluster.namespaces import NAME_LABEL
from steersman_cluster.apiserver.builtin.network.service_network import ADDRESSES
from steersman_cluster.apiserver.meta.strategy import Object

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

# The values are above one billion, the highest value that users may set.
CRITICAL = (
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster,"
        " but can be moved to another node if necessary.",
    ),
)


# The group and version priorities of the built-in APIServices.
PRIORITIES = {
    ("", "v1"): (18000, 1),
    ("admissionregistration.k8s.io", "v1"): (16700, 15),
    ("apiextensions.k8s.io", "v1"): (16700, 15),
    ("apps", "v1"): (17800, 15),
    ("authentication.k8s.io", "v1"): (17700, 15),
    ("authorization.k8s.io", "v1"): (17600, 15),
    ("autoscaling", "v1"): (17500, 15),
    ("autoscaling", "v2"): (17500, 30),
    ("batch", "v1"): (17400, 15),
    ("certificates.k8s.io", "v1"): (17300, 15),
    ("coordination.k8s.io", "v1"): (16500, 15),
    ("discovery.k8s.io", "v1"): (16200, 15),
    ("events.k8s.io", "v1"): (17750, 15),
    ("flowcontrol.apiserver.k8s.io", "v1"): (16100, 21),
    ("networking.k8s.io", "v1"): (17200, 15),
    ("node.k8s.io", "v1"): (16300, 15),
    ("policy", "v1"): (17100, 15),
    ("rbac.authorization.k8s.io", "v1"): (17000, 15),
    ("resource.k8s.io", "v1"): (16200, 21),
    ("scheduling.k8s.io", "v1"): (16600, 15),
    ("storage.k8s.io", "v1"): (16800, 15),
}

# The name of the server's identity Lease, in kube-apiserver's form.
IDENTITY = "apiserver-steersmansteersmansteersma"
IDENTITY_SECONDS = 3600


def bootstrap_objects(
    *,
    address: str,
    port: int,
    client_ca: str,
    now: datetime,
    service_addresses: IPv4Network = ADDRESSES,
) -> list[Object]:
    """Return all initial objects of a server at ``address`` and ``port``, namespaces first."""
    return [
        *map(_namespace, NAMESPACES),
        *_api_services(format_time(now)),
        *_service(address, port, service_addresses, format_time(now)),
        *_control_plane_config_maps(client_ca, now),
        _identity(f"{address}:{port}", now),
        *(_priority_class(*each) for each in CRITICAL),
        *flow_control_objects(format_time(now)),
    ]


def _object(api_version: str, kind: str, name: str, **parts: Any) -> Object:
    metadata = {"name": name, **parts.pop("metadata", {})}
    return {"kind": kind, "apiVersion": api_version, "metadata": metadata, **parts}


def _namespace(name: str) -> Object:
    return _object(
        "v1",
        "Namespace",
        name,
        metadata={"labels": {NAME_LABEL: name}},
        spec={"finalizers": ["kubernetes"]},
        status={"phase": "Active"},
    )


def _service(address: str, port: int, addresses: IPv4Network, now: str) -> Iterator[Object]:
    """Yield the Service ``kubernetes`` and its related objects.

    The Service has the first cluster IP.
    """
    first = str(addresses[1])
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
    }
    yield _object(
        "networking.k8s.io/v1",
        "ServiceCIDR",
        "kubernetes",
        spec={"cidrs": [str(addresses)]},
        status={"conditions": [ready]},
    )
    yield _object(
        "v1",
        "Service",
        "kubernetes",
        metadata={
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        spec={
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": first,
            "clusterIPs": [first],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
        },
        status={"loadBalancer": {}},
    )
    yield from _endpoints(address, port)


def ip_address_of(address: str, service: Object) -> Object:
    """Return the IPAddress that assigns ``address`` to ``service``."""
    about = service["metadata"]
    parent = {"resource": "services", "namespace": about["namespace"], "name": about["name"]}
    return _object(
        "networking.k8s.io/v1",
        "IPAddress",
        address,
        metadata={
            "labels": {
                "ipaddress.kubernetes.io/ip-family": f"IPv{ip_address(address).version}",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            }
        },
        spec={"parentRef": parent},
    )


def api_service(
    group: str, version: str, *, priorities: tuple[int, int], managed: str, now: str
) -> Object:
    """Return the APIService of an API group version that this server serves.

    ``priorities`` are those of the group and of the version. ``managed`` is the value of the label
    that contains the way in which the APIService is managed.
    """
    of_group, of_version = priorities
    available = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    return _object(
        "apiregistration.k8s.io/v1",
        "APIService",
        f"{version}.{group}",
        metadata={"labels": {"kube-aggregator.kubernetes.io/automanaged": managed}},
        spec={
            **({"group": group} if group else {}),
            "version": version,
            "groupPriorityMinimum": of_group,
            "versionPriority": of_version,
        },
        status={"conditions": [available]},
    )


def _endpoints(address: str, port: int) -> Iterator[Object]:
    """Yield the endpoints of the Service ``kubernetes``.

    Yields nothing if ``address`` can be reached only from this machine.
    """
    found = ip_address(address)
    if found.is_loopback or found.is_unspecified:
        return
    at = {"name": "https", "port": port, "protocol": "TCP"}
    yield _object(
        "v1",
        "Endpoints",
        "kubernetes",
        metadata={
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        subsets=[{"addresses": [{"ip": address}], "ports": [at]}],
    )
    yield _object(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        "kubernetes",
        metadata={
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
            "generation": 1,
        },
        addressType=f"IPv{found.version}",
        endpoints=[{"addresses": [address], "conditions": {"ready": True}}],
        ports=[at],
    )


def _control_plane_config_maps(client_ca: str, now: datetime) -> Iterator[Object]:
    """Yield the ConfigMaps that components of the control plane read."""
    here = {"namespace": "kube-system"}
    yield _object(
        "v1",
        "ConfigMap",
        "extension-apiserver-authentication",
        metadata=here,
        data={"client-ca-file": client_ca},
    )
    yield _object(
        "v1",
        "ConfigMap",
        "kube-apiserver-legacy-service-account-token-tracking",
        metadata=here,
        data={"since": now.date().isoformat()},
    )


def _api_services(now: str) -> Iterator[Object]:
    for (group, version), priorities in PRIORITIES.items():
        yield api_service(group, version, priorities=priorities, managed="onstart", now=now)


def _identity(address: str, now: datetime) -> Object:
    """Return the Lease that identifies the server; a single server need not renew it."""
    return _object(
        "coordination.k8s.io/v1",
        "Lease",
        IDENTITY,
        metadata={
            "namespace": "kube-system",
            "labels": {
                "apiserver.kubernetes.io/identity": "kube-apiserver",
                "kubernetes.io/hostname": "steersman",
            },
            "annotations": {"kubernetes.io/peer-advertise-address": address},
        },
        spec={
            "holderIdentity": f"{IDENTITY}_{UUID(int=0)}",
            "leaseDurationSeconds": IDENTITY_SECONDS,
            "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        },
    )


def _priority_class(name: str, value: int, description: str) -> Object:
    return _object(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        name,
        metadata={"generation": 1},
        value=value,
        description=description,
        preemptionPolicy="PreemptLowerPriority",
    )
