"""Phrases that log lines share."""

import traceback
from collections.abc import Sequence
from typing import Final

from steersman.names import ObjectRef

_OUTCOMES: Final = {"later": "returned Later", "permanent": "failed permanently"}


def duration_text(seconds: float) -> str:
    """Return ``seconds`` as a short text with a unit, such as ``1.5 s`` or ``20 ms``."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def some_of(things: Sequence[str], *, most: int, left_out: int = 0, between: str = ", ") -> str:
    """Return the first ``most`` of ``things`` as text, and the number of the remaining ones.

    ``left_out`` is the number of further things that ``things`` does not contain.
    """
    more = max(len(things) - most, 0) + left_out
    named = between.join(things[:most])
    return f"{named} and {more} more" if more else named


def outcome_text(outcome: str) -> str:
    """Return ``outcome``, the outcome of a reconcile, as the predicate of a sentence."""
    return _OUTCOMES.get(outcome, outcome)


def raised(error: Exception) -> str:
    """Return a text with the class and text of ``error``, and the line of code that raised it."""
    return f"{type(error).__name__}: {error} {place_of(error)}".rstrip()


def place_of(error: Exception) -> str:
    """Return the function, file and line that raised ``error``; ``""`` if it was not raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def ref_fields(ref: ObjectRef) -> dict[str, str]:
    """Return the log fields that identify the object ``ref``: kind, name and namespace."""
    fields = {"kind": ref.kind, "name": ref.name}
    return fields | {"namespace": ref.namespace} if ref.namespace else fields
