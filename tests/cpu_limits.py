"""A plugin of pytest that fails a test that has used too much CPU time.

The limit of a test is that of its mark ``cpu_seconds``, or that of its kind. It includes the
set-up, but no other processes. How much CPU time a test needs hardly depends on what else the
machine runs, so a busy machine fails no test. pytest-timeout ends a test that never ends, much
later. ``--junit-xml`` writes the CPU time of each test that passes as a property.
"""

import resource
from collections.abc import Generator

import pytest

MARK = "cpu_seconds"

# Of a test without the mark.
DEFAULT_SECONDS = 30.0

_STARTED = pytest.StashKey[float]()


def used_seconds() -> float:
    """The CPU time of this process, all threads together."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Called for the set-up of each test."""
    item.stash[_STARTED] = used_seconds()
    yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Called for each test, after its set-up."""
    yield
    mark = item.get_closest_marker(MARK)
    limit = float(mark.args[0]) if mark is not None else DEFAULT_SECONDS
    used = used_seconds() - item.stash[_STARTED]
    item.user_properties.append((MARK, f"{used:.2f}"))
    if used > limit:
        pytest.fail(f"the test used {used:.1f} s of CPU time, and its limit is {limit:g} s")
