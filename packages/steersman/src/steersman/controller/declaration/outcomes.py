"""``Done`` and ``Later``: what a reconcile function may return."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

import msgspec

from steersman.kinds import Part

Status: TypeAlias = Part | Mapping[str, Any]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reconcile whose object is in the desired state.

    The object is reconciled again when something changes. ``status`` is applied to the object, as
    ``apply_status`` does.
    """

    status: Status | None = None


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reconcile whose object is not in the desired state yet.

    The object is reconciled again after a change, or after ``after_seconds``. ``status`` is applied
    to the object immediately, as ``apply_status`` does, unless ``after_seconds`` is ``None`` and
    the ``status`` of no condition changes. In that case, the status can be delayed: the object is
    reconciled again after the controller's ``progress_seconds``, and the status of that reconcile
    is applied.
    """

    after_seconds: float | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        wait = self.after_seconds
        if wait is not None and not (isfinite(wait) and wait > 0):
            raise ValueError(f"after_seconds must be a positive number of seconds, got {wait}")


Outcome: TypeAlias = Done | Later
