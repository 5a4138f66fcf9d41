"""What it means for a controller that the server refused a write. Pure."""

from typing import Final

from steersman.controller.ownership.owner_references import owner_reference, shown
from steersman.errors import ApiError, Conflict, Invalid, NotOurs, ServerFailed
from steersman.kinds import Resource, Unstructured, meta_v1

_ANOTHER: Final = "it was deleted, and made anew under its name, since it was read"
_MISFIT: Final = "failed to create typed patch object"


def is_about(error: ApiError, field: str) -> bool:
    """Whether the server names this field as a reason."""
    return any(cause.field == field for cause in error.causes)


def is_other_object(error: ApiError) -> bool:
    """Whether the write was meant for another object of that name.

    For one that is there, the server takes a uid in a body for an attempt to change it.
    """
    return isinstance(error, Invalid) and is_about(error, "metadata.uid")


def is_failed_test(error: ApiError) -> bool:
    """Whether it may be a test in a JSON patch that failed: then the server gives no reason."""
    return isinstance(error, Invalid) and not error.causes


def is_misfit(error: ApiError) -> bool:
    """Whether what was applied is not of the form that the schema has.

    Only then does the server not say that it is invalid, but that it failed itself.
    """
    return isinstance(error, ServerFailed) and _MISFIT in error.message


def invalid(error: ApiError) -> Invalid:
    """The same error by the name that it should have: to try again will not help."""
    return Invalid(wanted=error.wanted, code=error.code, reason=error.reason, message=error.message)


def held_fields(error: ApiError) -> tuple[str, ...]:
    """The fields that other managers hold and that an apply without force wanted."""
    held = (each.field for each in error.causes if each.reason == "FieldManagerConflict")
    return tuple(field.removeprefix(".") for field in held)


def other_object(wanted: str, uid: str = "") -> Conflict:
    """The error for a write that was meant for another object of that name."""
    return Conflict(wanted=wanted, code=409, reason="Conflict", message=_ANOTHER, uid=uid)


def is_namesake(holder: meta_v1.OwnerReference | None, owner: Resource | Unstructured) -> bool:
    """Whether it is an owner of the same kind and name, and another object."""
    if holder is None or holder.uid == owner.uid:
        return False
    own = owner_reference(owner)
    return (holder.api_version, holder.kind, holder.name) == (own.api_version, own.kind, own.name)


def of_namesake(child: Resource | Unstructured, owner: Resource | Unstructured) -> Conflict:
    """The error for what belongs to such an owner: of the two, one is gone, and so is its child."""
    message = f"it belongs to another {owner.ref}, from before or after this one"
    return Conflict(wanted=f"own {child.ref}", code=409, reason="Conflict", message=message)


def not_ours(
    child: Resource | Unstructured,
    owner: Resource | Unstructured,
    *,
    holder: meta_v1.OwnerReference | None,
    fields: tuple[str, ...] = (),
) -> NotOurs:
    """The error for an object that somebody else controls, or nobody, or holds fields of."""
    controller = shown(holder, child.namespace) if holder is not None else None
    return NotOurs(
        wanted=str(child.ref), owner=str(owner.ref), actual_controller=controller, fields=fields
    )
