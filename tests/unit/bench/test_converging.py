"""The server's time is measured only after all objects have converged."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from bench.harness.converging import SHOWN, used_once_right

QUIET_AFTER_SECONDS = 10.0
CHECK_SECONDS = 3.0


class SimulatedRun:
    """An operator and its server: quiet after ten seconds; a check takes three."""

    def __init__(self, *checks: Iterable[str]) -> None:
        self.checks = iter(checks)
        self.used = 0.0

    def quiet(self, *, seconds: float) -> float:
        self.used += QUIET_AFTER_SECONDS
        return 0.0

    def failed(self, what: str) -> AssertionError:
        return AssertionError(what)

    def wrong(self) -> Iterator[str]:
        self.used += CHECK_SECONDS
        yield from next(self.checks)


def server_seconds(*checks: Iterable[str], within_seconds: float = 60.0) -> float:
    """The reported time of the server, when the checks find these differences."""
    run: Any = SimulatedRun(*checks)
    return used_once_right(
        run,
        wrong=run.wrong,
        server_seconds=lambda: run.used,
        within_seconds=within_seconds,
    )


def test_the_servers_time_for_the_checks_is_not_counted() -> None:
    assert server_seconds(()) == QUIET_AFTER_SECONDS
    assert server_seconds(["no Service"], ["no status"], ()) == 3 * QUIET_AFTER_SECONDS


def test_an_object_that_never_converges_is_an_error_with_examples() -> None:
    wrong = [f"no Service {number}" for number in range(SHOWN + 1)]

    with pytest.raises(AssertionError, match="left this as it is: no Service 0; ") as caught:
        server_seconds(wrong, within_seconds=-1.0)

    assert wrong[SHOWN - 1] in str(caught.value)
    assert wrong[SHOWN] not in str(caught.value)
