"""The backoff after consecutive failures, and the choice of failures to report. No I/O."""

from random import Random
from typing import Final

from steersman.errors import ApiError, NotFound, SteersmanError

# client-go's values: each wait is doubled, and up to as much again is added at random, so that
# clients that failed together do not retry together.
FIRST_SECONDS: Final = 0.8
MAX_SECONDS: Final = 30.0

# The definition of a missing kind is usually about to be created, so the first wait is short. But
# the kind must be missing for some seconds before its objects count as deleted.
FIRST_MISSING_SECONDS: Final = 2.0
MAX_MISSING_SECONDS: Final = 10.0


def wait_seconds(
    failures: int, error: SteersmanError, *, rng: Random, max_retry_after_seconds: float
) -> float:
    """Return how long to wait after ``failures`` failures in a row; ``error`` is the last.

    The Retry-After header of the server is followed up to ``max_retry_after_seconds``.
    """
    first, longest = FIRST_SECONDS, MAX_SECONDS
    if isinstance(error, NotFound):
        first, longest = FIRST_MISSING_SECONDS, MAX_MISSING_SECONDS
    # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
    pause = min(first * 2.0 ** min(failures - 1, 64), longest)
    asked = error.retry_after_seconds if isinstance(error, ApiError) else None
    return max(pause, min(asked or 0.0, max_retry_after_seconds)) + pause * rng.random()


class FailureStreak:
    """Counts consecutive failures, and decides which of them are reported."""

    def __init__(self) -> None:
        self.failures = 0
        self._alike = 0
        self._last: tuple[type[SteersmanError], int] | None = None

    def add(self, error: SteersmanError) -> bool:
        """Count the failure ``error``, and return whether to report it.

        A failure is reported if its type differs from that of the previous failure. Of consecutive
        failures of one type, also the 2nd, 4th, 8th… is reported.
        """
        self.failures += 1
        which = type(error), error.code if isinstance(error, ApiError) else 0
        self._alike = self._alike + 1 if which == self._last else 1
        self._last = which
        return self._alike & (self._alike - 1) == 0

    def end(self) -> None:
        """Reset after a success."""
        self.failures = 0
        self._alike = 0
        self._last = None
