"""What a reconcile function may return."""

from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Done:
    """All is as it should be; look again when something changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Not all is as it should be yet: look again when something changes, or after so long."""

    after_seconds: float | None = None

    def __post_init__(self) -> None:
        wait = self.after_seconds
        if wait is not None and not (isfinite(wait) and wait > 0):
            raise ValueError(f"after_seconds must be a positive number of seconds, got {wait}")


Outcome: TypeAlias = Done | Later
