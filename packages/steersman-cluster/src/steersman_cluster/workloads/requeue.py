"""When to requeue an object that waits for several moments."""

from steersman.controller import Done, Later, Outcome


def after_first(*waits: float | None) -> Outcome:
    """Requeue after the shortest of these waits; not at all if all are ``None``."""
    seconds = min((each for each in waits if each is not None), default=None)
    return Done() if seconds is None else Later(after_seconds=max(seconds, 0.001))
