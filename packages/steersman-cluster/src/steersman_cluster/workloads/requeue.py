"""The outcome that requeues an object after the shortest of several waits."""

from steersman.controller import Done, Later, Outcome


def after_first(*waits: float | None) -> Outcome:
    """Return the outcome that requeues an object after the shortest of ``waits``.

    The waits are in seconds. If all are ``None``, the object is not requeued.
    """
    seconds = min((each for each in waits if each is not None), default=None)
    return Done() if seconds is None else Later(after_seconds=max(seconds, 0.001))
