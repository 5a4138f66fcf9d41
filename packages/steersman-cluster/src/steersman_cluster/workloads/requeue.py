"""When to look again, where several things are waited for."""

from steersman.controller import Done, Later, Outcome


def after_first(*waits: float | None) -> Outcome:
    """Look again when the first of these many seconds are over; not at all if all are ``None``."""
    seconds = min((each for each in waits if each is not None), default=None)
    return Done() if seconds is None else Later(after_seconds=max(seconds, 0.001))
