"""The served resources in every version, and the registry that contains them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeAlias

import msgspec

from steersman.names import GroupResource, GroupVersionKind
from steersman.units import same_json
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.meta.object_meta import has_standard_finalizers
from steersman_cluster.apiserver.meta.reset_fields import FieldSet, reset_fields
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext
from steersman_cluster.apiserver.meta.table_columns import Printer
from steersman_cluster.apiserver.request.selectors import NOT_KNOWN, NOT_SUPPORTED
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.serializer.canonical import Canonical, Walk

_SHORT_OF_WORDS = frozenset(
    (
        "CertificateSigningRequest",
        "Event",
        "Namespace",
        "Node",
        "Pod",
        "ReplicationController",
        "Secret",
        "Service",
    )
)
_REGISTRIES = {
    "endpoints": "services/endpoints",
    "ingresses": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
_UNSUPPORTED_LABEL_MESSAGES = {
    "Job": 'field label "{}" not supported for Job',
    "ResourceSlice": ("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}"),
}

_NON_CONTENT_FIELDS = frozenset(("apiVersion", "kind", "metadata", "status"))

# The webhook responses that a request has received, by the key of the call. A failed call is a
# response, too.
WebhookResponses: TypeAlias = dict[Hashable, Any]


def _nothing(*_: object) -> None:
    pass


def _same(obj: Object) -> Object:
    return obj


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePaths:
    """The paths of the fields that a kind's scale subresource reads and writes."""

    spec_replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class ServedResource:
    """A resource in one version, with everything that its handlers need."""

    gvk: GroupVersionKind
    plural: str
    singular: str
    list_kind: str
    namespaced: bool
    verbs: frozenset[str]
    schema: Schema
    strategy: Strategy
    stored_as: str  # the log's name of the resource; all versions of a resource share it
    stored_version: str = ""  # empty if the resource has only one version
    custom: bool = False
    is_terminating: bool = False  # whether its definition is terminating, and creates are rejected
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    scale: ScalePaths | None = None
    deprecation: str | None = None
    selectable_paths: tuple[str, ...] = ()  # selectableFields of a custom resource
    printer: Printer | None = None  # of a custom resource: additionalPrinterColumns
    # Conversion between this version and the stored one; most differ only in apiVersion.
    to_stored: Callable[[Object], Object] = _same
    from_stored: Callable[[Object], Object] = _same
    # With webhook conversion: the resource for one request, with the responses that it has.
    for_request: Callable[[WebhookResponses, StrategyContext], "ServedResource"] | None = None
    # With webhook conversion: converts all objects of a response with one call.
    prefetch: Callable[[Iterable[Object]], None] = _nothing
    # Equal for resources whose encoded objects are equal.
    encoding_id: object = field(default_factory=object)

    @cached_property
    def group_resource(self) -> GroupResource:
        """The resource without its version."""
        return GroupResource(self.gvk.group, self.plural)

    @cached_property
    def group_kind(self) -> str:
        """The kind and group in messages, such as ``Deployment.apps``.

        An Event has the same name in both of its groups.
        """
        group = "" if self.gvk.kind == "Event" and not self.custom else self.gvk.group
        return f"{self.gvk.kind}.{group}" if group else self.gvk.kind

    def kind_of(self, subresource: str) -> GroupVersionKind:
        """Return the kind of a subresource's body and response; most have the object's kind."""
        if subresource not in self.subresources:
            return self.gvk
        part = self.subresources[subresource]
        return GroupVersionKind(
            part.get("group", self.gvk.group),
            part.get("version", self.gvk.version),
            part.get("kind", self.gvk.kind),
        )

    @cached_property
    def json_prefix(self) -> bytes:
        """The start of the JSON of each object: kind and apiVersion."""
        head = {"kind": self.gvk.kind, "apiVersion": self.gvk.api_version}
        return msgspec.json.encode(head)[:-1] + b","

    @cached_property
    def empty_fields(self) -> Object:
        """The fields that Go encodes for an empty object; none for a custom resource."""
        if self.custom:
            return {}
        whole: Object = _as_go_writes(self.schema)({})
        empty_fields = {
            name: value
            for name, value in whole.items()
            if name not in ("kind", "apiVersion", "metadata")
        }
        if self.scale is not None:
            # The internal type has an integer; only ReplicationController omits an empty one.
            empty_fields["spec"].pop("replicas", None)
            if self.gvk.group:
                empty_fields["spec"]["replicas"] = 0
        return empty_fields

    @cached_property
    def list_item_prefix(self) -> bytes:
        """The start of the JSON of each item in a list; built-in items omit kind and apiVersion."""
        return self.json_prefix if self.custom else b"{"

    @cached_property
    def storage_prefix(self) -> str:
        """The prefix of the resource's keys in etcd, which some errors contain."""
        if self.custom:
            return f"{self.gvk.group}/{self.plural}"
        return _REGISTRIES.get(self.plural, self.plural)

    @cached_property
    def selectable_fields(self) -> frozenset[str]:
        """The fields that field selectors support."""
        return frozenset(self.strategy.selectable({"metadata": {}, "spec": {}, "status": {}}))

    @cached_property
    def unsupported_field(self) -> str:
        """The error message for a field that selectors of this kind do not support."""
        if self.custom or self.gvk.kind in _SHORT_OF_WORDS:
            return NOT_SUPPORTED
        return _UNSUPPORTED_LABEL_MESSAGES.get(self.gvk.kind, NOT_KNOWN)

    @cached_property
    def status_resets(self) -> FieldSet:
        """The fields that a write of the status never changes."""
        return reset_fields(
            self.group_resource, "status", has_status=self.strategy.has_status, custom=self.custom
        )

    @cached_property
    def has_standard_finalizers(self) -> bool:
        """Whether a finalizer must be well known or contain a domain."""
        return has_standard_finalizers(self.gvk.group, custom=self.custom)

    def validated_form(self, obj: Object) -> Object:
        """Return the object in the version that its strategy validates.

        Strategies of built-in kinds validate the stored version. Each version of a custom resource
        has its own strategy.
        """
        return obj if self.custom else self.to_stored(obj)

    def stored_form(self, obj: Object) -> Object:
        """Return a validated object in the stored version."""
        return self.to_stored(obj) if self.custom else obj

    @cached_property
    def converts_by_webhook(self) -> bool:
        """Whether a webhook converts objects to this version."""
        return self.prefetch is not _nothing

    @cached_property
    def converts(self) -> bool:
        """Whether the served version differs from the stored one."""
        return self.from_stored is not _same

    @cached_property
    def _canonical_status(self) -> Walk | None:
        """The canonical encoder of the status, for kinds whose empty status Go encodes."""
        status = None if self.custom else self.schema.properties.get("status")
        return None if status is None or status.absent is UNSET else _as_go_writes(status)

    def drop_status(self, obj: Object) -> None:
        """Remove from ``obj``, a new object, the status that the client sent."""
        if self._canonical_status is None:
            obj.pop("status", None)
        else:
            obj["status"] = self._canonical_status({})

    def restore_status(self, obj: Object, old: Object) -> None:
        """Replace the status of ``obj`` with that of ``old``.

        A write of the object itself does not change the status.
        """
        if "status" in old:
            obj["status"] = old["status"]
        else:
            obj.pop("status", None)

    def restore_all_but_status(self, obj: Object, old: Object) -> None:
        """Replace the fields of ``obj`` with those of ``old``, except for the status.

        Some metadata is not replaced, either. A write of the status changes only the status.
        """
        for name in [name for name in obj if name not in _NON_CONTENT_FIELDS and name not in old]:
            del obj[name]
        for name, value in old.items():
            if name not in _NON_CONTENT_FIELDS:
                obj[name] = value
        if "f:metadata" in self.status_resets and not self.status_resets["f:metadata"]:
            kept = ("managedFields", "resourceVersion")
            own = {name: obj["metadata"][name] for name in kept if name in obj["metadata"]}
            was = {name: value for name, value in old["metadata"].items() if name not in kept}
            obj["metadata"] = {**was, **own}

    def is_new_generation(self, obj: Object, old: Object) -> bool:
        """Return whether ``obj`` differs from ``old`` in a field that increments the generation."""
        if not self.custom:
            parts = self.strategy.generation_fields
            return any(not same_json(_part(obj, part), _part(old, part)) for part in parts)
        # Without a status subresource, the status is a field like all others.
        excluded = (
            _NON_CONTENT_FIELDS if self.strategy.has_status else _NON_CONTENT_FIELDS - {"status"}
        )
        names = (obj.keys() | old.keys()) - excluded
        return any(not same_json(obj.get(name), old.get(name)) for name in names)

    def place(self, namespace: str, name: str) -> str:
        """Return the key of an object within the log of its resource, such as ``default/web``."""
        return f"{namespace}/{name}" if self.namespaced else name


@cache
def _as_go_writes(schema: Schema) -> Walk:
    """Return the canonical encoder of a built-in type; all servers of a process share it."""
    return Canonical().of(schema)


def _part(obj: Object, path: str) -> Any:
    """Return the value at ``path``, such as ``spec`` or ``metadata.annotations``."""
    for name in path.split("."):
        obj = obj.get(name) or {}
    return obj


class ResourceRegistry:
    """All served resources, by group, version and plural."""

    def __init__(self, builtin: Iterable[ServedResource]) -> None:
        self._builtin = _by_coordinates(builtin)
        self._builtin_versions = _by_resource(self._builtin.values())
        self._custom: dict[str, tuple[ServedResource, ...]] = {}  # by the name of the definition
        self._all, self._versions = self._builtin, self._builtin_versions
        self.claims: Mapping[tuple[str, str], GroupVersionInfo] = {}  # by group and version
        self.revision = 0  # increments at each change, so that derived documents can be cached

    def find(self, group: str, version: str, plural: str) -> ServedResource | None:
        """Return the resource; None if it is not served."""
        return self._all.get((group, version, plural))

    def versions(self, resource: GroupResource) -> list[ServedResource]:
        """Return a resource in each served version."""
        return self._versions.get(resource, [])

    def is_builtin(self, group: str) -> bool:
        """Return whether Kubernetes itself defines the API group."""
        return any(each == group for each, _, _ in self._builtin)

    def is_remote(self, group: str, version: str) -> bool:
        """Return whether another server serves the group version."""
        claim = self.claims.get((group, version))
        return claim is not None and claim.remote

    def defined(self) -> set[tuple[str, str]]:
        """Return all API group versions of CRDs, including those that another server serves."""
        served = (each for versions in self._custom.values() for each in versions)
        return {(each.gvk.group, each.gvk.version) for each in served}

    def groups(self) -> frozenset[str]:
        """Return all API groups with a served resource."""
        return frozenset(group for group, _, _ in self._all)

    def __iter__(self) -> Iterator[ServedResource]:
        return iter(self._all.values())

    def define(self, definition: str, served: Iterable[ServedResource]) -> None:
        """Replace the served resources of the CRD with the name ``definition``.

        If ``served`` is empty, the CRD has no served resources afterwards.
        """
        self._custom[definition] = tuple(served)
        if not self._custom[definition]:
            del self._custom[definition]
        self._rebuild()

    def claim(self, claims: Mapping[tuple[str, str], GroupVersionInfo]) -> None:
        """Set the API group versions that APIServices register.

        If the APIService of a group version refers to another server, this server does not serve
        the custom resources of the group version.
        """
        if claims != self.claims:
            self.claims = claims
            self._rebuild()

    def _rebuild(self) -> None:
        custom = _by_coordinates(
            each
            for versions in self._custom.values()
            for each in versions
            if not self.is_remote(each.gvk.group, each.gvk.version)
        )
        # Built-in resources take precedence over definitions.
        self._all = custom | self._builtin
        defined = _by_resource([custom[each] for each in custom if each not in self._builtin])
        own = self._builtin_versions
        self._versions = own | {each: defined[each] + own.get(each, []) for each in defined}
        self.revision += 1


def _by_resource(served: Iterable[ServedResource]) -> dict[GroupResource, list[ServedResource]]:
    found: dict[GroupResource, list[ServedResource]] = {}
    for each in served:
        found.setdefault(each.group_resource, []).append(each)
    return found


def _by_coordinates(served: Iterable[ServedResource]) -> dict[tuple[str, str, str], ServedResource]:
    return {(each.gvk.group, each.gvk.version, each.plural): each for each in served}
