"""Doing without ``managedFields``, which are often a third of an object and hardly ever read."""

from typing import Any, TypeVar

import msgspec

from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)


def without_managed_fields(obj: Obj) -> Obj:
    """The same object, its ``managedFields`` forgotten.

    For objects that were decoded a moment ago and that nobody else has seen yet, and for no others:
    they are changed in place, frozen or not, because a copy of each of many thousands would cost a
    tenth of decoding them. Whoever gets the object afterwards never sees it change.
    """
    if isinstance(obj, Unstructured):
        # A decoded object's body is made of dictionaries; a body that is not was never decoded.
        metadata: Any = obj.metadata
        metadata.pop("managedFields", None)
    elif obj.metadata.managed_fields is not None:
        msgspec.structs.force_setattr(obj.metadata, "managed_fields", None)  # type: ignore[arg-type]
    return obj
