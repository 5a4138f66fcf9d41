"""The bodies of applies: the author's fields without those that the server sets. Pure.

An author may take an object from the cache, change it and apply it. The server refuses some of the
fields that it has set itself, and the status has an apply of its own.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec

from steersman.kinds import Part, Resource, Unstructured, replace

Obj = TypeVar("Obj", bound=Resource | Unstructured)

_SERVER_FIELDS: Final = (
    "creation_timestamp",
    "deletion_grace_period_seconds",
    "deletion_timestamp",
    "generation",
    "managed_fields",
    "resource_version",
    "self_link",
    "uid",
)
_CLEARED: Final[Mapping[str, None]] = dict.fromkeys(_SERVER_FIELDS)
_SERVER_WIRE_NAMES: Final = frozenset(
    (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    )
)


def to_apply(obj: Obj, *, finalizer: str) -> Obj:
    """The object as it is applied; the controller's finalizer is patched, never applied."""
    if isinstance(obj, Unstructured):
        metadata = {
            name: value for name, value in obj.metadata.items() if name not in _SERVER_WIRE_NAMES
        }
        if finalizer in (held := metadata.get("finalizers") or ()):
            metadata["finalizers"] = [each for each in held if each != finalizer]
        body = {name: value for name, value in obj.body.items() if name != "status"}
        return type(obj)({**body, "metadata": metadata})
    meta = obj.metadata
    finalizers = meta.finalizers
    if finalizers is not None and finalizer in finalizers:
        finalizers = tuple(each for each in finalizers if each != finalizer) or None
    if _is_bare(obj) and finalizers is meta.finalizers:
        return obj
    changes: dict[str, Any] = {"metadata": replace(meta, **_CLEARED, finalizers=finalizers)}
    kind: Any = type(obj)
    if _may_lack_status(kind):
        changes["status"] = None
    return cast(Obj, replace(obj, **changes))


def identified(obj: Obj, *, uid: str = "", version: str = "") -> Obj:
    """The same with a precondition: this uid, or this version."""
    if not uid and not version:
        return obj
    if isinstance(obj, Unstructured):
        marks = {"uid": uid, "resourceVersion": version}
        metadata = {**obj.metadata, **{name: text for name, text in marks.items() if text}}
        return type(obj)({**obj.body, "metadata": metadata})
    meta = replace(obj.metadata, uid=uid or None, resource_version=version or None)
    return cast(Obj, replace(obj, metadata=meta))


def status_to_send(
    obj: Resource | Unstructured, status: Part | Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a status apply: the status, and what identifies the object."""
    gvk = obj.resource_type.gvk
    metadata = {"name": obj.name}
    if namespace := obj.namespace:
        metadata["namespace"] = namespace
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "metadata": metadata,
        "status": status,
    }


def _is_bare(obj: Resource) -> bool:
    """Whether it has no field that the server sets: the usual case, which needs no copy."""
    meta = obj.metadata
    return (
        meta.uid is None
        and meta.resource_version is None
        and meta.managed_fields is None
        and meta.creation_timestamp is None
        and meta.generation is None
        and meta.deletion_timestamp is None
        and meta.deletion_grace_period_seconds is None
        and meta.self_link is None
        and getattr(obj, "status", None) is None
    )


@cache
def _may_lack_status(kind: type[Any]) -> bool:
    """Whether the class omits the status when it is ``None``."""
    return any(
        field.name == "status" and field.default is None for field in msgspec.structs.fields(kind)
    )
