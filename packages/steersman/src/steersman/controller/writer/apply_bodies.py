"""The bodies of applies: the operator author's fields without fields set by the server. No I/O.

An operator author's function may take an object from the cache, change it and apply it. Such an
object contains fields that the API server sets. The server rejects some of these fields in an
apply. The object may also contain a status, which is applied separately.
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
    """Return ``obj`` without the fields that must not be applied.

    ``finalizer``, the controller's finalizer, is left out too, because finalizers are added by
    patches, never by applies.
    """
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


def with_preconditions(obj: Obj, *, uid: str = "", version: str = "") -> Obj:
    """Return a copy of ``obj`` that can only be written to an object with this uid and version.

    ``version`` is a resourceVersion. An empty ``uid`` or ``version`` is not a precondition.
    """
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
    """Return the body of an apply of ``status``, with the fields that identify ``obj``."""
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
    """Return whether ``obj`` contains no field that the server sets; then no copy is needed."""
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
    """Return whether ``kind`` has a status field that is not sent while it is ``None``."""
    return any(
        field.name == "status" and field.default is None for field in msgspec.structs.fields(kind)
    )
