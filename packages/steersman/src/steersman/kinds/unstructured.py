"""``Unstructured``: an object of any kind, with all its fields in their original order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Self, cast

from steersman.errors import BadValue
from steersman.kinds.declaration import NoResourceType
from steersman.kinds.read_only import unwrapped
from steersman.names import (
    GroupVersionKind,
    ObjectRef,
    ResourceType,
    check_class_kind,
    check_kind,
    check_plural,
    plural_of,
)
from steersman.units import parse_time


class Unstructured:
    """An object of any kind, with all its fields: the only type with which an update is permitted.

    ``body`` is the JSON object itself; treat it as read-only and make changes with ``changed``.

    ``Unstructured.of`` returns a class for a kind without a Python class, for use wherever a
    typed kind can be::

        Widget = Unstructured.of("example.com/v1", "Widget")
        widget = await client.get(Widget, "one", namespace="default")
    """

    __slots__ = ("_body",)

    resource_type: ClassVar[ResourceType] = cast(ResourceType, NoResourceType())

    @staticmethod
    def of(
        api_version: str, kind: str, *, plural: str | None = None, namespaced: bool = True
    ) -> "type[Unstructured]":
        """Return a class for the kind; by default, the plural is derived from the kind."""
        gvk = GroupVersionKind.of(api_version, check_kind(kind))
        if "." not in gvk.group:
            check_class_kind(kind)  # like all built-in kinds
        return Unstructured.at(
            ResourceType(
                gvk=gvk,
                plural=check_plural(plural or plural_of(kind)),
                namespaced=namespaced,
            )
        )

    @staticmethod
    def at(resource_type: ResourceType) -> "type[Unstructured]":
        """Return a class for the kind with the resource type ``resource_type``."""
        return type(
            resource_type.gvk.kind,
            (Unstructured,),
            {"__slots__": (), "resource_type": resource_type, "__doc__": f"{resource_type.gvk}."},
        )

    def __init__(self, body: Mapping[str, Any]) -> None:
        for field in ("apiVersion", "kind"):
            if not isinstance(body.get(field), str):
                raise BadValue(
                    wanted="a Kubernetes object",
                    value=sorted(map(str, body))[:8],
                    rule=f"{field!r} must be a string",
                )
        if not isinstance(body.get("metadata", {}), Mapping):
            raise BadValue(
                wanted="a Kubernetes object",
                value=sorted(map(str, body))[:8],
                rule="'metadata' must be an object",
            )
        self._body = body
        if type(self) is Unstructured:
            return
        gvk = self.resource_type.gvk
        if body["kind"] != gvk.kind or body["apiVersion"] != gvk.api_version:
            raise BadValue(
                wanted=f"an object of {self.resource_type}",
                value=str(self.gvk),
                rule="its kind is another one",
            )

    @property
    def body(self) -> Mapping[str, Any]:
        """The JSON object itself."""
        return self._body

    @property
    def gvk(self) -> GroupVersionKind:
        """The kind of the object."""
        return GroupVersionKind.of(self.body["apiVersion"], self.body["kind"])

    @property
    def metadata(self) -> Mapping[str, Any]:
        """``metadata``; empty if not set."""
        return self.body.get("metadata") or {}

    @property
    def name(self) -> str:
        """``metadata.name``, or ``""`` if it is not set."""
        return str(self.metadata.get("name") or "")

    @property
    def namespace(self) -> str | None:
        """``metadata.namespace``; ``None`` for a cluster-scoped object."""
        return self.metadata.get("namespace") or None

    @property
    def uid(self) -> str:
        """``metadata.uid``, or ``""`` before the server has set it."""
        return str(self.metadata.get("uid") or "")

    @property
    def resource_version(self) -> str:
        """``metadata.resourceVersion``, or ``""`` before the server has set it."""
        return str(self.metadata.get("resourceVersion") or "")

    @property
    def generation(self) -> int:
        """``metadata.generation``, or 0 before the server has set it."""
        return int(self.metadata.get("generation") or 0)

    @property
    def labels(self) -> Mapping[str, str]:
        """``metadata.labels``; empty if not set."""
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """``metadata.annotations``; empty if not set."""
        return self.metadata.get("annotations") or {}

    @property
    def deletion_time(self) -> datetime | None:
        """``metadata.deletionTimestamp``; ``None`` unless the object is being deleted."""
        asked = self.metadata.get("deletionTimestamp")
        return parse_time(asked) if asked else None

    @property
    def ref(self) -> ObjectRef:
        """Return the reference ``Kind namespace/name`` of the object."""
        generated = f"{self.metadata.get('generateName') or ''}*"
        return ObjectRef(self.body["kind"], self.namespace, self.name or generated)

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return the value at ``path``, or ``default`` if there is no such value.

        ``get("spec", "ports", 0, "port")`` returns the port of the first item of ``spec.ports``.
        """
        value: Any = self.body
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def changed(self, *path: str | int, to: Any) -> Self:
        """Return a copy in which the value at ``path`` is ``to``.

        Objects along ``path`` that do not exist are created.
        """
        if not path:
            raise BadValue(wanted="a path", value=path, rule="it must contain at least one step")
        body = unwrapped(self.body)
        place: Any = body
        *way, last = path
        try:
            for step in way:
                place = place.setdefault(step, {}) if isinstance(step, str) else place[step]
            if isinstance(place, list) == isinstance(last, str):
                raise TypeError(last)
            place[last] = unwrapped(to)
        except (AttributeError, LookupError, TypeError) as error:
            raise BadValue(
                wanted=f"a path into {self.ref}",
                value=path,
                rule="each step must be a field of an object, or the index of an existing item of"
                " a list",
            ) from error
        return type(self)(body)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unstructured) and self.body == other.body

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Without the body, which may be a Secret's.
        version = f" at {self.resource_version}" if self.resource_version else ""
        return f"<{self.ref} ({self.body['apiVersion']}){version}>"
