"""Runs tests in a child process that imports a mutant instead of the module."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

import pytest

# Exit statuses of a child.
_PASSED, _FAILED = 0, 1
_SECONDS = 300


def is_killed(module: str, source: str, tests: Sequence[str]) -> bool:
    """Whether one of ``tests`` fails, or does not even import, with ``source`` as ``module``."""
    assert module not in sys.modules, f"{module} is already imported, so a mutant has no effect"
    pid = os.fork()
    if pid == 0:
        os._exit(_run(module, source, tests))
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) != _PASSED


def _run(module: str, source: str, tests: Sequence[str]) -> int:
    sys.meta_path.insert(0, _MutantFinder(module, source))
    output = io.StringIO()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main([*options, f"--timeout={_SECONDS}", *tests])
    return _PASSED if status == pytest.ExitCode.OK else _FAILED


class _MutantFinder(MetaPathFinder, Loader):
    """Gives a module the source of a mutant."""

    def __init__(self, module: str, source: str) -> None:
        self._module = module
        self._source = source

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        return spec_from_loader(fullname, self, origin="mutant")

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, "mutant", "exec"), module.__dict__)  # noqa: S102
