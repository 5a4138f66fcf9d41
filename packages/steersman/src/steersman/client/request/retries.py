"""Decides whether and when to retry. No I/O: randomness is an argument, and the caller waits.

Only requests that cannot write twice are retried. A write is retried if the server certainly did
not carry it out: it never arrived, or the response was 429 with a Retry-After. A read is also
retried if the server failed or the connection was closed.
"""

from random import Random

import msgspec

from steersman.errors import (
    ApiError,
    DeadlinePassed,
    ServerFailed,
    SteersmanError,
    TooLargeResourceVersion,
    TooManyRequests,
    Unreachable,
)


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum number of attempts of a request, and the waits between these attempts.

    The waits double up to ``max_seconds``; up to half of each wait is random.
    """

    # With the waits below about ten seconds in all, enough for an API server to restart.
    attempts: int = 8
    first_seconds: float = 0.1
    max_seconds: float = 10.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 < self.first_seconds <= self.max_seconds:
            raise ValueError(
                f"retries must satisfy attempts >= 1 and 0 < first_seconds <= max_seconds,"
                f" got attempts={self.attempts} first_seconds={self.first_seconds}"
                f" max_seconds={self.max_seconds}"
            )

    def wait_seconds(
        self, error: SteersmanError, *, reads: bool, attempt: int, rng: Random
    ) -> float | None:
        """Return the seconds to wait before the next attempt; ``None`` if no attempt may follow.

        ``reads`` is true if the request only reads; ``attempt`` attempts have failed.
        """
        if attempt >= self.attempts or not is_safe_to_repeat(error, reads=reads):
            return None
        pause = self.pause_seconds(attempt, rng=rng)
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        # The server's value is the minimum; the random pause spreads out its clients.
        return pause if asked is None else asked + pause

    def pause_seconds(self, attempt: int, *, rng: Random) -> float:
        """Return the seconds to wait after ``attempt`` failed attempts, for any error."""
        # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
        ceiling = min(self.first_seconds * 2.0 ** min(attempt - 1, 64), self.max_seconds)
        return ceiling * (0.5 + rng.random() / 2)


def is_safe_to_repeat(error: SteersmanError, *, reads: bool) -> bool:
    """Whether a retry may help, and certainly cannot carry out a write twice.

    ``reads`` is true if the request only reads.
    """
    match error:
        case TooManyRequests(retry_after_seconds=seconds, causes=causes):
            # Not every 429 means overload: an eviction that violates a disruption budget also gets
            # a 429.
            is_load = all(cause.reason != "DisruptionBudget" for cause in causes)
            return is_load and seconds is not None
        case DeadlinePassed() | TooLargeResourceVersion():
            return False
        case Unreachable(may_have_happened=maybe):
            return reads or not maybe
        case ServerFailed():
            return reads
        case _:
            return False


class RetryBudget:
    """A limit on retries: they add at most a tenth to the load, however many requests fail.

    Each request adds a fraction of a retry to the budget, and each retry withdraws one. An initial
    reserve permits a client with few requests to retry.
    """

    def __init__(self, *, share: float = 0.1, reserve: float = 10.0) -> None:
        self._share = share
        self._reserve = reserve
        self._balance = reserve

    def request(self) -> None:
        """Record that a request was sent, which adds a fraction of a retry to the budget."""
        if self._balance < self._reserve:
            self._balance = min(self._balance + self._share, self._reserve)

    def withdraw(self) -> bool:
        """Withdraw one retry from the budget; return false if the budget contains less than one."""
        if self._balance < 1.0:
            return False
        self._balance -= 1.0
        return True
