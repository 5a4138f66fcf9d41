"""The options of a server, which kube-apiserver has as flags."""

from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Final

from steersman_cluster.apiserver.authn import TokenIssuers
from steersman_cluster.apiserver.authz import ALWAYS_ALLOW, NODE, RBAC_MODE
from steersman_cluster.apiserver.builtin.network.service_network import ADDRESSES, PORTS
from steersman_cluster.apiserver.builtin.plugins.pod_admission import (
    DEFAULT_TOLERATIONS,
    LIMIT_RANGER,
    POD_SECURITY,
    PRIORITY,
    RUNTIME_CLASS,
    SERVICE_ACCOUNT,
)

AUTHORIZATION_MODES: Final = (ALWAYS_ALLOW, RBAC_MODE, NODE)

# The admission plugins that can be turned off, and those that call others.
ADMISSION_PLUGINS: Final = frozenset(
    (
        DEFAULT_TOLERATIONS,
        LIMIT_RANGER,
        POD_SECURITY,
        PRIORITY,
        RUNTIME_CLASS,
        SERVICE_ACCOUNT,
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Token issuers, authorization modes, admission plugins, and the service network.

    The plugin ``ServiceAccount`` is off unless asked for: it refuses every Pod until a controller
    has made the namespace's account, and most clusters of this sort have no controllers.
    """

    issuing: TokenIssuers = field(default_factory=TokenIssuers)
    authorization: tuple[str, ...] = (RBAC_MODE,)
    anonymous: bool = True
    plugins: frozenset[str] = ADMISSION_PLUGINS - {SERVICE_ACCOUNT}
    service_addresses: IPv4Network = ADDRESSES
    node_ports: range = PORTS
