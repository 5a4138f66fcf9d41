"""Patches that add a controller's finalizer to an object and remove it. No I/O.

``loop.control_loop`` adds the finalizer before the first reconcile and removes it after
``finalize``.

A patch replaces the complete list of finalizers. So that it cannot overwrite a concurrent change,
the patch contains the uid and the resourceVersion, and the server rejects it with a conflict if
either has changed.
"""

from collections.abc import Sequence
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import Resource, Unstructured


def finalizers_of(obj: Resource | Unstructured) -> tuple[str, ...]:
    """Return all finalizers of ``obj``."""
    if isinstance(obj, Unstructured):
        return tuple(obj.metadata.get("finalizers") or ())
    return obj.metadata.finalizers or ()


def has_finalizer(obj: Resource | Unstructured, finalizer: str) -> bool:
    """Return whether ``finalizer`` is among the finalizers of ``obj``."""
    return finalizer in finalizers_of(obj)


def patch_to_add(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """Return the patch that adds ``finalizer`` to ``obj``, or ``None`` if no patch is needed.

    No patch is needed if ``obj`` already has the finalizer, or if ``obj`` is being deleted: during
    deletion, the server rejects new finalizers, and without the finalizer no reconcile has done
    anything that needs a cleanup.
    """
    held = finalizers_of(obj)
    if finalizer in held or obj.deletion_time is not None:
        return None
    return _patch(obj, (*held, finalizer))


def patch_to_remove(obj: Resource | Unstructured, finalizer: str) -> MergePatch | None:
    """Return the patch that removes ``finalizer``; ``None`` if ``obj`` does not have it."""
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
