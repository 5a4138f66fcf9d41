"""Discovery and OpenAPI documents of the built-in kinds and a custom Zebra."""

from typing import Any

import msgspec

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.discovery import (
    DiscoveredResource,
    DiscoveredSubresource,
    Discovery,
    DiscoveryDocument,
    OpenApi,
    OpenApiDocument,
    discovered_builtin,
)
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas

SCHEMAS = BuiltinSchemas.read()
BUILTIN = [discovered_builtin(each) for each in SCHEMAS.resources]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

ZOO = "zoo.example.com"
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
PART_VERBS = ("get", "patch", "update")


def custom(kind: str = "Zebra", plural: str = "zebras", version: str = "v1") -> DiscoveredResource:
    """Return a custom kind, stored as v1."""
    gvk = GroupVersionKind(ZOO, version, kind)
    return DiscoveredResource(
        gvk=gvk,
        plural=plural,
        singular=kind.lower(),
        namespaced=True,
        verbs=CUSTOM_VERBS,
        short_names=("zb",),
        categories=("all",),
        subresources=(
            DiscoveredSubresource(name="status", gvk=gvk, verbs=PART_VERBS),
            DiscoveredSubresource(name="scale", gvk=SCALE, verbs=PART_VERBS),
        ),
        stored_as=GroupVersionKind(ZOO, "v1", kind),
        custom=True,
    )


def discovery(*resources: DiscoveredResource) -> Discovery:
    """Return the discovery of the built-in kinds and ``resources``."""
    return Discovery(
        [*BUILTIN, *resources], server_address="127.0.0.1:6443", other_paths=["/healthz"]
    )


def open_api(schemas: dict[DiscoveredResource, Any] | None = None) -> OpenApi:
    """Return the OpenAPI documents of the built-in kinds and ``schemas``."""
    documents = OpenApi(SCHEMAS.written)
    found = schemas or {}
    documents.serve([*BUILTIN, *found], {each.gvk: schema for each, schema in found.items()})
    return documents


def content(document: DiscoveryDocument | OpenApiDocument | None) -> Any:
    """Return the decoded body of a document."""
    assert document is not None
    return msgspec.json.decode(document.body)
