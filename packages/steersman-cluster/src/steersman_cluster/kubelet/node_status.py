"""The Node object and the Lease object of a simulated kubelet. No I/O."""

from datetime import datetime
from hashlib import sha256
from typing import Final

from steersman.kinds import coordination_v1, core_v1, meta_v1
from steersman.kinds.base import replace
from steersman.units import MicroTime, Quantity
from steersman_cluster.kubelet.addresses import node_address, pod_range
from steersman_cluster.workloads import SIMULATED_NODE, WorkloadSettings, node_name

LEASES: Final = "kube-node-lease"
# The duration of a kubelet's lease: four renewals may be missed.
LEASE_SECONDS: Final = 40
VERSION: Final = "v1.36.3"

# The conditions of a healthy node: type, status, reason, message.
_HEALTHY: Final = (
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


_TYPES: Final = tuple(type_ for type_, *_ in _HEALTHY)
_UNRESPONSIVE: Final = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")


def new_node(number: int, settings: WorkloadSettings, *, now: datetime) -> core_v1.Node:
    """Return the Node object with which the node with the number ``number`` is registered."""
    name = node_name(number)
    addresses = pod_range(number - 1, pods=settings.node_pods)
    node = core_v1.Node(
        metadata=meta_v1.ObjectMeta(
            name=name, labels=labels(name), annotations={SIMULATED_NODE: "true"}
        ),
        spec=core_v1.NodeSpec(
            pod_cidr=addresses,
            pod_cidrs=(addresses,),
            provider_id=f"steersman://{name}",
        ),
    )
    return replace(node, status=status(node, settings, address=node_address(number), now=now))


def labels(name: str) -> dict[str, str]:
    """Return the labels that the kubelet of the node ``name`` sets on its Node object."""
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }


def status(
    node: core_v1.Node,
    settings: WorkloadSettings,
    *,
    address: str,
    now: datetime,
    is_responsive: bool = True,
) -> core_v1.NodeStatus:
    """Return the current status of ``node``; a capacity that the status already has is preserved.

    ``is_responsive`` is whether the node's kubelet responds. If it does not, the conditions of the
    node are unknown, as kube-controller-manager sets them.
    """
    before = node.status or core_v1.NodeStatus()
    size = before.capacity or {
        "cpu": Quantity(settings.node_cpu),
        "ephemeral-storage": Quantity("100Gi"),
        "memory": Quantity(settings.node_memory),
        "pods": Quantity(str(settings.node_pods)),
    }
    return replace(
        before,
        capacity=size,
        allocatable=before.allocatable or size,
        conditions=conditions(before.conditions, now=now, is_responsive=is_responsive),
        addresses=before.addresses
        or (
            core_v1.NodeAddress(type="InternalIP", address=address),
            core_v1.NodeAddress(type="Hostname", address=node.name),
        ),
        daemon_endpoints=before.daemon_endpoints
        or core_v1.NodeDaemonEndpoints(kubelet_endpoint=core_v1.DaemonEndpoint(port=10250)),
        node_info=before.node_info if _is_filled(before.node_info) else _info(node.name),
    )


def conditions(
    before: tuple[core_v1.NodeCondition, ...] | None, *, now: datetime, is_responsive: bool
) -> tuple[core_v1.NodeCondition, ...]:
    """Return the conditions of a node.

    ``is_responsive`` is whether the node's kubelet responds. ``before`` contains the previous
    conditions: those that do not change, and those of other writers, are preserved.
    """
    known = {each.type: each for each in before or ()}
    wanted = _HEALTHY if is_responsive else [(type_, *_UNRESPONSIVE) for type_, *_ in _HEALTHY]
    conditions_: list[core_v1.NodeCondition] = []
    for type_, value, reason, message in wanted:
        old = known.get(type_)
        if old is not None and old.status == value and old.reason == reason:
            conditions_.append(old)
            continue
        conditions_.append(
            core_v1.NodeCondition(
                type=type_,
                status=value,
                reason=reason,
                message=message,
                last_heartbeat_time=now
                if is_responsive or old is None
                else old.last_heartbeat_time,
                last_transition_time=now,
            )
        )
    return (*conditions_, *(each for each in before or () if each.type not in _TYPES))


def new_lease(node: core_v1.Node, *, now: datetime) -> coordination_v1.Lease:
    """Return the Lease object that the kubelet of ``node`` creates, and later renews."""
    owner = meta_v1.OwnerReference(api_version="v1", kind="Node", name=node.name, uid=node.uid)
    return coordination_v1.Lease(
        metadata=meta_v1.ObjectMeta(name=node.name, namespace=LEASES, owner_references=(owner,)),
        spec=coordination_v1.LeaseSpec(
            holder_identity=node.name,
            lease_duration_seconds=LEASE_SECONDS,
            renew_time=MicroTime.of(now),
        ),
    )


def _is_filled(info: core_v1.NodeSystemInfo | None) -> bool:
    # The server fills the field with empty strings.
    return info is not None and bool(info.kubelet_version)


def _info(name: str) -> core_v1.NodeSystemInfo:
    machine = _identity(name)
    return core_v1.NodeSystemInfo(
        architecture="amd64",
        boot_id=_identity(f"boot of {name}"),
        container_runtime_version="containerd://2.1.4",
        kernel_version="6.8.0",
        kube_proxy_version="",
        kubelet_version=VERSION,
        machine_id=machine.replace("-", ""),
        operating_system="linux",
        os_image="steersman",
        system_uuid=machine,
    )


def _identity(name: str) -> str:
    """Return a stable value in the format of a UUID."""
    digits = sha256(name.encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
