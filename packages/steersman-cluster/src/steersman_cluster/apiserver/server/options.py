"""The options of an API server, which are flags in kube-apiserver."""

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

# The admission plugins that can be disabled.
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
    """The options of an API server, named after kube-apiserver's flags where a flag exists.

    ``client_ca`` is the content of the file that the flag ``--client-ca-file`` names. The endpoints
    of the Service ``kubernetes`` consist of ``advertise_address`` and ``secure_port``.

    The admission plugin ``ServiceAccount`` is disabled by default: it rejects every Pod until a
    controller has created the default ServiceAccount of the Pod's namespace, and most embedded
    clusters run no controllers.
    """

    token_issuers: TokenIssuers = field(default_factory=TokenIssuers)
    authorization_mode: tuple[str, ...] = (RBAC_MODE,)
    anonymous_auth: bool = True
    admission_plugins: frozenset[str] = ADMISSION_PLUGINS - {SERVICE_ACCOUNT}
    service_cluster_ip_range: IPv4Network = ADDRESSES
    service_node_port_range: range = PORTS
    advertise_address: str = "127.0.0.1"
    secure_port: int = 443
    client_ca: str = ""
