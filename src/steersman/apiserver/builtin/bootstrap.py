"""What a cluster has before anybody has asked for anything, complete as it is stored.

Namespaces, the server's own Service, and what its parts agree on. Roles are elsewhere.
"""

from collections.abc import Iterator
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from steersman.apiserver.builtin.bootstrap_flows import flow_control_objects
from steersman.apiserver.builtin.namespaces import NAME_LABEL
from steersman.apiserver.builtin.service_network import ADDRESSES
from steersman.apiserver.rules import Object
from steersman.units import format_time

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

# Above what anybody else may ask for: a billion.
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


def bootstrap_objects(*, address: str, port: int, client_ca: str, now: datetime) -> list[Object]:
    """Everything, namespaces first, for a server that is reached at ``address`` and ``port``."""
    return [
        *map(_namespace, NAMESPACES),
        *_service(address, port, format_time(now)),
        *_agreements(client_ca, now),
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


def _service(address: str, port: int, now: str) -> Iterator[Object]:
    """The server itself, as a Service whose cluster IP is the first there is."""
    first = str(ADDRESSES[1])
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
        spec={"cidrs": [str(ADDRESSES)]},
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
    yield _object(
        "networking.k8s.io/v1",
        "IPAddress",
        first,
        metadata={
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            }
        },
        spec={"parentRef": {"resource": "services", "namespace": "default", "name": "kubernetes"}},
    )
    yield from _endpoints(address, port)


def _endpoints(address: str, port: int) -> Iterator[Object]:
    """Where the Service leads to: nowhere, if only this machine can get there."""
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


def _agreements(client_ca: str, now: datetime) -> Iterator[Object]:
    """By what the parts of the control plane know one another."""
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
