"""Settings of all tests: time limits, and reproducible examples."""

import gc
import signal
from pathlib import Path

import pytest
import yaml
from hypothesis import settings

from tests import cpu_limits

TESTS = Path(__file__).parent

# CPU time per test, with its set-up; a test can have its own mark. A garbage collection can run in
# any test. A property has fifty examples; in a new clone Hypothesis builds its tables of letters.
# The first architecture test reads all code, and all tests.
CPU_SECONDS = {
    "unit": 10,
    "property": 20,
    "architecture": 60,
    "cluster": 30,
    "simulation": 60,
    "recorded": 60,
}

# Kinds of tests that use tools which no other test needs.
TOOL_KINDS = frozenset(("architecture", "docs", "typing"))

# No deadline, because a busy machine is not a bug. Always the same examples, so that a failure is
# reproducible. `make test-deep` runs ten times as many, and different ones each time.
EXAMPLES = 50
settings.register_profile("steersman", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.register_profile("deep", deadline=None, max_examples=10 * EXAMPLES)
settings.load_profile("steersman")

# Without libyaml, PyYAML's own parser takes ten times as long, most of the time of some tests.
SLOW_YAML = 1.0 if hasattr(yaml, "CSafeLoader") else 4.0

# Background jobs of a shell ignore SIGINT, and programs under nohup ignore SIGHUP; children inherit
# both, and some tests send these signals to their children.
for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        _default = signal.default_int_handler if _signal is signal.SIGINT else signal.SIG_DFL
        signal.signal(_signal, _default)


def pytest_addoption(parser: pytest.Parser) -> None:
    # Here, because pytest reads the conftest.py of a directory too late for an option.
    parser.addoption(
        "--control-plane",
        choices=("both", "real"),
        default="both",
        help="tests/real: run the tests of the client on both servers, or on the real one only",
    )
    parser.addoption(
        "--real-responses",
        choices=("replay", "verify", "record"),
        default="replay",
        help="replay, verify or record what the real server responded, and what kubectl printed",
    )


def pytest_collection_finish() -> None:
    # All modules and tests exist until the end: later garbage collections need not visit them.
    gc.collect()
    gc.freeze()


def is_property(item: pytest.Item) -> bool:
    """Whether Hypothesis chooses the examples."""
    is_marked = item.get_closest_marker("hypothesis") is not None
    # Hypothesis adds its mark to other tests only after this call.
    return is_marked or hasattr(getattr(item, "obj", None), "hypothesis")


def limit_factor(item: pytest.Item) -> float:
    """The factor of the usual time limit."""
    return SLOW_YAML * (settings().max_examples / EXAMPLES if is_property(item) else 1.0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue  # tests of an example project
        kind = item.path.relative_to(TESTS).parts[0]
        if kind == "unit" and is_property(item):
            kind = "property"
        if kind in TOOL_KINDS:
            item.add_marker(pytest.mark.needs_tools)
        if kind in CPU_SECONDS and item.get_closest_marker(cpu_limits.MARK) is None:
            seconds = CPU_SECONDS[kind] * limit_factor(item)
            item.add_marker(pytest.mark.cpu_seconds(seconds))
