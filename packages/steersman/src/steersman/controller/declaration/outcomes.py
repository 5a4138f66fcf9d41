"""``Done`` and ``Later``: what a reconcile function may return."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

import msgspec

from steersman.kinds import Part

Status: TypeAlias = Part | Mapping[str, Any]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The object is as it should be: reconcile it again when something changes.

    ``status`` is applied as by ``apply_status``.
    """

    status: Status | None = None


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """The object is not as it should be yet: reconcile it again on a change, or after a time.

    ``status`` is applied as by ``apply_status``. Without a time, a status that flips no condition
    may be delayed: after the controller's ``progress_seconds`` the object is reconciled again, and
    the status of that reconcile is applied.
    """

    after_seconds: float | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        wait = self.after_seconds
        if wait is not None and not (isfinite(wait) and wait > 0):
            raise ValueError(f"after_seconds must be a positive number of seconds, got {wait}")


Outcome: TypeAlias = Done | Later
