"""What is reported of each write that was carried out. Pure."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from steersman.names import ObjectRef
from steersman.observe import Write

# Is called with each write that was carried out, and its body if it had one.
Report: TypeAlias = Callable[[Write, bytes | None], None]


class Wrote(NamedTuple):
    """A write that changed something: the object's version after it, ``""`` if it is gone."""

    ref: ObjectRef
    version: str
    body: bytes | None = None
