"""Discovery responses by path and accepted media type; each document is created once."""

from collections.abc import Iterable, Mapping
from hashlib import sha512

import msgspec
import yaml

from steersman_cluster.apiserver.discovery import group_documents
from steersman_cluster.apiserver.discovery.aggregated_messages import encode_aggregated
from steersman_cluster.apiserver.discovery.discovered_resources import (
    DiscoveredResource,
    DiscoveryCatalog,
)
from steersman_cluster.apiserver.discovery.group_documents import Document
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.request.negotiation import (
    BUILTIN_MEDIA_TYPES,
    JSON,
    YAML,
    check_route,
    document_language,
    language_of_form,
)
from steersman_cluster.apiserver.request.protobuf_responses import encode_document
from steersman_cluster.apiserver.schema.protobuf.messages import PROTOBUF

_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
# These documents are indented.
_INDENTED = ("/", "/version")


class DiscoveryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A discovery response, ready to send."""

    body: bytes
    content_type: str = JSON
    etag: str | None = None  # of an aggregated document, which clients cache

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        if self.etag is None:
            return {"Cache-Control": "no-cache, private", "Content-Type": self.content_type}
        return {
            "Cache-Control": "public",
            "Content-Type": self.content_type,
            "Etag": self.etag,
            "Vary": "Accept",
        }


class Discovery:
    """The discovery documents for a fixed set of resources.

    For a changed set of resources, create a new instance.
    """

    def __init__(
        self,
        resources: Iterable[DiscoveredResource],
        *,
        server_address: str,
        other_paths: Iterable[str] = (),
        claims: Mapping[tuple[str, str], GroupVersionInfo] | None = None,
    ) -> None:
        self._catalog = DiscoveryCatalog(resources, claims or {})
        self._server_address = server_address
        self._other_paths = tuple(other_paths)
        self._made: dict[tuple[str, bool, str], DiscoveryDocument] = {}

    def find(self, path: str, *, accept: str = "") -> DiscoveryDocument | None:
        """Return the discovery document at ``path``, or None if there is none.

        ``path`` has no trailing slash. ``accept`` is the request's Accept header.
        """
        language = language_of_form(accept, _AGGREGATED) if path in ("/api", "/apis") else ""
        is_aggregated = language != ""
        # A shortcut: clients request the same documents repeatedly, nearly always as JSON.
        if not is_aggregated and accept in ("", JSON):
            language = JSON
        if (made := self._made.get((path, is_aggregated, language))) is not None:
            return made
        content = self._aggregated(path) if is_aggregated else self._classic(path)
        if content is None:
            return None
        language = language or self._language(path, accept)
        made = self._made[path, is_aggregated, language] = _made(
            content, language, is_aggregated=is_aggregated, indented=path in _INDENTED
        )
        return made

    def _language(self, path: str, accept: str) -> str:
        match path.split("/")[1:]:
            case [""]:
                return JSON
            case ["version"]:
                check_route(accept, (JSON,))
                return JSON
            case ["api", *_]:
                check_route(accept, BUILTIN_MEDIA_TYPES)
            case ["apis", group, version]:
                if not any(each.custom for each in self._catalog.resources(group, version)):
                    check_route(accept, BUILTIN_MEDIA_TYPES)
            case _:
                pass
        return document_language(accept)

    def _aggregated(self, path: str) -> Document:
        groups = [""] if path == "/api" else self._catalog.groups()
        return group_documents.aggregated(self._catalog, groups)

    def _classic(self, path: str) -> Document | None:
        match path.split("/")[1:]:
            case [""]:
                return group_documents.paths(self._catalog, self._other_paths)
            case ["version"]:
                return group_documents.version()
            case ["api"]:
                return group_documents.api_versions(self._server_address)
            case ["api", version]:
                return group_documents.resource_list(self._catalog, "", version)
            case ["apis"]:
                return group_documents.group_list(self._catalog)
            case ["apis", group]:
                return group_documents.group(self._catalog, group)
            case ["apis", group, version] if group:
                return group_documents.resource_list(self._catalog, group, version)
            case _:
                return None


def _made(
    content: Document, language: str, *, is_aggregated: bool, indented: bool
) -> DiscoveryDocument:
    body = msgspec.json.encode(content)
    # The ETag does not depend on the media type.
    etag = f'"{sha512(body).hexdigest().upper()}"' if is_aggregated else None
    content_type = language
    if is_aggregated:
        content_type += "".join(f";{key}={value}" for key, value in _AGGREGATED.items())
    if language == PROTOBUF:
        body = encode_aggregated(content) if is_aggregated else encode_document(content)
    elif language == YAML:
        body = yaml.safe_dump(msgspec.json.decode(body), allow_unicode=True).encode()
    else:
        body = msgspec.json.format(body) if indented else body + b"\n"
    return DiscoveryDocument(body=body, content_type=content_type, etag=etag)
