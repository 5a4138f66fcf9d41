"""The options of a deletion, and whether the deletion is complete. No I/O."""

from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from steersman.client.request.request_spec import query
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType

Obj = TypeVar("Obj", bound=Resource | Unstructured)

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


class Preconditions(msgspec.Struct, frozen=True, kw_only=True):
    """The uid or resourceVersion that an object must still have to be deleted."""

    uid: str | None = None
    resource_version: str | None = None


class Deletion(msgspec.Struct, Generic[Obj], frozen=True, kw_only=True):
    """The API server's response to a delete request.

    ``obj`` is the object's last state, if the response contained the object. ``uid`` is the
    object's uid, or ``""`` if the response did not contain it. ``is_gone`` is true if the object is
    certainly deleted. Otherwise finalizers or a grace period delay the deletion, or the request was
    a dry run.
    """

    resource_type: ResourceType
    key: ObjectKey
    obj: Obj | None
    uid: str
    is_gone: bool


def deletion_result(obj: Obj, *, tried_only: bool) -> Deletion[Obj]:
    """Return the result of a delete request to which the API server responded with ``obj``.

    ``tried_only`` is true if the request was a dry run.
    """
    return Deletion(
        resource_type=obj.resource_type,
        key=ObjectKey(obj.namespace, obj.name),
        obj=obj,
        uid=obj.uid,
        is_gone=not tried_only and _is_deleted(obj),
    )


def is_gone(obj: Resource | Unstructured) -> bool:
    """Whether the patch or update that returned ``obj`` also completed the deletion of ``obj``.

    A write completes the deletion if it removes the last finalizer of an object that is being
    deleted. The response then contains the resourceVersion of the previous state. Do not call this
    function for a dry run.
    """
    if isinstance(obj, Resource) and obj.metadata.deletion_timestamp is None:
        return False  # true of nearly every response
    marks = _marks_on(obj)
    return (
        marks.is_ending and not marks.is_held and not marks.grace_seconds and not _is_namespace(obj)
    )


def _is_deleted(obj: Resource | Unstructured) -> bool:
    if _is_namespace(obj):
        # Its finalizers are in its spec, and the first delete always only marks it.
        return False
    marks = _marks_on(obj)
    if not marks.is_ending:
        # For some kinds, such as ServiceAccount and Service, the response is the unmarked object.
        return True
    # A CustomResourceDefinition is marked without a grace period and removed later.
    return not marks.is_held and marks.grace_seconds == 0


class _Marks(NamedTuple):
    is_ending: bool
    is_held: bool
    grace_seconds: int | None


def _marks_on(obj: Resource | Unstructured) -> _Marks:
    if isinstance(obj, Unstructured):
        body = obj.metadata
        return _Marks(
            body.get("deletionTimestamp") is not None,
            bool(body.get("finalizers")),
            body.get("deletionGracePeriodSeconds"),
        )
    metadata = obj.metadata
    return _Marks(
        metadata.deletion_timestamp is not None,
        bool(metadata.finalizers),
        metadata.deletion_grace_period_seconds,
    )


def _is_namespace(obj: Resource | Unstructured) -> bool:
    gvk = obj.gvk if isinstance(obj, Unstructured) else obj.resource_type.gvk
    return (gvk.group, gvk.kind) == ("", "Namespace")


def delete_options(
    dry_run: str | None,
    preconditions: Preconditions | None,
    propagation: Propagation | None,
    grace_seconds: int | None,
) -> dict[str, object] | None:
    """Return the body of a delete request; ``None`` if there are no options."""
    terms: dict[str, object] = {}
    if dry_run is not None:
        # Not in the query: the server ignores the query if there is a body, and would delete.
        terms["dryRun"] = [dry_run]
    if preconditions is not None:
        terms["preconditions"] = dict(
            query(uid=preconditions.uid, resourceVersion=preconditions.resource_version)
        )
    if propagation is not None:
        terms["propagationPolicy"] = propagation
    if grace_seconds is not None:
        terms["gracePeriodSeconds"] = grace_seconds
    return {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", **terms} if terms else None
