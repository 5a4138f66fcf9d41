"""What a reconcile function may return."""

from math import isfinite
from typing import TypeAlias

import msgspec


class Done(msgspec.Struct, frozen=True):
    """All is as it should be; look again when something changes."""


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """Not all is as it should be yet: look again when something changes, or after so long."""

    after_seconds: float | None = None

    def __post_init__(self) -> None:
        wait = self.after_seconds
        if wait is not None and not (isfinite(wait) and wait > 0):
            raise ValueError(f"after_seconds must be a positive number of seconds, got {wait}")


Outcome: TypeAlias = Done | Later
