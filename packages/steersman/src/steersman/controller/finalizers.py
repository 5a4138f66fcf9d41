"""Patches that add a controller's finalizer to an object and remove it. Pure.

A patch replaces the whole list, so it must not overwrite a concurrent change: it carries the uid
and the resourceVersion, and the server refuses it with a conflict if either has changed.
"""

from collections.abc import Sequence
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import Resource, Unstructured


def finalizers_of(obj: Resource | Unstructured) -> tuple[str, ...]:
    """The finalizers of the object."""
    if isinstance(obj, Unstructured):
        return tuple(obj.metadata.get("finalizers") or ())
    return obj.metadata.finalizers or ()


def has_finalizer(obj: Resource | Unstructured, finalizer: str) -> bool:
    """Whether the object has this one."""
    return finalizer in finalizers_of(obj)


def patch_to_add(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """The patch that adds it; ``None`` if it is there, or the object is being deleted.

    The server refuses new finalizers during deletion, and there is nothing to clean up yet.
    """
    held = finalizers_of(obj)
    if finalizer in held or obj.deletion_time is not None:
        return None
    return _patch(obj, (*held, finalizer))


def patch_to_remove(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """The patch that removes it; ``None`` if it is not there."""
    held = finalizers_of(obj)
    if finalizer not in held:
        return None
    return _patch(obj, tuple(each for each in held if each != finalizer))


def _patch(obj: Resource | Unstructured, finalizers: Sequence[str]) -> MergePatch:
    metadata: dict[str, Any] = {
        "uid": obj.uid,
        "resourceVersion": obj.resource_version,
        "finalizers": list(finalizers) or None,
    }
    return MergePatch({"metadata": metadata})
