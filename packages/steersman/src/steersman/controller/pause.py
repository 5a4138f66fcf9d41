"""Pausing one object: an annotation that has its controllers leave it alone."""

from typing import Final

from steersman.kinds import Resource, Unstructured, meta_v1, stored_field

# While an object has this annotation with the value "true", it is not reconciled.
PAUSED: Final = "steersman.dev/paused"

# Each change and each reconcile asks, so no read-only view is made for it.
_annotations: Final = stored_field(meta_v1.ObjectMeta, "annotations")


def is_paused(obj: Resource | Unstructured) -> bool:
    """Whether somebody asked that the object be left alone."""
    if isinstance(obj, Unstructured):
        return obj.annotations.get(PAUSED) == "true"
    annotations = _annotations(obj.metadata)
    return annotations is not None and annotations.get(PAUSED) == "true"
