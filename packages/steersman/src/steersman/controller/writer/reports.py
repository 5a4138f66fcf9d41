"""Reports of the writes that were carried out. Pure."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from steersman.names import ObjectRef
from steersman.observe import Write

# Called with each write that was carried out, and its body if it has one.
Report: TypeAlias = Callable[[Write, bytes | None], None]


class EffectiveWrite(NamedTuple):
    """A write that changed something, and the object's version after it, ``""`` if it is gone."""

    ref: ObjectRef
    version: str
    body: bytes | None = None
