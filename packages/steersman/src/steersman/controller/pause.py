"""The pause annotation: controllers do not reconcile an object that has this annotation."""

from typing import Final

from steersman.kinds import Resource, Unstructured, meta_v1, stored_field

# While an object has this annotation with the value "true", it is not reconciled.
PAUSED: Final = "steersman.dev/paused"

# Read for each change and each reconcile, so without the read-only view of the public attribute.
_annotations: Final = stored_field(meta_v1.ObjectMeta, "annotations")


def is_paused(obj: Resource | Unstructured) -> bool:
    """Return whether ``obj`` has the pause annotation."""
    if isinstance(obj, Unstructured):
        return obj.annotations.get(PAUSED) == "true"
    annotations = _annotations(obj.metadata)
    return annotations is not None and annotations.get(PAUSED) == "true"
