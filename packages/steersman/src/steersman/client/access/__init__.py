"""Access to a cluster: its address, its trusted authorities, and the client's credentials.

Takes:     kubeconfigs, a pod's service account, credential plugins, and a policy for what a
           kubeconfig may make this process do
Gives:     a ``ClusterConfig``, and a transport that adds credentials to every request
Promises:  - of several entries with one name the first is used completely
           - a rotated token and CA are picked up within a minute
           - concurrent 401s cause one renewal
           - inside a cluster no plugin is started unless that is allowed
           - an unverified server must be accepted by kubeconfig and caller
           - credentials never travel over plain http to another machine
           - no secret appears in a repr
Never:     starts a shell, prompts, or trusts a server whose certificate its CA did not sign
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman.client.access.authenticated import AuthenticatedTransport
    from steersman.client.access.cluster_config import (
        ClientCertificate,
        ClusterConfig,
        ExecPlugin,
        Password,
        Token,
        TokenFile,
    )
    from steersman.client.access.config_lookup import find_config
    from steersman.client.access.credentials import ConfiguredCredentials, Credentials
    from steersman.client.access.impersonation import Impersonation
    from steersman.client.access.in_cluster import in_cluster_config
    from steersman.client.access.kubeconfig import Kubeconfig
    from steersman.client.access.trust import UNTRUSTED, ExecPolicy, Trust
    from steersman.client.access.yaml_files import read_yaml_mapping

__all__ = [
    "UNTRUSTED",
    "AuthenticatedTransport",
    "ClientCertificate",
    "ClusterConfig",
    "ConfiguredCredentials",
    "Credentials",
    "ExecPlugin",
    "ExecPolicy",
    "Impersonation",
    "Kubeconfig",
    "Password",
    "Token",
    "TokenFile",
    "Trust",
    "find_config",
    "in_cluster_config",
    "read_yaml_mapping",
]


# Loaded lazily: a client with its own transport needs none of these, and a client inside a cluster
# needs neither YAML nor plugins.
_LAZY = {
    "UNTRUSTED": "trust",
    "AuthenticatedTransport": "authenticated",
    "ClientCertificate": "cluster_config",
    "ClusterConfig": "cluster_config",
    "ConfiguredCredentials": "credentials",
    "Credentials": "credentials",
    "ExecPlugin": "cluster_config",
    "ExecPolicy": "trust",
    "Impersonation": "impersonation",
    "Kubeconfig": "kubeconfig",
    "Password": "cluster_config",
    "Token": "cluster_config",
    "TokenFile": "cluster_config",
    "Trust": "trust",
    "find_config": "config_lookup",
    "in_cluster_config": "in_cluster",
    "read_yaml_mapping": "yaml_files",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
