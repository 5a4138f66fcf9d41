"""Reports of the writes that were carried out. No I/O."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from steersman.names import ObjectRef
from steersman.observe import Write

# Called with each write that was carried out, and its body if it has one.
Report: TypeAlias = Callable[[Write, bytes | None], None]


class EffectiveWrite(NamedTuple):
    """A write that changed something.

    ``version`` is the object's resourceVersion after the write; ``""`` if the object was deleted.
    """

    ref: ObjectRef
    version: str
    body: bytes | None = None
