"""A plugin of pytest that skips a test that fails because CEL's parser is not installed.

The package has no wheel for the newest Pythons. Which tests need it depends on the kinds that they
create, so tests are not marked: a test that has tried to import the package, or reports that
another process could not, is skipped in place of a failure. Where the package is installed, this
plugin does nothing.
"""

import sys
from collections.abc import Generator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import pytest

MODULE = "cel_expr_python"
DISTRIBUTION = "cel-expr-python"
REASON = f"{DISTRIBUTION} is not installed"


def pytest_configure(config: pytest.Config) -> None:
    if PathFinder.find_spec(MODULE) is None:
        config.pluginmanager.register(MissingPackage(MODULE, DISTRIBUTION, REASON))


class MissingPackage:
    """Records the imports of a package that is not installed, and skips tests that need it."""

    def __init__(self, module: str, distribution: str, reason: str) -> None:
        self._module = module
        # As in the error of the embedded API server.
        self._message = f"{distribution}, which is not installed"
        self._reason = reason
        self._was_imported = False
        # Fixtures of a module or a session raise the same exception again in later tests.
        self._exceptions: list[BaseException] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called by Python for each module that is imported; finds none."""
        if name == self._module:
            self._was_imported = True
        return None

    @pytest.hookimpl
    def pytest_sessionstart(self) -> None:
        """Called before the first test."""
        sys.meta_path.insert(0, self)

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Called after the last test."""
        sys.meta_path.remove(self)

    @pytest.hookimpl
    def pytest_runtest_logstart(self) -> None:
        """Called before each test."""
        self._was_imported = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Called after each phase of a test."""
        report = yield
        if report.failed and call.excinfo is not None and self._is_cause(call.excinfo, report):
            self._exceptions.append(call.excinfo.value)
            path, line, _ = item.location
            report.outcome = "skipped"
            report.longrepr = (path, line or 0, f"Skipped: {self._reason}")
        return report

    def _is_cause(
        self, failure: pytest.ExceptionInfo[BaseException], report: pytest.TestReport
    ) -> bool:
        return (
            self._was_imported
            or any(failure.value is each for each in self._exceptions)
            or any(self._message in each for each in (report.longreprtext, *_output(report)))
        )


def _output(report: pytest.TestReport) -> tuple[str, str]:
    """The output of the test, and of processes that it has started."""
    return report.capstdout, report.capstderr
