"""The controllers and flags with which kube-controller-manager runs in tests."""

from collections.abc import Sequence
from pathlib import Path

from steersman_cluster.testing.control_plane.credentials import ControlPlaneCredentials

START_SECONDS = 60.0
GRACE_SECONDS = 5.0

# The controllers that turn Deployments and the like into Pods, and the garbage collector.
CONTROLLERS = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "statefulset-controller",
)


def controller_manager_flags(
    credentials: ControlPlaneCredentials,
    *,
    kubeconfig: Path,
    address: str,
    port: int,
    controllers: Sequence[str],
) -> dict[str, object]:
    """Return the command-line flags for kube-controller-manager, by name.

    It runs ``controllers``, connects with ``kubeconfig``, and listens on ``address`` and ``port``.
    """
    return {
        "kubeconfig": kubeconfig,
        "controllers": ",".join(controllers),
        "leader-elect": "false",
        "service-account-private-key-file": credentials.service_account_key_file,
        "bind-address": address,
        "secure-port": port,
        "permit-port-sharing": "true",
        "tls-cert-file": credentials.serving_certificate_file,
        "tls-private-key-file": credentials.serving_key_file,
    }
