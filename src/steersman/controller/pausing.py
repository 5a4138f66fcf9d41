"""Pausing one object: an annotation that has its controllers leave it alone."""

from typing import Final

from steersman.kinds import Resource, Unstructured

# While an object has this annotation with the value "true", it is not reconciled.
PAUSED: Final = "steersman.dev/paused"


def is_paused(obj: Resource | Unstructured) -> bool:
    """Whether somebody asked that the object be left alone."""
    return obj.annotations.get(PAUSED) == "true"
