"""What holds for every test: how long it may take, and that it says the same thing every time."""

import gc
import signal
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

# Per test, set-up included; other kinds have the default of pyproject.toml, and a test that
# needs another limit marks itself. A unit test waits for nothing; but some start Python, the
# garbage of all before it may be collected in its time, and a machine that others use too may stand
# still for seconds.
# A property has fifty examples, and in a fresh clone Hypothesis makes its tables of letters.
# The command line starts as a process of its own, and on a busy machine that takes its time.
# Rules about the code are the same: the first of them reads all of it, and all the tests.
# Type checkers read the whole package, cold. A real API server is given time to come up.
LIMIT_SECONDS = {
    "unit": 10,
    "property": 20,
    "architecture": 60,
    "cluster": 30,
    "docs": 30,
    "simulation": 60,
    "typing": 180,
    "real": 120,
}

# Kinds of test that read the code with tools which no other test needs.
TOOL_KINDS = frozenset(("architecture", "docs", "typing"))

# Without a deadline, because a busy machine is no bug. Always the same examples, so that a red
# run is red again. `make test-deep` tries ten times as many, and others each time.
EXAMPLES = 50
settings.register_profile("steersman", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.register_profile("deep", deadline=None, max_examples=10 * EXAMPLES)
settings.load_profile("steersman")

# A shell has what it runs in the background ignore interrupts, and nohup has its program ignore
# hang-ups; children inherit both, and some tests interrupt or hang up theirs.
for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        _default = signal.default_int_handler if _signal is signal.SIGINT else signal.SIG_DFL
        signal.signal(_signal, _default)


def pytest_collection_finish() -> None:
    # All modules and all tests stay until the end: no collection has to look at them again.
    gc.collect()
    gc.freeze()


def is_property(item: pytest.Item) -> bool:
    """Whether Hypothesis chooses the examples."""
    is_marked = item.get_closest_marker("hypothesis") is not None
    # Hypothesis marks the others later than this is asked.
    return is_marked or hasattr(getattr(item, "obj", None), "hypothesis")


def patience(item: pytest.Item) -> float:
    """How many times its usual limit a test may take."""
    return settings().max_examples / EXAMPLES if is_property(item) else 1.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue  # an example
        kind = item.path.relative_to(TESTS).parts[0]
        if kind == "unit" and is_property(item):
            kind = "property"
        if kind in TOOL_KINDS:
            item.add_marker(pytest.mark.needs_tools)
        if kind in LIMIT_SECONDS and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_SECONDS[kind] * patience(item)))
