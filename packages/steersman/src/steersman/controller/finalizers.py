"""Patches that put our finalizer on an object, and take it off again. Pure.

The list goes as a whole, so that whoever else changed it meanwhile must be noticed: a patch is for
one object at one version, and refused if it has another uid or version by now.
"""

from collections.abc import Sequence
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import Resource, Unstructured


def finalizers_of(obj: Resource | Unstructured) -> tuple[str, ...]:
    """All that the object has."""
    if isinstance(obj, Unstructured):
        return tuple(obj.metadata.get("finalizers") or ())
    return obj.metadata.finalizers or ()


def has_finalizer(obj: Resource | Unstructured, finalizer: str) -> bool:
    """Whether the object has this one."""
    return finalizer in finalizers_of(obj)


def patch_to_add(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """What puts it there; ``None`` if it is there, or the object is being deleted already.

    The server refuses new finalizers then, and there is nothing yet to clean up.
    """
    held = finalizers_of(obj)
    if finalizer in held or obj.deletion_time is not None:
        return None
    return _patch(obj, (*held, finalizer))


def patch_to_remove(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """What takes it away; ``None`` if it is not there."""
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
