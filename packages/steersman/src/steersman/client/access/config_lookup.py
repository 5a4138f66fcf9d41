"""Looks up the configuration of the cluster in several sources, in a fixed order."""

import os
from collections.abc import Mapping
from pathlib import Path

from steersman.client.access.cluster_config import ClusterConfig
from steersman.client.access.files import exists
from steersman.client.access.in_cluster import SERVICE_ACCOUNT, in_cluster_config, is_pod
from steersman.client.access.trust import Trust
from steersman.errors import ConfigError
from steersman.observe import Observer


def find_config(
    *,
    environ: Mapping[str, str],
    home: Path,
    observe: Observer,
    kubeconfig: Path | None = None,
    context: str | None = None,
    trust: Trust = Trust(),
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterConfig:
    """Return the cluster configuration from the first of these sources that exists.

    The sources are, in this order: the file ``kubeconfig``, $KUBECONFIG, a service account,
    ~/.kube/config. With a ``context``, only kubeconfigs are searched, because a service account has
    no contexts.
    """
    named = [Path(each) for each in environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    default = home / ".kube" / "config"
    if kubeconfig is not None:
        paths = [kubeconfig]
    elif named:
        paths = named
    elif context is None and is_pod(environ=environ, service_account=service_account):
        return in_cluster_config(environ=environ, service_account=service_account)
    elif exists(default):
        paths = [default]
    else:
        raise ConfigError(
            source="the cluster's configuration",
            problem="not found: no kubeconfig is given, $KUBECONFIG is not set, there is no"
            f" service account in {service_account}, and {default} does not exist",
            what_now="Name a kubeconfig, or mount a service account token in the Pod.",
        )
    # Imported here, because the configuration inside a cluster needs no YAML.
    from steersman.client.access.kubeconfig_reread import KubeconfigReread

    return KubeconfigReread(paths, context, trust=trust, environ=environ, observe=observe).config
