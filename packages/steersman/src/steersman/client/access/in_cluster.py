"""The configuration for a process in a pod: the pod's own cluster and service account."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from steersman.client.access.cluster_config import ClusterConfig, TokenFile
from steersman.client.access.files import exists, read_if_exists
from steersman.errors import ConfigError

# The directory where the kubelet stores the account's token, the CA certificate and the namespace.
SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_pod(*, environ: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT) -> bool:
    """Whether this process runs in a pod that has a service account."""
    return "KUBERNETES_SERVICE_HOST" in environ and exists(service_account / "token")


def in_cluster_config(
    *, environ: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT
) -> ClusterConfig:
    """Return the configuration from the environment that Kubernetes provides in every pod.

    The token and CA files are read again while the configuration is in use.
    """
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ConfigError(
            source="the pod's environment",
            problem="KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, so this"
            " process does not run in a Pod",
            what_now="Name a kubeconfig, or run inside a cluster.",
        )
    token, ca = service_account / "token", service_account / "ca.crt"
    for path in (token, ca):
        if read_if_exists(path) is None:
            raise ConfigError(
                source=str(path),
                problem="this service account file does not exist in the Pod",
                what_now="Set automountServiceAccountToken to true in the Pod's spec.",
            )
    namespace = read_if_exists(service_account / "namespace") or b""
    return ClusterConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        source=f"the service account in {service_account}",
        namespace=namespace.decode(errors="replace").strip() or "default",
        ca=ca,
        login=TokenFile(path=token),
    )
