"""The requeue of an object after the shortest of several waits."""

from steersman.controller import Done, Later, Outcome


def after_first(*waits: float | None) -> Outcome:
    """Requeue after the shortest of these waits; do not requeue if all are ``None``."""
    seconds = min((each for each in waits if each is not None), default=None)
    return Done() if seconds is None else Later(after_seconds=max(seconds, 0.001))
