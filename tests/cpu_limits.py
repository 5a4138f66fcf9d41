"""A plugin of pytest that fails a test that uses too much CPU time.

The limit of a test is that of its mark ``cpu_seconds``, or that of its kind. It includes the
set-up, but no other processes. How much CPU time a test needs hardly depends on what else the
machine runs, so a busy machine fails no test. A test that waits for ever uses none; pytest-timeout
ends it, much later. ``--junit-xml`` writes the CPU time of each test as a property.
"""

import signal
from collections.abc import Generator
from types import FrameType
from typing import Any, NoReturn

import pytest

MARK = "cpu_seconds"

# Of a test without the mark.
DEFAULT_SECONDS = 30.0


def limit_seconds(item: pytest.Item) -> float:
    """The limit of a test."""
    mark = item.get_closest_marker(MARK)
    return float(mark.args[0]) if mark is not None else DEFAULT_SECONDS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Called for the set-up, the call and the teardown of a test together."""
    limit = limit_seconds(item)

    def fail(_signal: int, _frame: FrameType | None) -> NoReturn:
        pytest.fail(f"the test used more than {limit:g} s of CPU time; see tests/cpu_limits.py")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Called after each phase of a test; the last report has all of its properties."""
    if call.when == "teardown":
        remaining_seconds, _ = signal.getitimer(signal.ITIMER_PROF)
        used_seconds = limit_seconds(item) - remaining_seconds
        item.user_properties.append((MARK, f"{used_seconds:.2f}"))
    return (yield)
