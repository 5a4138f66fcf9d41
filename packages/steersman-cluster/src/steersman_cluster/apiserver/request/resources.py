"""What the server serves: every resource, in every version, and where its objects are kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import msgspec

from steersman.names import GroupResource, GroupVersionKind
from steersman.units import same_json
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.meta.object_meta import has_standard_finalizers
from steersman_cluster.apiserver.meta.reset_fields import FieldSet, reset_fields
from steersman_cluster.apiserver.meta.rules import Object, RuleContext, Rules
from steersman_cluster.apiserver.meta.table_columns import Printer
from steersman_cluster.apiserver.request.selectors import NOT_KNOWN, NOT_SUPPORTED
from steersman_cluster.apiserver.request.webhook_answers import WebhookAnswers
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
_OWN_WORDS = {
    "Job": 'field label "{}" not supported for Job',
    "ResourceSlice": ("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}"),
}

_APART = frozenset(("apiVersion", "kind", "metadata", "status"))


def _nothing(*_: object) -> None:
    pass


def _same(obj: Object) -> Object:
    return obj


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePaths:
    """Where a kind keeps what its scale subresource shows."""

    spec_replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class ServedResource:
    """One resource in one version: all that answering a request about it takes."""

    gvk: GroupVersionKind
    plural: str
    singular: str
    list_kind: str
    namespaced: bool
    verbs: frozenset[str]
    schema: Schema
    rules: Rules
    stored_as: str  # under which name its objects are kept; versions of one resource share it
    stored_version: str = ""  # in which version, if not in the only one there is
    custom: bool = False
    ending: bool = False  # its definition is being deleted, and takes nothing new
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    scale: ScalePaths | None = None
    deprecation: str | None = None
    selectable_paths: tuple[str, ...] = ()  # of a custom resource: what its definition names
    printer: Printer | None = None  # of a custom resource, whose tables are as it is defined
    # Between this version and the one that is kept; most differ in nothing but apiVersion.
    to_stored: Callable[[Object], Object] = _same
    from_stored: Callable[[Object], Object] = _same
    # Of versions that a webhook converts: the same for one request, with what it knows.
    for_request: Callable[[WebhookAnswers, RuleContext], "ServedResource"] | None = None
    # Then, what is about to be shown, so that the webhook can be asked about all of it at once.
    prefetch: Callable[[Iterable[Object]], None] = _nothing
    mark: object = field(default_factory=object)  # the same for all that show objects alike

    @cached_property
    def group_resource(self) -> GroupResource:
        """The resource, whatever the version."""
        return GroupResource(self.gvk.group, self.plural)

    @cached_property
    def group_kind(self) -> str:
        """As messages have it: ``Deployment.apps``; an Event is the same in both its groups."""
        group = "" if self.gvk.kind == "Event" and not self.custom else self.gvk.group
        return f"{self.gvk.kind}.{group}" if group else self.gvk.kind

    def kind_of(self, subresource: str) -> GroupVersionKind:
        """What is sent to a subresource and answered by it; most of them show the whole object."""
        if subresource not in self.subresources:
            return self.gvk
        part = self.subresources[subresource]
        return GroupVersionKind(
            part.get("group", self.gvk.group),
            part.get("version", self.gvk.version),
            part.get("kind", self.gvk.kind),
        )

    @cached_property
    def opening(self) -> bytes:
        """How each object begins: kind and apiVersion, up to the first field after them."""
        head = {"kind": self.gvk.kind, "apiVersion": self.gvk.api_version}
        return msgspec.json.encode(head)[:-1] + b","

    @cached_property
    def blank(self) -> Object:
        """What Go writes of an object of which nothing is known; nothing of a custom resource."""
        if self.custom:
            return {}
        whole: Object = _as_go_writes(self.schema)({})
        blank = {
            name: value
            for name, value in whole.items()
            if name not in ("kind", "apiVersion", "metadata")
        }
        if self.scale is not None:
            # The server keeps a number; one of these kinds has it back as nothing.
            blank["spec"].pop("replicas", None)
            if self.gvk.group:
                blank["spec"]["replicas"] = 0
        return blank

    @cached_property
    def list_opening(self) -> bytes:
        """How each object in a list begins: built-in ones leave out what the list says anyway."""
        return self.opening if self.custom else b"{"

    @cached_property
    def registry(self) -> str:
        """Where etcd would have its objects; some refusals tell it."""
        if self.custom:
            return f"{self.gvk.group}/{self.plural}"
        return _REGISTRIES.get(self.plural, self.plural)

    @cached_property
    def selectable_fields(self) -> frozenset[str]:
        """What field selectors may name."""
        return frozenset(self.rules.selectable({"metadata": {}, "spec": {}, "status": {}}))

    @cached_property
    def unsupported_field(self) -> str:
        """What is said of other fields; each kind has its own words for it."""
        if self.custom or self.gvk.kind in _SHORT_OF_WORDS:
            return NOT_SUPPORTED
        return _OWN_WORDS.get(self.gvk.kind, NOT_KNOWN)

    @cached_property
    def status_resets(self) -> FieldSet:
        """What a write of the status never changes."""
        return reset_fields(
            self.group_resource, "status", has_status=self.rules.has_status, custom=self.custom
        )

    @cached_property
    def has_standard_finalizers(self) -> bool:
        """Whether a finalizer must be well known, or name a domain."""
        return has_standard_finalizers(self.gvk.group, custom=self.custom)

    def ruled(self, obj: Object) -> Object:
        """The object in the form in which its rules are about it.

        Those of built-in kinds are about what is kept, those of a custom resource about its
        version: each has its own.
        """
        return obj if self.custom else self.to_stored(obj)

    def finished(self, obj: Object) -> Object:
        """What is kept of an object that follows its rules."""
        return self.to_stored(obj) if self.custom else obj

    @cached_property
    def converts_by_webhook(self) -> bool:
        """Whether a webhook converts what is shown."""
        return self.prefetch is not _nothing

    @cached_property
    def converts(self) -> bool:
        """Whether objects look different here from how they are kept."""
        return self.from_stored is not _same

    @cached_property
    def _canonical_status(self) -> Walk | None:
        """What writes a status as Go would, if it is written even where there is nothing in it."""
        status = None if self.custom else self.schema.properties.get("status")
        return None if status is None or status.absent is UNSET else _as_go_writes(status)

    def forget_status(self, obj: Object) -> None:
        """A new object has no status yet, whatever its author thinks."""
        if self._canonical_status is None:
            obj.pop("status", None)
        else:
            obj["status"] = self._canonical_status({})

    def keep_status(self, obj: Object, old: Object) -> None:
        """A write of the object leaves its status alone."""
        if "status" in old:
            obj["status"] = old["status"]
        else:
            obj.pop("status", None)

    def keep_all_but_status(self, obj: Object, old: Object) -> None:
        """A write of the status leaves the rest alone; the metadata has rules of its own."""
        for name in [name for name in obj if name not in _APART and name not in old]:
            del obj[name]
        for name, value in old.items():
            if name not in _APART:
                obj[name] = value
        if "f:metadata" in self.status_resets and not self.status_resets["f:metadata"]:
            kept = ("managedFields", "resourceVersion")
            own = {name: obj["metadata"][name] for name in kept if name in obj["metadata"]}
            was = {name: value for name, value in old["metadata"].items() if name not in kept}
            obj["metadata"] = {**was, **own}

    def is_new_generation(self, obj: Object, old: Object) -> bool:
        """Whether what the author wants has changed."""
        if not self.custom:
            parts = self.rules.generation_of
            return any(not same_json(_part(obj, part), _part(old, part)) for part in parts)
        # A status without a subresource of its own is the author's like everything else.
        apart = _APART if self.rules.has_status else _APART - {"status"}
        names = (obj.keys() | old.keys()) - apart
        return any(not same_json(obj.get(name), old.get(name)) for name in names)

    def place(self, namespace: str, name: str) -> str:
        """Where an object of this resource is kept among its like."""
        return f"{namespace}/{name}" if self.namespaced else name


@cache
def _as_go_writes(schema: Schema) -> Walk:
    """What writes a built-in type as Go does: the same for all servers of a process."""
    return Canonical().of(schema)


def _part(obj: Object, path: str) -> Any:
    """What stands at ``path``, such as ``spec`` or ``metadata.annotations``."""
    for name in path.split("."):
        obj = obj.get(name) or {}
    return obj


class ResourceRegistry:
    """Everything that is served, by group, version and plural; custom resources come and go."""

    def __init__(self, builtin: Iterable[ServedResource]) -> None:
        self._builtin = _by_coordinates(builtin)
        self._builtin_versions = _by_resource(self._builtin.values())
        self._custom: dict[str, tuple[ServedResource, ...]] = {}  # by the name of the definition
        self._all, self._versions = self._builtin, self._builtin_versions
        self.claims: Mapping[tuple[str, str], GroupVersionInfo] = {}  # by group and version
        self.revision = 0  # of the registry itself: what is derived from it is then out of date

    def find(self, group: str, version: str, plural: str) -> ServedResource | None:
        """What is served under that path."""
        return self._all.get((group, version, plural))

    def versions(self, resource: GroupResource) -> list[ServedResource]:
        """A resource in each version that is served."""
        return self._versions.get(resource, [])

    def is_builtin(self, group: str) -> bool:
        """Whether the group is the server's own, which answers for all of its versions."""
        return any(each == group for each, _, _ in self._builtin)

    def is_remote(self, group: str, version: str) -> bool:
        """Whether another server answers for that version."""
        claim = self.claims.get((group, version))
        return claim is not None and claim.remote

    def defined(self) -> set[tuple[str, str]]:
        """Every group and version that a definition names, even if another server serves it."""
        served = (each for versions in self._custom.values() for each in versions)
        return {(each.gvk.group, each.gvk.version) for each in served}

    def groups(self) -> frozenset[str]:
        """Every group of which something is served."""
        return frozenset(group for group, _, _ in self._all)

    def __iter__(self) -> Iterator[ServedResource]:
        return iter(self._all.values())

    def define(self, definition: str, served: Iterable[ServedResource]) -> None:
        """Serve what a definition says, in place of what it said before; nothing: no longer."""
        self._custom[definition] = tuple(served)
        if not self._custom[definition]:
            del self._custom[definition]
        self._put_together()

    def claim(self, claims: Mapping[tuple[str, str], GroupVersionInfo]) -> None:
        """Leave group versions to other servers; their definitions here are then not served."""
        if claims != self.claims:
            self.claims = claims
            self._put_together()

    def _put_together(self) -> None:
        custom = _by_coordinates(
            each
            for versions in self._custom.values()
            for each in versions
            if not self.is_remote(each.gvk.group, each.gvk.version)
        )
        # A definition never hides a resource of the server's own.
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
