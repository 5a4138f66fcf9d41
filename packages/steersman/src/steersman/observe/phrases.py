"""Phrases that log lines share."""

import traceback
from collections.abc import Sequence

from steersman.names import ObjectRef


def length(seconds: float) -> str:
    """A duration, short."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def some_of(things: Sequence[str], *, most: int, left_out: int = 0, between: str = ", ") -> str:
    """The first few items, and the number of the others, with ``left_out`` further ones."""
    more = max(len(things) - most, 0) + left_out
    named = between.join(things[:most])
    return f"{named} and {more} more" if more else named


def raised(error: Exception) -> str:
    """An error of an author's code, with its place."""
    return f"{type(error).__name__}: {error} {place_of(error)}".rstrip()


def place_of(error: Exception) -> str:
    """The place where an error was raised, if it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def ref_fields(ref: ObjectRef) -> dict[str, str]:
    """The fields for the object that a line is about."""
    fields = {"kind": ref.kind, "name": ref.name}
    return fields | {"namespace": ref.namespace} if ref.namespace else fields
