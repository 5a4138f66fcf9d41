"""Discovery as it is answered: by path and by what the caller accepts, each document made once."""

from collections.abc import Iterable, Mapping
from hashlib import sha512

import msgspec

from steersman.apiserver.discovery import documents
from steersman.apiserver.discovery.documents import Document
from steersman.apiserver.discovery.resources import Catalogue, DiscoveredResource
from steersman.apiserver.group_claims import Claim
from steersman.apiserver.refusals import not_acceptable

JSON = "application/json"
AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_PARAMETERS = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
# Those are for people to read.
_LAID_OUT = ("/", "/version")

_NOTHING_ELSE = f"only the following media types are accepted: {JSON}"


class DiscoveryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, ready to be sent."""

    body: bytes
    content_type: str = JSON
    etag: str | None = None  # of an aggregated one, which clients keep

    @property
    def headers(self) -> dict[str, str]:
        """All that the answer needs."""
        if self.etag is None:
            return {"Cache-Control": "no-cache, private", "Content-Type": self.content_type}
        return {
            "Cache-Control": "public",
            "Content-Type": self.content_type,
            "Etag": self.etag,
            "Vary": "Accept",
        }


class Discovery:
    """What is served at one moment; a kind that comes or goes makes a new one."""

    def __init__(
        self,
        resources: Iterable[DiscoveredResource],
        *,
        server_address: str,
        other_paths: Iterable[str] = (),
        claims: Mapping[tuple[str, str], Claim] | None = None,
    ) -> None:
        self._catalogue = Catalogue(resources, claims or {})
        self._server_address = server_address
        self._other_paths = tuple(other_paths)
        self._made: dict[tuple[str, bool], DiscoveryDocument] = {}

    def find(self, path: str, *, accept: str = "") -> DiscoveryDocument | None:
        """The document at ``path``, without a slash at its end; None where there is none."""
        is_aggregated = path in ("/api", "/apis") and wants_aggregated(accept)
        if (made := self._made.get((path, is_aggregated))) is None:
            content = self._aggregated(path) if is_aggregated else self._classic(path)
            if content is None:
                return None
            made = self._made[path, is_aggregated] = _made(
                content, is_aggregated=is_aggregated, laid_out=path in _LAID_OUT
            )
        return made

    def _aggregated(self, path: str) -> Document:
        groups = [""] if path == "/api" else self._catalogue.groups()
        return documents.aggregated(self._catalogue, groups)

    def _classic(self, path: str) -> Document | None:
        match path.split("/")[1:]:
            case [""]:
                return documents.paths(self._catalogue, self._other_paths)
            case ["version"]:
                return documents.version()
            case ["api"]:
                return documents.api_versions(self._server_address)
            case ["api", version]:
                return documents.resource_list(self._catalogue, "", version)
            case ["apis"]:
                return documents.group_list(self._catalogue)
            case ["apis", group]:
                return documents.group(self._catalogue, group)
            case ["apis", group, version] if group:
                return documents.resource_list(self._catalogue, group, version)
            case _:
                return None


def wants_aggregated(accept: str) -> bool:
    """Whether the caller takes the aggregated form; refused if it takes neither."""
    clauses = [_clause(each) for each in accept.split(",") if each.strip()]
    if any(kind == JSON and parameters == _PARAMETERS for kind, parameters in clauses):
        return True
    if clauses and not any(
        kind in (JSON, "application/*", "*/*") and "as" not in parameters
        for kind, parameters in clauses
    ):
        raise not_acceptable(_NOTHING_ELSE)
    return False


def _clause(text: str) -> tuple[str, dict[str, str]]:
    kind, *parameters = (part.strip() for part in text.split(";"))
    pairs = (parameter.partition("=") for parameter in parameters)
    return kind, {name: value for name, _, value in pairs if name not in ("q", "charset")}


def _made(content: Document, *, is_aggregated: bool, laid_out: bool) -> DiscoveryDocument:
    body = msgspec.json.encode(content)
    body = msgspec.json.format(body) if laid_out else body + b"\n"
    if not is_aggregated:
        return DiscoveryDocument(body=body)
    etag = f'"{sha512(body).hexdigest().upper()}"'
    return DiscoveryDocument(body=body, content_type=AGGREGATED, etag=etag)
