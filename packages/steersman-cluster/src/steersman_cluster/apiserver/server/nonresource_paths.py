"""The non-resource paths: health, version, discovery and OpenAPI."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

from steersman.names import GroupVersionKind
from steersman.wire import Reply, Request
from steersman_cluster.apiserver.authn import ServiceAccountTokens
from steersman_cluster.apiserver.discovery import (
    OPEN_ID_PATHS,
    SELECTABLE,
    DiscoveredResource,
    DiscoveredSubresource,
    Discovery,
    OpenApi,
    Swagger,
    installed_descriptions,
    open_id_document,
    stored_version,
)
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.registry.builtin_resources import builtin_resources
from steersman_cluster.apiserver.registry.dispatcher import not_allowed
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.negotiation import header
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.server.health import CHECKS, HEALTH, health

Claims: TypeAlias = tuple[tuple[tuple[str, str], GroupVersionInfo], ...]

SWAGGER = "/openapi/v2"
OPEN_API = "/openapi/v3/"
OTHER_PATHS = (
    *OPEN_ID_PATHS,
    *HEALTH,
    *(f"/{name}/{check}" for name, checks in CHECKS.items() for check in checks),
    SWAGGER,
    "/metrics",
    "/openapi/v3",
    "/openapi/v3/",
)

# In kube-apiserver's order.
CUSTOM_VERBS = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)


class NonResourcePaths:
    """The replies for health, version, discovery and OpenAPI paths.

    Documents about the served resources are created when they are first requested.
    """

    def __init__(
        self,
        registry: ResourceRegistry,
        schemas: BuiltinSchemas,
        *,
        account_tokens: ServiceAccountTokens,
        server_address: str,
    ) -> None:
        self._registry = registry
        self._schemas = schemas
        self._account_tokens = account_tokens
        self._server_address = server_address
        self._open_api = OpenApi(schemas.written, find_descriptions=installed_descriptions)
        self._swagger = Swagger(self._open_api)
        self._unwritten: Sequence[DiscoveredResource] | None = None
        self._revision = -1
        self._discovery = Discovery((), server_address=server_address)

    def handle(self, request: Request, info: RequestInfo) -> Reply:
        """Return the reply for the non-resource path in ``info``."""
        path = info.path
        if not path.startswith("/openapi/"):
            path = path.rstrip("/") or "/"
        if path.startswith(HEALTH):
            return health(info)
        self._catch_up()
        found = self._found(request, path, hashed=bool(info.option("hash")))
        if found is None:
            return self._nothing_at(path)
        if request.method not in ("GET", "HEAD"):
            raise not_allowed()
        headers, body = found
        if (wanted := info.option("hash")) and "Etag" in headers and path.startswith(OPEN_API):
            etag = headers["Etag"].strip('"')
            if wanted != etag:
                return _moved(f"{path}?hash={etag}", headers)
        lower = tuple((name.lower(), value) for name, value in headers.items())
        if "Etag" in headers and header(request, "If-None-Match") == headers["Etag"]:
            return Reply(status=304, headers=lower)
        return Reply(status=200, headers=lower, body=body)

    def _found(
        self, request: Request, path: str, *, hashed: bool
    ) -> tuple[Mapping[str, str], bytes] | None:
        accept = header(request, "Accept")
        if path in OPEN_ID_PATHS:
            return self._open_id(path, accept)
        if path.startswith("/openapi/"):
            self._write_open_api()
            is_swagger = path == SWAGGER
            document = (
                self._swagger.find(accept)
                if is_swagger
                else self._open_api.find(path, accept=accept)
            )
            return None if document is None else (document.headers(hashed=hashed), document.body)
        found = self._discovery.find(path, accept=accept)
        return None if found is None else (found.headers, found.body)

    def _open_id(self, path: str, accept: str) -> tuple[Mapping[str, str], bytes]:
        tokens = self._account_tokens
        document = open_id_document(
            path,
            accept=accept,
            issuer=tokens.issuer,
            keys=[each.json_web_key() for each in tokens.known_keys()],
            server_address=self._server_address,
        )
        return document.headers, document.body

    def _nothing_at(self, path: str) -> Reply:
        if path == SWAGGER or self._open_api.find(path) is not None:
            # The document exists, but not in a media type that the client accepts.
            headers = (("cache-control", "no-cache, private"), ("vary", "Accept"))
            return Reply(status=406, headers=headers)
        if path.startswith(OPEN_API):
            return Reply(status=404, headers=(("cache-control", "no-cache, private"),))
        if path.startswith("/api/"):
            raise status_errors.no_such_path()
        parts = path.split("/")
        if len(parts) > 3 and parts[1] == "apis":
            if self._registry.is_remote(*parts[2:4]):
                return replies.unavailable()
            if self._registry.is_builtin(parts[2]):
                raise status_errors.no_such_path()
        return replies.path_not_found()

    def _catch_up(self) -> None:
        if self._revision == self._registry.revision:
            return
        registry = self._registry
        self._revision = registry.revision
        self._unwritten, self._discovery = _discovery(
            self._schemas,
            tuple([_discovered(each) for each in registry if each.custom]),
            self._server_address,
            tuple(registry.claims.items()),
        )

    def _write_open_api(self) -> None:
        """Create the OpenAPI documents if the resources have changed since the last call.

        This runs at a request for OpenAPI, because most clients read only discovery.
        """
        if self._unwritten is not None:
            custom = {each.gvk: _published(each) for each in self._registry if each.custom}
            self._open_api.serve(self._unwritten, custom)
            self._swagger = Swagger(self._open_api)
            self._unwritten = None


def _moved(location: str, headers: Mapping[str, str]) -> Reply:
    """Return a redirect to ``location``: the hash in the request's URL is outdated."""
    kept = tuple((name.lower(), value) for name, value in headers.items())
    others = tuple(each for each in kept if each[0] != "cache-control")
    own = (("cache-control", "no-cache, private"), ("location", location))
    return Reply(status=301, headers=(*own, *others))


def _published(served: ServedResource) -> Mapping[str, Any]:
    """Return the schema of a custom kind, with its selectable fields."""
    written = served.schema.written
    if not served.selectable_paths:
        return written
    fields = [{"fieldPath": path} for path in served.selectable_paths]
    return {**written, SELECTABLE: fields}


# All servers of a process have the same built-in resources, and those of tests often the same
# custom ones.
@lru_cache(maxsize=8)
def _discovery(
    schemas: BuiltinSchemas,
    custom: tuple[DiscoveredResource, ...],
    server_address: str,
    claims: Claims,
) -> tuple[Sequence[DiscoveredResource], Discovery]:
    resources = (*custom, *_builtin(schemas))
    discovery = Discovery(
        resources,
        server_address=server_address,
        other_paths=OTHER_PATHS,
        claims=dict(claims),
    )
    return resources, discovery


@cache
def _builtin(schemas: BuiltinSchemas) -> tuple[DiscoveredResource, ...]:
    return tuple([_discovered(each) for each in builtin_resources(schemas, {})])


def _discovered(served: ServedResource) -> DiscoveredResource:
    return DiscoveredResource(
        gvk=served.gvk,
        plural=served.plural,
        singular=served.singular,
        namespaced=served.namespaced,
        verbs=CUSTOM_VERBS if served.custom else tuple(sorted(served.verbs)),
        short_names=served.short_names,
        categories=served.categories,
        subresources=tuple(
            DiscoveredSubresource(
                name=name,
                gvk=GroupVersionKind(
                    found.get("group", served.gvk.group),
                    found.get("version", served.gvk.version),
                    found["kind"],
                ),
                verbs=tuple(found["verbs"]),
            )
            for name, found in served.subresources.items()
        ),
        stored_as=_stored_as(served),
        custom=served.custom,
    )


def _stored_as(served: ServedResource) -> GroupVersionKind | None:
    if "delete" not in served.verbs:
        return None  # reviews and bindings are not stored
    if served.stored_version:
        return GroupVersionKind(served.gvk.group, served.stored_version, served.gvk.kind)
    return stored_version(served.gvk)
