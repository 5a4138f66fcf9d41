"""The embedded API server: the Kubernetes API in one Python process, for development and tests.

Takes:     requests, as bytes, over HTTPS or from within the process
Gives:     the responses and the resulting state of kube-apiserver 1.36
Promises:  - every watcher sees every event once and in order
           - a crash of one request never harms another
           - all pages of a list have the same revision
           - a dry run writes nothing
           - a request without a token can read only public paths
           - the server in the process creates no socket, no thread and no task
Never:     imports ``kinds`` or ``client``, or claims to be a cluster for production

The layers, from top to bottom; each layer imports only from the layers below::

    server          HTTPS, metrics, health, the order in which a request passes the layers
    discovery       discovery documents and OpenAPI
    registry        the handlers of get, list, watch, create, update, patch and delete
    admission       webhooks and policies, before a write
    custom          CustomResourceDefinitions and the custom resources that they define
    builtin         the rules of the built-in kinds
    webhooks        calls to webhooks, and the re-runs of requests with the webhook responses
    authn · authz   authentication and authorization
    tables          objects as the rows of kubectl's tables
    apply           field management, server-side apply, patches
    request         request info, options, content negotiation, response encoders
    cel             the expression language
    schema          schemas, decoding, protobuf
    meta            object metadata, field errors, ``Status`` errors
    storage         the revision log
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman_cluster.apiserver.meta.users import ADMINISTRATORS, User
from steersman_cluster.apiserver.server.api_server import ApiServer, administrator
from steersman_cluster.apiserver.server.options import (
    ADMISSION_PLUGINS,
    AUTHORIZATION_MODES,
    ServerOptions,
)
from steersman_cluster.apiserver.server.transport import InProcessTransport
from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal
from steersman_cluster.apiserver.webhooks import (
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)
from steersman_cluster.apiserver.webhooks.request_runner import NoWebhookTransport

if TYPE_CHECKING:
    from steersman_cluster.apiserver.server.running_cluster import (
        ClusterSettings,
        RunningCluster,
        running_cluster,
    )

__all__ = [
    "ADMINISTRATORS",
    "ADMISSION_PLUGINS",
    "AUTHORIZATION_MODES",
    "ApiServer",
    "ClusterSettings",
    "InProcessTransport",
    "Key",
    "NoWebhookTransport",
    "RevisionLog",
    "RunningCluster",
    "ServerOptions",
    "SqliteJournal",
    "User",
    "WebhookResponse",
    "WebhookTransport",
    "WebhookUnreachable",
    "administrator",
    "running_cluster",
]

# A server on a socket needs the package cryptography; a server in the process does not.
_LAZY = {
    "ClusterSettings": "server.running_cluster",
    "RunningCluster": "server.running_cluster",
    "running_cluster": "server.running_cluster",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
