"""What a reconcile function may return."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

import msgspec

from steersman.kinds import Part

Status: TypeAlias = Part | Mapping[str, Any]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """All is as it should be; look again when something changes.

    ``status`` is how things stand with the object, to be applied as ``apply_status`` would.
    """

    status: Status | None = None


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """Not all is as it should be yet: look again when something changes, or after so long.

    ``status`` is how things stand with the object for now. If all that it tells is progress, and no
    time is given, it may wait for more of that: after the controller's ``progress_seconds`` there
    is another look, and what that says is applied.
    """

    after_seconds: float | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        wait = self.after_seconds
        if wait is not None and not (isfinite(wait) and wait > 0):
            raise ValueError(f"after_seconds must be a positive number of seconds, got {wait}")


Outcome: TypeAlias = Done | Later
