"""A turn ends when the operator has reconciled everything."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from bench.harness.convergence import SHOWN_DIFFERENCES, server_cpu_once_correct

QUIET_AFTER_SECONDS = 10.0
CHECK_SECONDS = 3.0


class SimulatedRun:
    """An operator, and its server, which uses ten CPU seconds and three per check."""

    def __init__(self, *checks: Iterable[str]) -> None:
        self.checks = iter(checks)
        self.used = 0.0

    def wait_until_idle(self, *, seconds: float) -> float:
        self.used += QUIET_AFTER_SECONDS
        return 0.0

    def failed(self, what: str) -> AssertionError:
        return AssertionError(what)

    def wrong(self) -> Iterator[str]:
        self.used += CHECK_SECONDS
        yield from next(self.checks)


def server_seconds(*checks: Iterable[str], within_seconds: float = 60.0) -> float:
    """The CPU seconds of the server, if each check finds the given differences."""
    run: Any = SimulatedRun(*checks)
    return server_cpu_once_correct(
        run,
        wrong=run.wrong,
        server_seconds=lambda: run.used,
        within_seconds=within_seconds,
    )


def test_the_servers_time_for_the_checks_is_not_counted() -> None:
    assert server_seconds(()) == QUIET_AFTER_SECONDS
    assert server_seconds(["no Service"], ["no status"], ()) == 3 * QUIET_AFTER_SECONDS


def test_an_object_that_never_converges_is_an_error_with_examples() -> None:
    wrong = [f"no Service {number}" for number in range(SHOWN_DIFFERENCES + 1)]

    with pytest.raises(AssertionError, match="did not correct: no Service 0; ") as caught:
        server_seconds(wrong, within_seconds=-1.0)

    assert wrong[SHOWN_DIFFERENCES - 1] in str(caught.value)
    assert wrong[SHOWN_DIFFERENCES] not in str(caught.value)
