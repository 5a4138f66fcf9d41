"""A pytest plugin that runs mutants, each in a fork of the process that has collected the tests."""

import os
import resource
import select
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Final

import msgspec
import pytest

from tests.cpu_limits import used_seconds
from tests.mutation.runtime.patched_functions import FunctionIndex, Patch

# Of CPU time. Few tests need a tenth of it.
TEST_SECONDS: Final = 20.0
# A loop without an end often also fills a list.
_MEMORY_BYTES: Final = 6 * 2**30
# A process that uses less than _MIN_CPU_SECONDS of CPU time in this time hangs, and pytest's limit
# cannot end every hang.
HANG_SECONDS: Final = 60.0
_MIN_CPU_SECONDS: Final = 0.2


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """The code of a module and of a mutant, and the tests that cover what differs."""

    name: str
    module: CodeType
    mutant: CodeType
    tests: Sequence[str]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests do with a mutant; ``ran`` tests passed."""

    killed_by: str | None = None
    how: str = "survives"
    ran: int = 0


class MutantSession:
    """Runs mutants in place of the tests that pytest collects.

    A mutant survives after ``seconds`` of CPU time; some lines are covered by a thousand tests.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        *,
        number: int,
        workers: int,
        seconds: float,
        test_seconds: float = TEST_SECONDS,
        hang_seconds: float = HANG_SECONDS,
        report: Callable[[Candidate, Result], None],
    ) -> None:
        self._candidates = candidates
        self._number = number
        self._workers = workers
        self._seconds = seconds
        self._test_seconds = test_seconds
        self._hang_seconds = hang_seconds
        self._report = report
        self._items: dict[str, pytest.Item] = {}
        # Whether a test passes without a mutant.
        self._passes: dict[str, bool] = {}
        self._forking = Lock()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("a test module cannot be imported")
        self._items = {each.nodeid: each for each in session.items}
        applicable = islice(self._applicable(FunctionIndex()), self._number)
        with ThreadPoolExecutor(self._workers) as pool:
            for candidate, result in pool.map(self._run, applicable):
                self._report(candidate, result)
        return True

    def _applicable(self, functions: FunctionIndex) -> Iterator[tuple[Candidate, list[Patch]]]:
        for each in self._candidates:
            if patches := functions.patches(each.module, each.mutant):
                yield each, patches

    def _run(self, work: tuple[Candidate, list[Patch]]) -> tuple[Candidate, Result]:
        candidate, patches = work
        while True:
            tests = [
                each
                for each in candidate.tests
                if each in self._items and self._passes.get(each, True)
            ]
            result = self._in_fork(tests, patches)
            test = result.killed_by
            if test in self._items and test not in self._passes:
                self._passes[test] = self._in_fork([test], []).killed_by is None
            if test is None or self._passes.get(test, True):
                return candidate, result

    def _in_fork(self, tests: Sequence[str], patches: Sequence[Patch]) -> Result:
        with tempfile.TemporaryDirectory() as directory:
            output = Path(directory) / "result"
            # A thread in `os.fork` may hold the lock of Python's warnings, for which a child of
            # another thread would wait for ever.
            with self._forking:
                pid = os.fork()
            if pid == 0:
                try:
                    self._run_child(tests, patches, output)
                finally:
                    os._exit(0)
            process = os.pidfd_open(pid)
            used = 0.0
            while not select.select([process], [], [], self._hang_seconds)[0]:
                before, used = used, _cpu_seconds(pid)
                if used - before < _MIN_CPU_SECONDS:
                    os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            os.close(process)
            result = msgspec.json.decode(output.read_bytes(), type=Result)
        if (code := os.waitstatus_to_exitcode(status)) < 0:
            is_late = code in (-signal.SIGPROF, -signal.SIGKILL)
            return msgspec.structs.replace(result, how="timeout" if is_late else "crash")
        return result

    def _run_child(self, tests: Sequence[str], patches: Sequence[Patch], output: Path) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        # Directories of tests are inside, so that they do not remain.
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(output.parent)
        for function, code in patches:
            function.__code__ = code
        items = [self._items[each] for each in tests]
        failures = _Failures()
        output.write_bytes(msgspec.json.encode(Result()))
        for number, item in enumerate(items):
            # What remains if the process ends during the test.
            output.write_bytes(msgspec.json.encode(Result(killed_by=item.nodeid, how="crash")))
            if not number:
                item.config.pluginmanager.register(failures)
            following = items[number + 1] if number + 1 < len(items) else None
            # Ends the process. pytest's limit raises an error, which asyncio can catch in a loop.
            signal.setitimer(signal.ITIMER_PROF, self._test_seconds)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            output.write_bytes(msgspec.json.encode(failures.result or Result(ran=number + 1)))
            if failures.result or used_seconds() > self._seconds:
                break


def _cpu_seconds(pid: int) -> float:
    """The CPU time that a process has used."""
    _, _, fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class _Failures:
    """Remembers the first failure."""

    def __init__(self) -> None:
        self.result: Result | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.result is None:
            how = "timeout" if "Timeout (>" in report.longreprtext else "fails"
            self.result = Result(killed_by=report.nodeid, how=how)
