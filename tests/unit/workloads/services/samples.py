"""Services, and Pods with addresses, as the server returns them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from steersman.controller import owner_reference
from steersman.kinds import core_v1, discovery_v1, meta_v1
from steersman_cluster.workloads.services.endpoints import labels_of
from steersman_cluster.workloads.services.slices import MANAGER, NewSlice, SlicePlan, make_plan

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WEB: Mapping[str, str] = {"app": "web"}

HTTP = core_v1.ServicePort(name="http", port=80, protocol="TCP", target_port="http")
NODE = core_v1.Node(
    metadata=meta_v1.ObjectMeta(name="node-1", labels={"topology.kubernetes.io/zone": "east"})
)


def service(
    *, ports: tuple[core_v1.ServicePort, ...] = (HTTP,), uid: str = "the-service", **spec: Any
) -> core_v1.Service:
    """A Service that selects the Pods of ``web``."""
    given: dict[str, Any] = {
        "selector": WEB,
        "cluster_ip": "10.96.0.7",
        "ip_families": ("IPv4",),
        "ports": ports,
        **spec,
    }
    return core_v1.Service(
        metadata=meta_v1.ObjectMeta(
            name="web", namespace="here", uid=uid, labels={"team": "blue"}, creation_timestamp=NOW
        ),
        spec=core_v1.ServiceSpec(**given),
    )


def pod(
    name: str = "web-1",
    *,
    ips: tuple[str, ...] = ("10.0.0.1",),
    ready: bool = True,
    ending: bool = False,
    phase: str = "Running",
    node: str | None = "node-1",
    port: int = 8080,
    subdomain: str | None = None,
) -> core_v1.Pod:
    """A Pod with a port named ``http``."""
    ports = (core_v1.ContainerPort(name="http", container_port=port),)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            uid=f"uid-of-{name}",
            labels=WEB,
            deletion_timestamp=NOW if ending else None,
        ),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main", ports=ports),),
            node_name=node,
            hostname=name if subdomain else None,
            subdomain=subdomain,
        ),
        status=core_v1.PodStatus(
            phase=phase,
            pod_ip=ips[0] if ips else None,
            pod_ips=tuple(core_v1.PodIP(ip=each) for each in ips),
            conditions=(
                core_v1.PodCondition(
                    type="Ready", status="True" if ready else "False", last_transition_time=NOW
                ),
            ),
        ),
    )


def many(number: int) -> list[core_v1.Pod]:
    """So many Pods, each with its own address."""
    return [pod(f"web-{n:04}", ips=(f"10.1.{n // 250}.{n % 250}",)) for n in range(number)]


def node_of(name: str) -> core_v1.Node | None:
    """The only node."""
    return NODE if name == "node-1" else None


def plan(
    of: core_v1.Service,
    pods: Iterable[core_v1.Pod],
    slices: Iterable[discovery_v1.EndpointSlice] = (),
) -> SlicePlan:
    """The plan for the slices of a Service."""
    return make_plan(of, pods, slices, node_of=node_of)


def written(
    of: core_v1.Service, new: NewSlice, name: str = "web-abcde"
) -> discovery_v1.EndpointSlice:
    """A planned slice as the server returns it."""
    return discovery_v1.EndpointSlice(
        metadata=meta_v1.ObjectMeta(
            name=new.old.name if new.old else name,
            namespace="here",
            labels=labels_of(of, MANAGER),
            owner_references=(owner_reference(of),),
        ),
        address_type=new.address_type,
        ports=new.ports,
        endpoints=new.endpoints,
    )


def all_written(of: core_v1.Service, made: SlicePlan) -> list[discovery_v1.EndpointSlice]:
    """All slices that a plan creates."""
    return [written(of, new, f"web-{number}") for number, new in enumerate(made.create)]
