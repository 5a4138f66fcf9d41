"""The documents that describe the API: which kinds the server serves, and their schemas.

Takes:     resources and their schemas; the descriptions of fields, from an optional package
Gives:     the documents that clients read: discovery, classic and aggregated, OpenAPI v2
           and v3, and the location of the token signing keys
Promises:  - a document is created once, when it is first requested
           - an etag changes exactly when its document does
           - groups and versions are listed in order of preference
           - every reference in a document has a schema in the same document
Never:     depends on the user who sent a request, or on stored objects
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
