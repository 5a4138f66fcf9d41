"""The objects that run the operator: its namespace, its Deployment, and their network access.

Pods satisfy the restricted Pod Security level, which their namespace enforces: they run as non-root
without privileges, and only a small in-memory ``/tmp`` is writable. The image must have a numeric
user that is not 0, because a kubelet cannot resolve user names.
"""

from typing import Final

from steersman.kinds import apps_v1, core_v1, meta_v1, networking_v1, policy_v1
from steersman.manifests.documents import Document, as_document
from steersman.manifests.installation import HEALTH_PORT, METRICS_PORT, Installation
from steersman.units import Quantity

# The DNS ports of the usual distributions. A policy is evaluated after a Service's address is
# replaced by an API server's own, so the port of the Service (443) is not enough.
API_SERVER_PORTS: Final = (443, 6443, 8443, 16443)
DNS_PORT: Final = 53

# For a certificate and its key.
TMP_SIZE: Final = Quantity("16Mi")

METRICS: Final = "metrics"
_HEALTH: Final = "health"
_TMP: Final = "tmp"

_LEVEL: Final = "pod-security.kubernetes.io"


def namespace(installation: Installation) -> Document:
    """Return the operator's Namespace, which enforces the restricted Pod Security level."""
    levels = {f"{_LEVEL}/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    return as_document(
        core_v1.Namespace(
            metadata=meta_v1.ObjectMeta(
                name=installation.namespace, labels={**installation.labels, **levels}
            )
        )
    )


def deployment(installation: Installation) -> Document:
    """Return the Deployment of the operator.

    If there are several replicas, one of them is the leader, and the others keep their caches
    synced.
    """
    selector = meta_v1.LabelSelector(match_labels=installation.selector)
    return as_document(
        apps_v1.Deployment(
            metadata=_meta(installation),
            spec=apps_v1.DeploymentSpec(
                replicas=installation.replicas,
                selector=selector,
                template=core_v1.PodTemplateSpec(
                    metadata=meta_v1.ObjectMeta(
                        labels={
                            **installation.deploy.labels,
                            **installation.deploy.pod_labels,
                            **installation.labels,
                            **installation.selector,
                        },
                        annotations={
                            **installation.deploy.annotations,
                            **installation.deploy.pod_annotations,
                        }
                        or None,
                    ),
                    spec=_pod(installation, selector),
                ),
            ),
        )
    )


def metrics_service(installation: Installation) -> Document | None:
    """Return the Service for the metrics of each replica, or ``None`` if metrics are disabled.

    Readers need authorization, and use HTTPS.
    """
    if not installation.metrics:
        return None
    return as_document(
        core_v1.Service(
            metadata=_meta(installation, f"{installation.name}-metrics"),
            spec=core_v1.ServiceSpec(
                selector=installation.selector,
                ports=(core_v1.ServicePort(name=METRICS, port=METRICS_PORT, target_port=METRICS),),
            ),
        )
    )


def disruption_budget(installation: Installation) -> Document:
    """Return a PodDisruptionBudget that permits one unavailable Pod of the operator.

    So a drain of nodes evicts the next Pod only when the previously evicted Pod is available again.
    """
    return as_document(
        policy_v1.PodDisruptionBudget(
            metadata=_meta(installation),
            spec=policy_v1.PodDisruptionBudgetSpec(
                # With minAvailable and one replica, every drain would be blocked.
                max_unavailable=1,
                selector=meta_v1.LabelSelector(match_labels=installation.selector),
                # A replica that never becomes ready must not block a drain.
                unhealthy_pod_eviction_policy="AlwaysAllow",
            ),
        )
    )


def network_policy(installation: Installation) -> Document:
    """Return the NetworkPolicy of the operator's Pods.

    Permitted as ingress are probes, and requests for metrics from within the cluster. Permitted as
    egress are DNS, the API server, and the connections that the operator's author adds.
    """
    port = networking_v1.NetworkPolicyPort
    # No selector can match kubelets and API servers, because they are not Pods.
    ingress = [networking_v1.NetworkPolicyIngressRule(ports=(port(port=_HEALTH, protocol="TCP"),))]
    if installation.metrics:
        ingress.append(
            networking_v1.NetworkPolicyIngressRule(
                from_=(
                    networking_v1.NetworkPolicyPeer(namespace_selector=meta_v1.LabelSelector()),
                ),
                ports=(port(port=METRICS, protocol="TCP"),),
            )
        )
    names = tuple(port(port=DNS_PORT, protocol=protocol) for protocol in ("UDP", "TCP"))
    api_servers = tuple(port(port=number, protocol="TCP") for number in API_SERVER_PORTS)
    return as_document(
        networking_v1.NetworkPolicy(
            metadata=_meta(installation),
            spec=networking_v1.NetworkPolicySpec(
                pod_selector=meta_v1.LabelSelector(match_labels=installation.selector),
                policy_types=("Ingress", "Egress"),
                ingress=tuple(ingress),
                egress=(
                    networking_v1.NetworkPolicyEgressRule(ports=names),
                    networking_v1.NetworkPolicyEgressRule(ports=api_servers),
                    *(installation.deploy.egress or ()),
                ),
            ),
        )
    )


def service_monitor(installation: Installation) -> Document | None:
    """Return the ServiceMonitor with which Prometheus scrapes the metrics, or ``None``.

    The result is ``None`` if metrics are disabled. Only a cluster with the Prometheus operator
    serves the kind ServiceMonitor. The service account of Prometheus needs the role that permits
    reading the metrics.
    """
    if not installation.metrics:
        return None
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {
            "name": installation.name,
            "namespace": installation.namespace,
            "labels": installation.labels,
        },
        "spec": {
            "endpoints": [
                {
                    "port": METRICS,
                    "path": "/metrics",
                    "scheme": "https",
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                    # Each Pod makes its own self-signed certificate.
                    "tlsConfig": {"insecureSkipVerify": True},
                }
            ],
            "selector": {"matchLabels": {"app.kubernetes.io/name": installation.name}},
        },
    }


def _pod(installation: Installation, selector: meta_v1.LabelSelector) -> core_v1.PodSpec:
    return core_v1.PodSpec(
        service_account_name=installation.name,
        automount_service_account_token=True,
        # Environment variables for Services are not used, and could be mistaken for settings.
        enable_service_links=False,
        security_context=core_v1.PodSecurityContext(
            run_as_non_root=True,
            seccomp_profile=core_v1.SeccompProfile(type="RuntimeDefault"),
        ),
        containers=(_container(installation),),
        topology_spread_constraints=tuple(
            core_v1.TopologySpreadConstraint(
                max_skew=1,
                topology_key=key,
                # If the spread is impossible, all replicas may run on one node.
                when_unsatisfiable="ScheduleAnyway",
                label_selector=selector,
            )
            for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
        ),
        volumes=(
            core_v1.Volume(
                name=_TMP,
                # In memory, so that no key is ever written to a disk.
                empty_dir=core_v1.EmptyDirVolumeSource(medium="Memory", size_limit=TMP_SIZE),
            ),
        ),
    )


def _container(installation: Installation) -> core_v1.Container:
    ports = [core_v1.ContainerPort(name=_HEALTH, container_port=HEALTH_PORT)]
    if installation.metrics:
        ports.append(core_v1.ContainerPort(name=METRICS, container_port=METRICS_PORT))
    environ = installation.settings.environ()
    requests, limits = installation.resources
    return core_v1.Container(
        name="operator",
        image=installation.image,
        env=(
            *(core_v1.EnvVar(name=name, value=value) for name, value in environ.items()),
            *installation.deploy.env,
        ),
        ports=tuple(ports),
        liveness_probe=_probe("/livez", period_seconds=20),
        readiness_probe=_probe("/readyz", period_seconds=10),
        resources=core_v1.ResourceRequirements(requests=requests, limits=limits),
        security_context=core_v1.SecurityContext(
            allow_privilege_escalation=False,
            capabilities=core_v1.Capabilities(drop=("ALL",)),
            read_only_root_filesystem=True,
            run_as_non_root=True,
        ),
        volume_mounts=(core_v1.VolumeMount(name=_TMP, mount_path="/tmp"),),  # noqa: S108
    )


def _probe(path: str, *, period_seconds: int) -> core_v1.Probe:
    return core_v1.Probe(
        http_get=core_v1.HTTPGetAction(path=path, port=_HEALTH),
        # The endpoints start first; starting Python takes a second or two.
        initial_delay_seconds=5,
        period_seconds=period_seconds,
        # With the default of one second, a busy node would cause a restart.
        timeout_seconds=5,
    )


def _meta(installation: Installation, name: str = "") -> meta_v1.ObjectMeta:
    return meta_v1.ObjectMeta(
        name=name or installation.name,
        namespace=installation.namespace,
        labels=installation.labels,
    )
