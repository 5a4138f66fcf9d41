"""kube-controller-manager beside a cluster: which controllers it runs, and with which flags."""

from collections.abc import Sequence
from pathlib import Path

from steersman_cluster.testing.credentials import Credentials

START_SECONDS = 60.0
GRACE_SECONDS = 5.0

# What turns Deployments and their like into Pods, and takes away what nothing owns any more.
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
    credentials: Credentials,
    *,
    kubeconfig: Path,
    address: str,
    port: int,
    controllers: Sequence[str],
) -> dict[str, object]:
    """What kube-controller-manager is started with."""
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
