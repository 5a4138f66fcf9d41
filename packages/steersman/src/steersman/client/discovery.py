"""Discovery: every kind that the server serves, with its path and its verbs."""

from collections.abc import AsyncIterator, Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

import msgspec

from steersman.client.request.request_sender import RequestSender
from steersman.client.request.request_spec import RequestSpec
from steersman.errors import InvalidResponse, NotFound, ServerFailed, UnknownKind
from steersman.kinds import Unstructured
from steersman.names import GroupVersionKind, ObjectRef, ResourceType, split_api_version

D = TypeVar("D")

# One response for all groups if the server supports it (1.27 and later), otherwise one per version.
_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)


class ServedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that the API server serves, as discovery describes it."""

    resource_type: ResourceType
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()


class Discovery(msgspec.Struct, frozen=True):
    """Every resource that the API server serves; preferred API versions come first.

    ``stale`` contains group versions, such as ``metrics.k8s.io/v1``, whose resources are currently
    unknown because their aggregated API server does not respond.
    """

    resources: tuple[ServedResource, ...]
    stale: tuple[str, ...] = ()

    def of_kind(self, api_version: str, kind: str) -> ServedResource | None:
        """Return the resource of ``api_version`` and ``kind``; ``None`` if it is not served."""
        gvk = GroupVersionKind.of(api_version, kind)
        return next((each for each in self.resources if each.resource_type.gvk == gvk), None)

    def named(self, word: str) -> ServedResource | None:
        """Return the resource that ``kubectl get WORD`` would show.

        ``word`` is a plural, a singular, a short name or a kind. To choose one of several matching
        resources, append ``.group`` or ``.version.group``.
        """
        name, _, rest = word.lower().partition(".")
        if not name:
            return None
        for each in self.resources:
            gvk = each.resource_type.gvk
            places = {"", gvk.group, f"{gvk.version}.{gvk.group}".rstrip(".")}
            words = {each.resource_type.plural, each.singular, gvk.kind.lower(), *each.short_names}
            if name in words and rest in places:
                return each
        return None

    def class_of(self, api_version: str, kind: str) -> type[Unstructured]:
        """Return a class for ``api_version`` and ``kind``, to pass to a client's methods."""
        found = self.of_kind(api_version, kind)
        if found is None:
            raise UnknownKind(
                kind=f"{api_version} {kind}",
                missing_from="the API server",
                what_now="Install its CRD or API service, or correct the version.",
            )
        return Unstructured.at(found.resource_type)


async def discover(sender: RequestSender) -> Discovery:
    """Request the discovery documents, and return every kind that the API server serves."""
    resources: list[ServedResource] = []
    stale: list[str] = []
    for root in ("/api", "/apis"):
        body = await sender.body(_asking_for(root, _AGGREGATED))
        read = _read(root, body)
        if read is None:
            resources.extend([each async for each in _one_by_one(sender, root, body, stale)])
        else:
            resources.extend(read.resources)
            stale.extend(read.stale)
    return Discovery(tuple(resources), tuple(stale))


# A repeated discovery usually gets the same response, and decoding takes longer than the request.
@lru_cache(maxsize=4)
def _read(root: str, body: bytes) -> Discovery | None:
    """Return the content of an aggregated discovery response; ``None`` if it has the older form."""
    page = _decoded(_AGGREGATED_LIST, body, root)
    match page.kind:
        case "APIGroupDiscoveryList":
            return Discovery(tuple(_aggregated(page)), tuple(_stale(page)))
        case "APIVersions" | "APIGroupList":
            return None
        case _:
            raise _unreadable(root, "its kind is unknown")


def _asking_for(path: str, accept: str = "application/json") -> RequestSpec:
    return RequestSpec(
        verb="discover",
        method="GET",
        path=path,
        ref=ObjectRef("resources", None, f"under {path}"),
        resource="discovery",
        accept=accept,
        limit_bytes=64 * 1024 * 1024,
    )


# The aggregated form, which has all groups in one response


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Subresource(msgspec.Struct):
    subresource: str


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    scope: str = ""
    response_kind: _Kind | None = None
    singular_resource: str = ""
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    subresources: tuple[_Subresource, ...] | None = None


class _Version(msgspec.Struct):
    version: str
    freshness: str = ""
    resources: tuple[_Resource, ...] | None = None


class _ObjectName(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _ObjectName = msgspec.field(default_factory=_ObjectName)
    versions: tuple[_Version, ...] | None = None


class _GroupList(msgspec.Struct):
    kind: str
    items: tuple[_Group, ...] | None = None


_AGGREGATED_LIST = msgspec.json.Decoder(_GroupList)


def _aggregated(page: _GroupList) -> Iterator[ServedResource]:
    for group in page.items or ():
        for version in group.versions or ():
            for each in version.resources or ():
                if each.response_kind is not None and each.response_kind.kind:
                    yield ServedResource(
                        resource_type=ResourceType(
                            gvk=GroupVersionKind(
                                group.metadata.name, version.version, each.response_kind.kind
                            ),
                            plural=each.resource,
                            namespaced=each.scope == "Namespaced",
                        ),
                        singular=each.singular_resource,
                        short_names=each.short_names or (),
                        categories=each.categories or (),
                        verbs=each.verbs or (),
                        subresources=tuple(s.subresource for s in each.subresources or ()),
                    )


def _stale(page: _GroupList) -> Iterator[str]:
    for group in page.items or ():
        for version in group.versions or ():
            if version.freshness == "Stale":
                yield f"{group.metadata.name}/{version.version}"


# The older form: one response for each group and version


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str


class _OldGroup(msgspec.Struct, rename="camel"):
    versions: tuple[_GroupVersion, ...] | None = None
    preferred_version: _GroupVersion | None = None


class _OldRoot(msgspec.Struct):
    versions: tuple[str, ...] | None = None
    groups: tuple[_OldGroup, ...] | None = None


class _OldResource(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool = False
    singular_name: str = ""
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None


class _OldResources(msgspec.Struct):
    resources: tuple[_OldResource, ...] | None = None


_OLD_ROOT = msgspec.json.Decoder(_OldRoot)
_OLD_RESOURCES = msgspec.json.Decoder(_OldResources)


async def _one_by_one(
    sender: RequestSender, root: str, body: bytes, stale: list[str]
) -> AsyncIterator[ServedResource]:
    for api_version in _versions_in(_decoded(_OLD_ROOT, body, root)):
        path = f"{root}/{api_version}"
        try:
            answer = await sender.body(_asking_for(path))
        except (NotFound, ServerFailed):
            # The server of an aggregated API is unavailable; the other groups are still usable.
            stale.append(api_version)
            continue
        for each in _old_resources(api_version, _decoded(_OLD_RESOURCES, answer, path)):
            yield each


def _versions_in(root: _OldRoot) -> Iterator[str]:
    yield from root.versions or ()
    for group in root.groups or ():
        versions = [each.group_version for each in group.versions or ()]
        preferred = group.preferred_version.group_version if group.preferred_version else ""
        yield from sorted(versions, key=lambda version: version != preferred)


def _old_resources(api_version: str, answer: _OldResources) -> Iterator[ServedResource]:
    group, version = split_api_version(api_version)
    all_of_them = answer.resources or ()
    for each in all_of_them:
        if "/" not in each.name:
            yield ServedResource(
                resource_type=ResourceType(
                    gvk=GroupVersionKind(group, version, each.kind),
                    plural=each.name,
                    namespaced=each.namespaced,
                ),
                singular=each.singular_name,
                short_names=each.short_names or (),
                categories=each.categories or (),
                verbs=each.verbs or (),
                subresources=tuple(_subresources_of(each.name, all_of_them)),
            )


def _subresources_of(plural: str, resources: Iterable[_OldResource]) -> Iterator[str]:
    for each in resources:
        parent, slash, subresource = each.name.partition("/")
        if slash and parent == plural:
            yield subresource


def _decoded(decoder: msgspec.json.Decoder[D], body: bytes, path: str) -> D:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: str, why: str) -> InvalidResponse:
    return InvalidResponse(
        wanted=f"discover resources under {path}",
        problem=f"the response is not a discovery document ({why})",
        what_now="Check that the address is an API server's, and that no proxy is in between.",
    )
