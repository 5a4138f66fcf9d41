"""An operator has brought everything in line before a figure of it counts."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from bench.harness.converging import SHOWN, used_once_right

QUIET_AFTER = 10.0
A_LOOK = 3.0


class Stage:
    """An operator and its server, which uses ten seconds until that is quiet, and three a look."""

    def __init__(self, *looks: Iterable[str]) -> None:
        self.looks = iter(looks)
        self.used = 0.0

    def quiet(self, *, seconds: float) -> float:
        self.used += QUIET_AFTER
        return 0.0

    def failed(self, what: str) -> AssertionError:
        return AssertionError(what)

    def wrong(self) -> Iterator[str]:
        self.used += A_LOOK
        yield from next(self.looks)


def server_seconds(*looks: Iterable[str], within_seconds: float = 60.0) -> float:
    """What the server is said to have used, where each look finds this to be wrong."""
    stage: Any = Stage(*looks)
    return used_once_right(
        stage,
        wrong=stage.wrong,
        server_seconds=lambda: stage.used,
        within_seconds=within_seconds,
    )


def test_the_servers_time_for_the_checks_is_not_counted() -> None:
    assert server_seconds(()) == QUIET_AFTER
    assert server_seconds(["no Service"], ["no status"], ()) == 3 * QUIET_AFTER


def test_an_object_that_never_converges_is_an_error_with_examples() -> None:
    wrong = [f"no Service {number}" for number in range(SHOWN + 1)]

    with pytest.raises(AssertionError, match="left this as it is: no Service 0; ") as caught:
        server_seconds(wrong, within_seconds=-1.0)

    assert wrong[SHOWN - 1] in str(caught.value)
    assert wrong[SHOWN] not in str(caught.value)
