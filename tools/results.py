"""Test runs on several versions: from pytest, to a table, and to a record in ``docs/versions``."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from steersman.clock import SystemClock

ROOT = Path(__file__).parents[1]

# pytest's exit status if some tests failed. Any other status is not about single tests.
TESTS_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The tests of one run; ``skipped`` has a number for each reason.

    ``flaky`` has the names of the tests that failed first, and passed when they ran again, alone.
    """

    passed: int
    failed: int
    skipped: Mapping[str, int]
    flaky: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the tests on one version; ``counts`` is None unless all tests ran.

    ``facts`` has what the record also says about the version, by name.
    """

    version: str
    counts: Counts | None
    status: int
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def minor(self) -> str:
        """The minor version, such as 3.11."""
        return ".".join(self.version.split(".")[:2])


def run_pytest(
    *arguments: str,
    version: str,
    python: str,
    workers: int,
    environ: Mapping[str, str],
    facts: Mapping[str, str] | None = None,
) -> Run:
    """Run pytest with ``python`` and these arguments, in the root of the repository.

    Failed tests run a second time, alone, and those that pass then have passed.
    """
    clock = SystemClock()
    started, used = clock.monotonic(), _cpu_seconds()
    with tempfile.TemporaryDirectory(prefix="steersman-results-") as directory:

        def run(name: str, *options: str) -> tuple[int, str]:
            report = Path(directory) / name
            files = ("-o", f"cache_dir={directory}/cache", "--junit-xml", str(report))
            command = (python, "-m", "pytest", "-q", *options, *files, *arguments)
            status = run_command(*command, environ=environ)
            return status, report.read_text(encoding="utf-8") if report.exists() else ""

        status, report = run("report.xml", "-n", str(workers), "--dist", "loadfile")
        # An interrupted run has a report, too, of the tests until then.
        is_complete = report and status in (0, TESTS_FAILED)
        counts = counts_in(report) if is_complete else None
        if status == TESTS_FAILED and counts is not None and counts.failed:
            sys.stdout.write(f"\nRunning {counts.failed} failed tests once more, alone:\n")
            sys.stdout.flush()
            only = ("--last-failed", "--last-failed-no-failures", "none")
            status, report = run("repeated.xml", "-n", "0", *only)
            counts = repeated(counts, report) if report else counts
    return Run(
        version=version,
        counts=counts,
        status=status,
        cpu_seconds=_cpu_seconds() - used,
        seconds=clock.monotonic() - started,
        facts=facts or {},
    )


def run_command(*command: str, environ: Mapping[str, str] = os.environ) -> int:
    """Run a command in the root of the repository; returns its exit status."""
    # The packages under test are those in the virtual environment.
    variables = {name: value for name, value in environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


def _cpu_seconds() -> float:
    """The CPU time of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def counts_in(report: str) -> Counts:
    """Count the tests in a report in JUnit's format."""
    failed = 0
    skipped: Counter[str] = Counter()
    passed = _passed_in(report)
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (skip := case.find("skipped")) is not None:
            skipped[" ".join(skip.get("message", "").split())] += 1
    return Counts(passed=len(passed), failed=failed, skipped=dict(sorted(skipped.items())))


def repeated(first: Counts, report: str) -> Counts:
    """The counts of a run whose failed tests ran again, with this report."""
    again = counts_in(report)
    return replace(
        first,
        passed=first.passed + again.passed,
        failed=first.failed - again.passed,
        flaky=_passed_in(report),
    )


def _passed_in(report: str) -> list[str]:
    """The names of the tests that passed."""
    cases = ET.fromstring(report).iter("testcase")  # noqa: S314 - pytest wrote it
    return sorted(
        f"{each.get('classname')}.{each.get('name')}"
        for each in cases
        if all(each.find(tag) is None for tag in ("failure", "error", "skipped"))
    )


def table(title: str, runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    """One line for each version, and the reasons of skipped tests and missing versions."""
    head = (title, "passed", "failed", "skipped", "CPU seconds", "seconds")
    rows = [head, *(_row(run) for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    for run in runs:
        if run.counts is None:
            lines.append(f"{run.version}: not all tests ran; see the output above")
            continue
        for reason, number in run.counts.skipped.items():
            lines.append(f"{run.version}: skipped {number}: {reason}")
        lines += [f"{run.version}: flaky: {name}" for name in run.counts.flaky]
    lines += [f"{minor}: missing: {reason}" for minor, reason in missing.items()]
    return "".join(f"{line}\n" for line in lines)


def _row(run: Run) -> tuple[str, ...]:
    times = (f"{run.cpu_seconds:.0f}", f"{run.seconds:.0f}")
    if run.counts is None:
        return run.version, "-", "-", "-", *times
    skipped = sum(run.counts.skipped.values())
    numbers = (run.counts.passed, run.counts.failed, skipped)
    return run.version, *map(str, numbers), *times


def updated(recorded: str, runs: Iterable[Run], *, committed: str) -> str:
    """The record of the last run on each version, with these runs in place of older ones.

    ``committed`` is the date of the tested commit. The record contains no times of a clock, so two
    runs of the same commit give the same text.
    """
    entries: dict[str, Any] = json.loads(recorded) if recorded else {}
    for run in runs:
        if run.counts is not None:
            entries[run.minor] = {
                "version": run.version,
                **run.facts,
                "committed": committed,
                "passed": run.counts.passed,
                "failed": run.counts.failed,
                "skipped": dict(run.counts.skipped),
            }
            if run.counts.flaky:
                entries[run.minor]["flaky"] = list(run.counts.flaky)
    ordered = dict(sorted(entries.items(), key=lambda each: int(each[0].partition(".")[2])))
    return json.dumps(ordered, indent=2) + "\n"


def write_record(record: Path, runs: Iterable[Run]) -> None:
    """Write the results of these runs to a file of the repository."""
    dated = ("git", "log", "-1", "--format=%cs")
    finished = subprocess.run(dated, cwd=ROOT, check=True, capture_output=True, text=True)
    recorded = record.read_text(encoding="utf-8") if record.exists() else ""
    record.parent.mkdir(parents=True, exist_ok=True)
    text = updated(recorded, runs, committed=finished.stdout.strip())
    record.write_text(text, encoding="utf-8")
