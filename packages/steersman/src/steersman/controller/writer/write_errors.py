"""From the server's error for a write to the error that a controller needs. Pure."""

from typing import Final

from steersman.controller.ownership.owner_references import owner_reference, owner_text
from steersman.errors import ApiError, Conflict, Invalid, NotOurs, ServerFailed
from steersman.kinds import Resource, Unstructured, meta_v1

_OTHER_OBJECT: Final = "it was deleted and created again since it was read"
_SCHEMA_MISMATCH: Final = "failed to create typed patch object"


def is_about(error: ApiError, field: str) -> bool:
    """Whether the server names this field as a cause."""
    return any(cause.field == field for cause in error.causes)


def is_other_object(error: ApiError) -> bool:
    """Whether the write was meant for another object of that name.

    The server takes another uid in a body for an attempt to change the uid.
    """
    return isinstance(error, Invalid) and is_about(error, "metadata.uid")


def is_failed_test(error: ApiError) -> bool:
    """Whether a test in a JSON patch may have failed: the server gives no cause then."""
    return isinstance(error, Invalid) and not error.causes


def is_schema_mismatch(error: ApiError) -> bool:
    """Whether the applied object does not match the schema.

    The server answers with a 500 then, and not with 422.
    """
    return isinstance(error, ServerFailed) and _SCHEMA_MISMATCH in error.message


def as_invalid(error: ApiError) -> Invalid:
    """The same error as an ``Invalid``: a retry will not help."""
    return Invalid(wanted=error.wanted, code=error.code, reason=error.reason, message=error.message)


def held_fields(error: ApiError) -> tuple[str, ...]:
    """The fields held by other managers that caused the conflict of an apply without force."""
    held = (each.field for each in error.causes if each.reason == "FieldManagerConflict")
    return tuple(field.removeprefix(".") for field in held)


def other_object(wanted: str, uid: str = "") -> Conflict:
    """The error for a write to an object that is another one of the same name now."""
    return Conflict(wanted=wanted, code=409, reason="Conflict", message=_OTHER_OBJECT, uid=uid)


def is_namesake(holder: meta_v1.OwnerReference | None, owner: Resource | Unstructured) -> bool:
    """Whether the holder has the owner's kind and name and another uid."""
    if holder is None or holder.uid == owner.uid:
        return False
    own = owner_reference(owner)
    return (holder.api_version, holder.kind, holder.name) == (own.api_version, own.kind, own.name)


def owned_by_namesake(child: Resource | Unstructured, owner: Resource | Unstructured) -> Conflict:
    """The error for a child of an earlier or later owner of the same name; a retry will help."""
    message = f"it belongs to another {owner.ref} with another uid"
    return Conflict(wanted=f"own {child.ref}", code=409, reason="Conflict", message=message)


def not_ours(
    child: Resource | Unstructured,
    owner: Resource | Unstructured,
    *,
    holder: meta_v1.OwnerReference | None,
    fields: tuple[str, ...] = (),
) -> NotOurs:
    """The error for an object that another owner or no owner controls, or whose fields conflict."""
    controller = owner_text(holder, child.namespace) if holder is not None else None
    return NotOurs(
        wanted=str(child.ref), owner=str(owner.ref), actual_controller=controller, fields=fields
    )
