"""Removal of ``managedFields``, which are often a third of an object and rarely read."""

from typing import Any, TypeVar

import msgspec

from steersman.kinds.resource import Resource
from steersman.kinds.unstructured import Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)


def without_managed_fields(obj: Obj, *, but: frozenset[str] = frozenset()) -> Obj:
    """Return ``obj`` without ``managedFields``, except Apply entries of managers in ``but``.

    ``obj`` is changed in place, although it is frozen, because copying many thousands of objects
    would cost a tenth of the time of decoding them. So pass only newly decoded objects that no
    other code references yet.
    """
    if isinstance(obj, Unstructured):
        # The body of a decoded object consists of dictionaries.
        metadata: Any = obj.metadata
        entries = metadata.pop("managedFields", None)
        if but and isinstance(entries, list):
            kept = [each for each in entries if _is_kept_json(each, but)]
            if kept:
                metadata["managedFields"] = kept
    elif (managed := obj.metadata.managed_fields) is not None:
        left = [e for e in managed if e.manager in but and e.operation == "Apply"] if but else ()
        msgspec.structs.force_setattr(obj.metadata, "managed_fields", tuple(left) or None)  # type: ignore[arg-type]
    return obj


def _is_kept_json(entry: Any, managers: frozenset[str]) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("manager") in managers
        and entry.get("operation") == "Apply"
    )
