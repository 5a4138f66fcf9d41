"""A plugin of pytest that runs each mutant in a process with only the tests that reach it."""

import gc
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from tests.cpu_limits import used_seconds
from tests.mutation import switches

# Of CPU time; the tests that reach one mutant take less than half of it.
_SECONDS: Final = 60
# The exit statuses of a process; a signal ends one that takes too long.
_PASSED, _FAILED, _BROKEN = 0, 1, 2
# The packages whose caches may contain results of rules.
_CACHING: Final = (
    "steersman_cluster.apiserver.builtin",
    "steersman_cluster.apiserver.registry",
)


class Verdict(StrEnum):
    """What the tests do with a mutant."""

    KILLED = "killed"
    TOO_SLOW = "killed after too long"
    SURVIVES = "survives"
    UNREACHED = "survives unreached"

    @property
    def is_alive(self) -> bool:
        return self in (Verdict.SURVIVES, Verdict.UNREACHED)


@dataclass(slots=True)
class _Run:
    """The CPU time of a test or of the set-up of a fixture, and the mutants that it reaches."""

    seconds: float = 0.0
    reached: set[int] = field(default_factory=set)


class MutantRunner:
    """Runs the collected tests once, then each mutant of ``numbers``, and reports its verdict."""

    def __init__(
        self, numbers: Sequence[int], report: Callable[[int, Verdict], None], *, workers: int
    ) -> None:
        # Why no mutant could run.
        self.problem = ""
        self._numbers = numbers
        self._report = report
        self._workers = workers
        self._items: dict[str, pytest.Item] = {}
        self._runs: dict[pytest.Item, _Run] = {}
        self._fixtures: dict[object, _Run] = {}
        self._failures: list[str] = []
        self._clear_functions: list[Callable[[], None]] = []
        # Each process writes the test that failed to a file of its number.
        self._directory = Path()
        # The mutants whose processes have not ended.
        self._running: dict[int, int] = {}
        # Tests that pass alone, without a mutant. Others would kill any mutant.
        self._pass_alone: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if switches.reached:
            self.problem = f"an import already reaches {sorted(switches.reached)}"
        if session.testsfailed or self.problem:
            raise session.Interrupted(self.problem)
        self._items = {each.nodeid: each for each in session.items}
        self._clear_functions = [*_clear_functions()]
        for item, following in _with_next(session.items):
            self._run(item, following)
        if self._failures:
            self._stop(f"tests fail without a mutant: {', '.join(self._failures)}")
        gc.collect()
        gc.freeze()  # collections in the processes would copy memory that they share
        tests = self._tests_by_mutant()
        with tempfile.TemporaryDirectory() as directory:
            self._directory = Path(directory)
            for number in self._numbers:
                if number in tests:
                    self._start(number, tests[number])
                else:
                    self._report(number, Verdict.UNREACHED)
            while self._running:
                self._wait()
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        # One test sets it up, and others use it, too.
        outer, switches.reached, started = switches.reached, set(), used_seconds()
        result = yield
        self._fixtures[fixturedef] = _Run(used_seconds() - started, switches.reached)
        switches.reached = outer
        return result

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = report.longreprtext

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failures.append(report.nodeid)

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """Run a test, and note what it reaches."""
        for clear in self._clear_functions:
            clear()
        shared = len(self._fixtures)
        switches.reached, started = set(), used_seconds()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds = used_seconds() - started
        seconds -= sum(each.seconds for each in [*self._fixtures.values()][shared:])
        self._runs[item] = _Run(seconds, switches.reached)

    def _tests_by_mutant(self) -> dict[int, list[pytest.Item]]:
        """The tests that reach each mutant, from fast to slow."""
        found: dict[int, dict[pytest.Item, float]] = {}
        for item, run in self._runs.items():
            shared = [self._fixtures[each] for each in _fixtures(item) if each in self._fixtures]
            seconds = run.seconds + sum(each.seconds for each in shared)
            for number in run.reached.union(*(each.reached for each in shared)):
                found.setdefault(number, {})[item] = seconds
        return {number: _ordered(tests) for number, tests in found.items()}

    def _start(self, number: int, tests: Sequence[pytest.Item]) -> None:
        if len(self._running) == self._workers:
            self._wait()
        pid = os.fork()
        if pid == 0:
            os._exit(self._exit_status(number, tests))
        self._running[pid] = number

    def _exit_status(self, number: int, tests: Sequence[pytest.Item]) -> int:
        """Run the tests in this process, up to the first one that fails."""
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
            switches.active = number
            for clear in self._clear_functions:
                clear()
            for item, following in _with_next(tests):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failures:
                    self._failed_test(os.getpid()).write_text(item.nodeid)
                    return _FAILED
        except BaseException:  # noqa: BLE001 - else this process would continue as pytest
            traceback.print_exc()
            return _BROKEN
        return _PASSED

    def _wait(self) -> None:
        """Report the verdict of the process that ends next."""
        pid, status = os.wait()
        number, code = self._running.pop(pid), os.waitstatus_to_exitcode(status)
        if code == _BROKEN:
            self._stop(f"the process of mutant {number} ended with the error above")
        if code == _FAILED:
            self._run_alone(self._failed_test(pid).read_text())
        verdict = Verdict.SURVIVES if code == _PASSED else Verdict.KILLED
        self._report(number, Verdict.TOO_SLOW if code < 0 else verdict)

    def _failed_test(self, pid: int) -> Path:
        return self._directory / str(pid)

    def _run_alone(self, test: str) -> None:
        """Run a test without a mutant, unless it ran before; stop if it fails."""
        if test in self._pass_alone:
            return
        pid = os.fork()
        if pid == 0:
            os._exit(self._exit_status(switches.NO_MUTANT, [self._items[test]]))
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) != _PASSED:
            self._stop(f"{test} fails alone without a mutant")
        self._pass_alone.add(test)

    def _stop(self, problem: str) -> NoReturn:
        self.problem = problem
        raise pytest.Session.Interrupted(problem)


def _clear_functions() -> Iterator[Callable[[], None]]:
    """The functions that clear the caches with results of rules."""
    for name, module in sys.modules.items():
        if name.startswith(_CACHING):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    yield value.cache_clear


def _with_next(tests: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each test, and the next one, so that pytest keeps the fixtures that both use."""
    return zip(tests, [*tests[1:], None], strict=True)


def _fixtures(item: pytest.Item) -> Iterator[object]:
    """The fixtures of a test, those of other fixtures included."""
    if isinstance(item, pytest.Function):
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            yield from definitions


def _ordered(seconds: Mapping[pytest.Item, float]) -> list[pytest.Item]:
    """The tests of each module together; the module with the fastest test first."""
    fastest: dict[Path, float] = {}
    for item, each in seconds.items():
        fastest[item.path] = min(each, fastest.get(item.path, each))
    return sorted(seconds, key=lambda item: (fastest[item.path], item.path, seconds[item]))
