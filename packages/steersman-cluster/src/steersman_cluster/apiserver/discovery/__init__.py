"""What the server tells clients about itself: which kinds it serves, and what they look like.

Takes:     resources and their schemas; what fields mean, from a package that may be installed
Gives:     the documents that clients read: discovery, classic and aggregated, OpenAPI v2
           and v3, and where the keys of tokens are
Promises:  - a document is made once, when it is first asked for
           - an etag changes exactly when its document does
           - groups and versions come in the order in which clients prefer them
           - every reference in a document leads to a schema in the same document
Never:     knows who asks, or what is stored
"""

from steersman_cluster.apiserver.discovery.descriptions import Descriptions, installed_descriptions
from steersman_cluster.apiserver.discovery.discovered_resources import (
    DiscoveredResource,
    DiscoveredSubresource,
    discovered_builtin,
    stored_version,
)
from steersman_cluster.apiserver.discovery.discovery_documents import Discovery, DiscoveryDocument
from steersman_cluster.apiserver.discovery.open_id import OPEN_ID_PATHS, open_id_document
from steersman_cluster.apiserver.discovery.openapi_v2 import Swagger
from steersman_cluster.apiserver.discovery.openapi_v3 import SELECTABLE, OpenApi, OpenApiDocument

__all__ = [
    "OPEN_ID_PATHS",
    "SELECTABLE",
    "Descriptions",
    "DiscoveredResource",
    "DiscoveredSubresource",
    "Discovery",
    "DiscoveryDocument",
    "OpenApi",
    "OpenApiDocument",
    "Swagger",
    "discovered_builtin",
    "installed_descriptions",
    "open_id_document",
    "stored_version",
]
