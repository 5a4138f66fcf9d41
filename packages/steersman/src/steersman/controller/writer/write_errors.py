"""Conversion of the server's errors for writes to errors for controllers. No I/O."""

from typing import Final

from steersman.controller.ownership.owner_references import owner_reference, owner_text
from steersman.errors import ApiError, Conflict, Invalid, NotOurs, ServerFailed
from steersman.kinds import Resource, Unstructured, meta_v1

_OTHER_OBJECT: Final = "it was deleted and created again since it was read"
_SCHEMA_MISMATCH: Final = "failed to create typed patch object"


def is_about(error: ApiError, field: str) -> bool:
    """Return whether one of the causes in ``error`` names ``field``."""
    return any(cause.field == field for cause in error.causes)


def is_other_object(error: ApiError) -> bool:
    """Return whether a write was rejected because its name now belongs to another object.

    The API server treats a different uid in a body as an attempt to change the uid.
    """
    return isinstance(error, Invalid) and is_about(error, "metadata.uid")


def is_failed_test(error: ApiError) -> bool:
    """Return whether ``error`` may mean that a ``test`` step of a JSON patch failed.

    For a failed ``test`` step, the API server returns an ``Invalid`` without causes.
    """
    return isinstance(error, Invalid) and not error.causes


def is_schema_mismatch(error: ApiError) -> bool:
    """Return whether ``error`` means that the applied object does not match the schema.

    The API server responds with 500 in this case, not with 422.
    """
    return isinstance(error, ServerFailed) and _SCHEMA_MISMATCH in error.message


def as_invalid(error: ApiError) -> Invalid:
    """Return ``error`` as an ``Invalid``, which is not retried, because a retry would not help."""
    return Invalid(wanted=error.wanted, code=error.code, reason=error.reason, message=error.message)


def held_fields(error: ApiError) -> tuple[str, ...]:
    """Return the fields that caused ``error``, the conflict of an apply with other managers."""
    held = (each.field for each in error.causes if each.reason == "FieldManagerConflict")
    return tuple(field.removeprefix(".") for field in held)


def other_object(wanted: str, uid: str = "") -> Conflict:
    """Return the error for a write to an object whose name now belongs to another object.

    ``wanted`` describes the write, and ``uid`` is the uid of the expected object.
    """
    return Conflict(wanted=wanted, code=409, reason="Conflict", message=_OTHER_OBJECT, uid=uid)


def has_same_name_but_other_uid(
    holder: meta_v1.OwnerReference | None, owner: Resource | Unstructured
) -> bool:
    """Return whether ``holder`` refers to the kind and name of ``owner``, but to another uid."""
    if holder is None or holder.uid == owner.uid:
        return False
    own = owner_reference(owner)
    return (holder.api_version, holder.kind, holder.name) == (own.api_version, own.kind, own.name)


def owned_by_namesake(child: Resource | Unstructured, owner: Resource | Unstructured) -> Conflict:
    """Return the error for a ``child`` whose controller has the name, but not the uid, of
    ``owner``.

    That controlling object was deleted earlier, or created later, than ``owner``. A retry will
    help.
    """
    message = f"it belongs to another {owner.ref} with another uid"
    return Conflict(wanted=f"own {child.ref}", code=409, reason="Conflict", message=message)


def not_ours(
    child: Resource | Unstructured,
    owner: Resource | Unstructured,
    *,
    holder: meta_v1.OwnerReference | None,
    fields: tuple[str, ...] = (),
) -> NotOurs:
    """Return the error for a ``child`` that ``owner`` does not control, or with field conflicts.

    ``holder`` is the reference to the controlling owner of ``child``; ``None`` if there is none.
    ``fields`` are the conflicting fields.
    """
    controller = owner_text(holder, child.namespace) if holder is not None else None
    return NotOurs(
        wanted=str(child.ref), owner=str(owner.ref), actual_controller=controller, fields=fields
    )
