"""A module has at most 600 lines."""

from collections.abc import Iterator

from tests.architecture.tree import Module, assert_none, modules, offenders

# 400 lines is already long; a longer file contains two modules.
MAX_LINES = 600


def excess_lines(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES and not module.is_generated:
        yield f"{module.path} has {lines} lines"


def test_no_module_that_people_write_is_too_long() -> None:
    bad = [Module("steersman/example.py", "pass\n" * (MAX_LINES + 1))]

    assert_none(offenders(excess_lines, modules(), bad=bad))
